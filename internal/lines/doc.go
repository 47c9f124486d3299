// Package lines reads a stream line by line, each line bounded.
//
// [Reader.Next] returns one line. A line that is longer than the limit is skipped
// without being kept, and the error for it, a [TooLongError], is not the end of the
// stream: the next call returns the line after it. bufio.Scanner stops there, and
// bufio.Reader has no limit. [Reader.Release] gives the memory of a stream that has ended to
// the next one.
package lines
