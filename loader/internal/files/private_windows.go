package files

// CheckPrivate relies on the access list that the user's profile hands down.
func CheckPrivate(string, Info) error { return nil }
