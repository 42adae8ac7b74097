// Package store keeps a ruleset in a file, for commands that change it call by
// call as nft changes the kernel's.
//
// # The file
//
// A state file is the line "verdict state 1" and records. Each record has a
// header of 16 bytes (kind, length, and a CRC-32C over both and the content;
// little endian) and its content:
//
//	identity  a random number that tells the file from others of its name
//	schema    the types and fields that the other records use, by name
//	snapshot  a whole ruleset: definitions, bytecode, handles, elements
//	batch     the changes of one transaction
//	handles   counters that a refused transaction moved on
//
// The first three come once, at the head; the rest is a journal. Values are
// written field by field with the schema's numbers, zero fields left out, so
// that a program whose types have gained fields reads older files, and one
// that lacks a field says which.
//
// # Promises
//
// A batch is appended in one write and synced before Update returns; a journal
// that grew large is folded into a new file, which replaces the old one by a
// rename. A process that dies at any moment leaves the old state or the new
// one: a record at the end of the file whose content is cut off was never
// confirmed and does not count. Any other record that does not match its
// checksum makes the file unreadable; the error names the offset and the file
// stays as it is.
//
// Callers exclude each other by a lock on a file beside it.
package store
