// Package shellhook is what a hook written in a shell cannot do safely by itself:
// take values out of an event, and write a reply from any text.
package shellhook
