// Package answer puts the streamed answer of a model together.
//
// Each stretch of text and of reasoning is a block: the loop is told of its beginning, its
// pieces and its end, as a [Listener]. An answer has bounds, so that a server that never
// ends its answer does not fill the memory.
package answer
