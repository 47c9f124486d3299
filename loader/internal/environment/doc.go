// Package environment says with what the programs of one load start: variables, search
// path and working directory, and who vouches for what they are made of.
//
// An [Environment] (environment.go) is made once per load. workdir.go chooses the
// working directory: the project's root for what a project brings along, an empty
// folder for programs of the user, the root folder for those of the machine, so that
// no project can put a module or script in their way. checkouts.go recognizes folders
// of the caller's PATH that lie in some project. builders.go makes the builder of
// bundles for each scope, with its checks of ownership. unwatched.go reports code of
// the project that runs and is not part of what was allowed, and variables that are
// not passed on.
package environment
