// Package hashed writes the record of package program: [Write] for `hookd install`, [Renew]
// for a hookd that was replaced. It is apart because hashing costs the start of a program,
// and the messenger only reads the record.
package hashed
