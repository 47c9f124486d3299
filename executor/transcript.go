package executor

import (
	"bytes"
	"context"
)

type transcriptKey struct{}

// WithTranscript returns a context under which a hook that is a program hands
// over what it was given on stdin and what it wrote on stdout, as bytes, when it
// has answered. It is for showing a hook's author what passed.
func WithTranscript(ctx context.Context, take func(stdin, stdout []byte)) context.Context {
	return context.WithValue(ctx, transcriptKey{}, take)
}

func transcribe(ctx context.Context, stdin [][]byte, stdout []byte) {
	if take, asked := ctx.Value(transcriptKey{}).(func(stdin, stdout []byte)); asked {
		take(bytes.Join(stdin, nil), stdout)
	}
}
