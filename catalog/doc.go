// Package catalog is the one place for facts about what can be filtered on:
// families, hooks, priorities, data types with their symbols, protocol
// headers with their fields, and the keys of meta, ct, rt and the others.
// The parser, the compiler, the printer, completion and the documentation all
// read these tables; adding a field or key means adding a row here.
//
// Everything is immutable data, safe for concurrent use.
package catalog
