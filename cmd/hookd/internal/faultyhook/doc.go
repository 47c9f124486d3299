// Package faultyhook is the programs of hookd try --fault. Each misbehaves as a hook can,
// so that a person sees what the settings of a project make of it.
//
// hookd starts itself as one of them, with [Role] as its first argument: no shell and no
// file is needed. [Run] must therefore be the first thing that main does. A fault is a row
// of [Faults]; package eventcmd puts it in the place of a hook's own program.
package faultyhook
