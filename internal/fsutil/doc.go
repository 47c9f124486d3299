// Package fsutil replaces files in one step. [ReplaceFile] is for files that hookd writes
// for itself as a whole. [ReplaceSame] is for files of others: the new file keeps owner,
// mode and attributes of the old one ([KeepOwner], [KeepAttributes]). [RemoveLeft] removes
// what one that was killed has left.
package fsutil
