// Package cassette keeps a model's traffic in a file, and plays it again without the model:
// to test hooks against a real run, to show one, to look into one.
//
// A cassette is a file of lines of JSON (format.go): a head, then one line for each call
// with the request, its hash, and the chunks of the answer with their times, or the error.
// [Record] writes it (record.go). A line is written when its call has ended, so a crash
// loses that call only. [Replay] plays it (replay.go); a request that differs from the
// recorded one is an error that shows the first difference (difference.go).
//
// No key and no header is in a cassette, since neither ever reaches a [model.Model].
package cassette
