// Package bundle makes the bundle of a hook or server: everything that decides what it
// does. The hash of the bundle is what a person allows (protocol, section 7).
//
// A [Bundle] (bundle.go) holds the description as an [Entry] (entry.go) and the name,
// mode and hash of each file. A [Builder] makes bundles for one scope: it opens a
// [Draft] (draft.go), into which [Code] (code.go) puts the hook's own file, what its
// command line names of the project (words.go) and the helpers that its files name.
// Code also remembers which words mean a file of the bundle, so that a command line
// can be rewritten to the private copy. unwatched.go notes code of the project that
// runs and that no bundle covers; the person sees it before deciding.
//
// Hashes must stay the same in every version: bundle_test.go holds some of earlier
// versions. Bundles that nobody allowed are hashed within a
// budget ([UnallowedHashLimit]), so that large files do not delay an event.
package bundle
