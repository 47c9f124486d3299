package settings

// openNonblock is nothing here: opening never waits for another program.
const openNonblock = 0
