// Package jsonspan works on the bytes of JSON: it finds, compares and replaces
// parts of a document, and all other bytes stay as they were. Decoding into Go
// values and encoding again would lose the digits of numbers, the spelling of
// strings, the order of members and blanks; hookd promises that what no hook
// changed passes byte for byte.
//
// There is one mechanism for each task:
//
//   - scan.go checks strictly: [Valid], [ScanObject]. It accepts exactly what the
//     jsontext package accepts, in one pass.
//   - walk.go finds parts of valid JSON: [Members], [Elements], [Get], [Find]. The
//     parts it returns share the bytes of the whole.
//   - value.go reads and writes single values: [Kind], [Text], [Quote].
//   - lenient.go reads JSON that other programs' encoders got wrong.
//   - equal.go compares: [Equal] and [Canonical] keep the digits of numbers, [SameValue]
//     does not mind zeros at their ends.
//   - memberlist.go changes members one by one: [MemberList].
//   - merge.go and patch.go apply a JSON Merge Patch and a JSON Patch; edit.go
//     turns one document into another by its smallest edit, and lists the places.
//   - plain.go writes strings without needless escapes.
//
// The functions that walk, compare or change expect valid JSON. On other bytes
// they find nonsense, but they end and stay within bounds. What takes apart a
// document on behalf of a hook takes a [Budget], so that a small patch cannot ask
// for hours of work; a nil Budget counts nothing.
package jsonspan
