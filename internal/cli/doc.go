// Package cli is the command line: one file per verb, and what they share.
// Everything of the outside world (files, terminal, clock) enters here.
package cli
