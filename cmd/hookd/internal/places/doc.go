// Package places says where things are: the project of a command, and the folders where
// hookd keeps what has to last.
//
// [Project] (places.go) is what --project says, or what is found from the working
// directory upwards. [StateDir] is the folder of records, sessions and conversations.
// write.go makes new files, and says whether a project that was written to is in force.
// complete.go offers names of hooks and events to the shell. All errors are faults with a
// remedy (package cli).
package places
