// Package anthropic is a model that is served over the Messages interface of Anthropic,
// through its official SDK.
//
// [New] returns a model (anthropic.go); the SDK's client is made on the first call, of the
// one service that is needed. request.go converts a request, and refuses what the server
// would; cache.go marks the places in it that the server is to keep, so that the next call
// reads them at a tenth of the price. response.go reads the stream of events itself, since
// the SDK passes over events without a name and over what is missing: a damaged answer is
// an error that is worth another try, never a short answer.
//
// Reasoning with its signature is kept as an opaque part and sent back whole.
package anthropic
