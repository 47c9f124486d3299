package executor

// matcher is a compiled schema.Match.
type matcher struct{}
