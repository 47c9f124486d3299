// Package settings reads the settings files of the three layers and merges them.
//
// One file at a time: [Read] finds acai.json, acai.yaml or acai.toml in a layer's
// folder and returns a [File] with what it says, with the findings about single
// values, and with the reason why nothing in it counts, if there is one. The
// caller says with a [Look] whose files count and which paths it wants to watch.
// [Decode] does the same with a text, [Canonical] writes down what a person
// allows of it.
//
// [Merge] makes one [schema.Settings] of the layers. The managed layer binds the
// user, and the user binds the project: a lower layer can only tighten what a
// higher one set. Who may set a key, and which way is tighter, is a row of
// [schema.Keys]. Rules about a single key are the exception, and stand in lists.go and
// origins.go: a project chooses no model that is a file, and hands out no key of one.
// The values are kept, laid over each other and decoded by [schema.Layered].
//
// [LastGood] keeps the last text of each layer that could be read, for the moment
// in which a file is half-written.
//
// Trust is not decided here: whether a project's settings count is the loader's
// decision, which it makes between Read and Merge.
//
//	read.go      the file of a layer, bounded, and its text as settings
//	merge.go     three layers, one result
//	lists.go     lists of several layers
//	origins.go   where the model and its keys come from
//	lastgood.go  the last text that could be read
package settings
