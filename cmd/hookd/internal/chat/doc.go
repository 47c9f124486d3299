// Package chat is hookd run without a prompt: a conversation with a person.
//
// There is one model of it, the dialog (dialog.go): whether a turn runs, what waits for
// its end, what an interrupt and a line such as /model mean. It does nothing itself. It
// takes what happens and returns effects, and the driver (driver.go) carries them out: it
// starts turns and aborts them, and it answers commands (commands.go, trust.go).
//
// Two front ends show the dialog. The full screen (fullscreen.go) is for terminals that can
// be drawn on: what is said scrolls away above, and below stands what goes on (view.go)
// and the line that the person writes (screen.go, keys.go), with what was used so far
// (usage.go), and at the start what is spoken with and what was said before (header.go).
// history.go keeps what was sent. Line by line (linebyline.go) is for all others. Both print a turn with package runview.
//
// A question of a hook, or of hookd itself, is shown in the full screen by asking.go, and
// else by package question, which also says what a question holds. Rules of both: all that
// will run is shown, nothing that was typed before the question answers it, and a yes
// counts only after the end of it was on the screen.
package chat
