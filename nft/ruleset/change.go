package ruleset

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
)

// Op is what a change does.
type Op uint8

// The operations. Add makes an object unless it exists, Create fails then;
// Delete fails where Destroy is silent.
const (
	OpAdd Op = iota
	OpCreate
	OpInsert // rules: before the position, or at the head
	OpReplace
	OpDelete
	OpDestroy
	OpFlush
	OpRename
	OpReset // counters, quotas, elements' state
)

// Kind is what a change is about.
type Kind uint8

// The kinds. KindRuleset belongs to OpFlush.
const (
	KindRuleset Kind = iota
	KindTable
	KindChain
	KindRule
	KindSet
	KindElements
	KindObject
	KindFlowtable
)

// Change is one message of a batch.
type Change struct {
	Op     Op
	Kind   Kind
	Family catalog.Family
	Table  string
	// Name is the chain of a rule, the set of elements, or the object itself.
	// An anonymous set is declared as __set%d or __map%d, and its elements and
	// rules find it by SetID. An anonymous chain (ChainDef.Binding) is declared
	// under a placeholder that is unique in the batch and begins with
	// __chain%d; its rules and the jump to it use the placeholder. Apply puts
	// the names it chose into the rules.
	Name   string
	Handle uint64 // delete/rename/replace by handle, 0 if by name

	TableDef  *TableDef
	ChainDef  *ChainDef
	RuleDef   *RuleDef
	SetDef    *SetDef
	SetID     uint32 // number of a new set within the batch, for lookups by id
	Elements  []Element
	ObjectDef *Object
	ObjType   expr.ObjectType // delete/reset of an object
	Flowtable *Flowtable
	NewName   string // rename

	// Places for messages: the whole command, the word that names the table,
	// the one that names the object and the number that is its handle.
	Place, TablePlace, NamePlace, HandlePlace diag.Span
}

// TableDef is a table as declared.
type TableDef struct {
	Flags   uint32
	Comment string
	Owner   string
}

// ChainDef is a chain as declared. For an update of an existing base chain
// only what HasPolicy and Base say is changed.
type ChainDef struct {
	Comment   string
	Base      *BaseChain
	HasPolicy bool
	Binding   bool // anonymous chain, bound to a rule of the same batch

	TypePlace, PolicyPlace diag.Span
}

// RuleDef is a rule as declared, with its placement. At most one of Position
// and Index is used; Index counts from 0.
type RuleDef struct {
	Exprs    []expr.Expr
	Comment  string
	Position uint64
	HasIndex bool
	Index    uint64
	// Places are the words that errors of the expressions mark, in the order
	// of Exprs; it may be shorter. Without one the whole rule is marked.
	Places        []diag.Span
	PositionPlace diag.Span
}
