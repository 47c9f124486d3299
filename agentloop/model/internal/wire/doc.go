// Package wire is what the models that are served over HTTP share.
//
// [Client] bounds every answer in size and in silence, and keeps keys with the host they
// are meant for (client.go, address.go). [Events] reads server-sent events (events.go).
// refusal.go makes an error of an answer that is none: it tells failures apart by whether
// another try makes sense, and takes keys out of its text. [Object] is a JSON object that
// grows by pieces and keeps the bytes of each (object.go).
package wire
