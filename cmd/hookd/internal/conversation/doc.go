// Package conversation opens a session with an agent in it: the hooks of its project, the
// loop, and the file that keeps it.
//
// [Open] (conversation.go) finds the session to go on with (resume.go), asks about what of the
// project waits to be allowed (review.go), opens the hooks and the model, and makes the loop with the
// options that the settings say (loopoptions.go). These come from: features.go, the table
// of the loop's built-ins; consent.go, which calls need a yes although no hook asks;
// filetools.go, what the file tools may touch; contained.go, how commands and servers run contained;
// mcpservers.go; host.go, what an editor brings along; recipes.go and resources.go, the
// recipes and skills that count.
//
// A [Conversation] begins turns, hands what they show to a [Printer], and ends with the
// reason of session-end. Who asks the person is for the caller to say (an approver).
package conversation
