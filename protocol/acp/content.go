package acp

// BlockType says which members of a [ContentBlock] are set.
type BlockType string

const (
	BlockText         BlockType = "text"          // Text
	BlockImage        BlockType = "image"         // Data (base64), MimeType, URI
	BlockAudio        BlockType = "audio"         // Data (base64), MimeType
	BlockResourceLink BlockType = "resource_link" // Name, URI, MimeType
	BlockResource     BlockType = "resource"      // Resource
)

// ContentBlock is one piece of a prompt or a message.
type ContentBlock struct {
	Type     BlockType `json:"type"`
	Text     *string   `json:"text,omitzero"`
	Data     string    `json:"data,omitzero"`
	MimeType string    `json:"mimeType,omitzero"`
	URI      string    `json:"uri,omitzero"`
	Name     string    `json:"name,omitzero"`
	Resource *Resource `json:"resource,omitzero"`
}

// Resource is what a client embeds in a prompt, so that nobody has to read it: Text or Blob.
type Resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitzero"`
	Text     *string `json:"text,omitzero"`
	Blob     *string `json:"blob,omitzero"` // base64
}

// Text returns a block of text.
func Text(text string) ContentBlock { return ContentBlock{Type: BlockText, Text: &text} }
