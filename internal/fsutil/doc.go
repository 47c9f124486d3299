// Package fsutil reads and replaces whole files. [ReadRegular] never waits and is bounded.
// Files are replaced in one step: [ReplaceFile] is for files that hookd writes
// for itself as a whole. [ReplaceSame] is for files of others: the new file keeps owner,
// mode and attributes of the old one ([KeepOwner], [KeepAttributes]). [RemoveLeft] removes
// what one that was killed has left. [Folder] reads the path of a folder in one way, and
// [Followed] as the system does.
package fsutil
