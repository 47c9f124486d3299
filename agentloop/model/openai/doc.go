// Package openai is a model that is served in the way of OpenAI's chat completions: by
// OpenAI itself, or by Ollama, llama.cpp, vLLM and other servers at a base URL of their
// own.
//
// [New] returns a model (openai.go). request.go converts a request, response.go puts the
// chunks of an answer together. The client is ours: what differs between those servers is
// what a client made for one of them hides, such as the headers of an error (retry-after),
// members it does not know, errors inside a stream that is otherwise fine, calls without
// an index, a stream that ends without [DONE], and a line without an end.
package openai
