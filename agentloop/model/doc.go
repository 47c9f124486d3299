// Package model is what the agent loop knows of a language model: a [Request] goes in, a
// stream of [Chunk]s comes out (model.go).
//
// A model that fails returns an [Error], which tells the loop whether another try makes
// sense (failure.go). [Priced] adds the cost of each call (prices.go), [ContextMax] knows
// the size of a context window (window.go).
//
// [Scripted] is a model that plays a file of turns, for demonstrations, stories and tests:
// script.go reads the file, scripted.go plays it, expect.go checks what the model was sent,
// rawjson.go keeps the digits of numbers in it.
//
// The real models are packages below this one: anthropic and openai, each a request that is
// converted (request.go) and an answer that is put together (response.go), over the HTTP
// client of internal/wire. cassette records what a model said and plays it again.
//
// Rules: a model never tries again by itself, since hooks are asked for each try; what the
// model is not told, such as a cost, stays unknown and is never taken for nothing; a key is
// sent to its own server only.
package model
