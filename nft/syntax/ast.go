package syntax

import "verdict/diag"

// Node is any part of the tree.
type Node interface {
	Place() diag.Span
}

// At gives a node its place. Nodes made without a source have the zero Span.
type At struct{ Span diag.Span }

// Place returns where the node was written.
func (a At) Place() diag.Span { return a.Span }

// Comment is a # comment of the source, without the sign and without the
// blanks around it.
type Comment struct {
	At
	Text  string
	Blank bool // a blank line stood before it
}

// Trivia is what the formatter keeps around an item of a file or block.
type Trivia struct {
	Blank    bool      // a blank line stood before it (and its comments)
	Detached bool      // a blank line stood between its comments and it
	Before   []Comment // comments on lines of their own before it
	// Trailing is the comment behind it on its line, "" if none; of items with
	// a block the comment behind the opening brace.
	Trailing string
	Closing  string // the comment behind the closing brace of its block
}

// Around returns the item's trivia for reading and writing.
func (t *Trivia) Around() *Trivia { return t }

// File is one source text, parsed.
type File struct {
	Source *diag.Source
	Items  []Item
	End    []Comment // comments after the last item
}

// Item is an entry of a file or block: *Command, *Define, *Undefine,
// *Include, and inside blocks the declarations and properties.
type Item interface {
	Node
	Around() *Trivia
	item()
}

// Word is a name as written, with its place. An empty Text means that it was
// not given.
type Word struct {
	At
	Text string
}

// Given reports whether the word was written.
func (w Word) Given() bool { return w.Text != "" }

// Define is `define NAME = VALUE` or `redefine NAME = VALUE`.
type Define struct {
	At
	Trivia
	Name     Word
	Value    Expr // any expression, List, *SetLiteral (also empty)
	Redefine bool
}

// Undefine is `undefine NAME`.
type Undefine struct {
	At
	Trivia
	Name Word
}

// Include is `include "PATTERN"`. The items of the files it names are parsed
// in the context in which the statement stands.
type Include struct {
	At
	Trivia
	Pattern Word
	Files   []IncludedFile // in order; empty when a pattern matches nothing
}

// IncludedFile is one file that an include statement brought in.
type IncludedFile struct {
	Source *diag.Source
	Items  []Item
	End    []Comment
}

func (*Define) item()   {}
func (*Undefine) item() {}
func (*Include) item()  {}

// Empty is a place-holder item that keeps comments at the end of a block.
type Empty struct {
	At
	Trivia
}

func (*Empty) item() {}
