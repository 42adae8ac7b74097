package syntax

// Table is a table with what its block declares.
type Table struct {
	At
	Trivia
	Family, Name Word
	HasBlock     bool
	Dense        bool // listed without blank lines between items, as `list chains` is
	// Items holds in written order: *TableFlags, *CommentProperty, *Chain,
	// *Set, *StatefulObj, *Flowtable, *Define, *Undefine, *Include, *Empty.
	Items []Item
}

// TableFlags is `flags dormant, owner, persist;`.
type TableFlags struct {
	At
	Trivia
	Flags []Word
}

// CommentProperty is `comment "TEXT"` as a property of a table, chain, set or
// object.
type CommentProperty struct {
	At
	Trivia
	Text Word
}

// Chain is a chain with what its block declares.
type Chain struct {
	At
	Trivia
	Name     Word
	HasBlock bool
	// Items holds in written order: *Hook, *Policy, *ChainFlags,
	// *CommentProperty, *DevicesProperty, *Rule, *Define, *Undefine, *Include,
	// *Empty.
	Items []Item
}

// Hook is `type T hook H [device D | devices = { … }] priority P;`.
type Hook struct {
	At
	Trivia
	Type     Word
	Hook     Word
	Devices  Expr // nil, *Literal, *Variable, *SetLiteral, *List
	Many     bool // written as `devices =`
	Priority *Priority
}

// Priority is a number, a name, a name with an offset, or a variable.
type Priority struct {
	At
	Base   Expr // *Literal (word, quoted or number) or *Variable
	Offset int  // written behind + or -, 0 if none
}

// Policy is `policy accept;`. The value is a word or a variable.
type Policy struct {
	At
	Trivia
	Value Expr
}

// ChainFlags is `flags offload;`.
type ChainFlags struct {
	At
	Trivia
	Flags []Word
}

// DevicesProperty is `devices = { … };` standing alone, in chains and
// flowtables.
type DevicesProperty struct {
	At
	Trivia
	Devices Expr
}

// Rule is a rule's statements; in command form with its placement.
type Rule struct {
	At
	Trivia
	Statements []Statement
	Comment    Word
	// At most one of these is set, in command form.
	Handle, Position, Index *Number
}

// Set is a set or map with its properties.
type Set struct {
	At
	Trivia
	Name     Word
	IsMap    bool
	HasBlock bool
	// Items holds in written order: *KeyType, *SetFlags, *Timeout,
	// *GCInterval, *Size, *SetPolicy, *AutoMerge, *ElementStatement,
	// *Elements, *CommentProperty, *Define, *Undefine, *Include, *Empty.
	Items []Item
}

// KeyType is `type K [: D]` or `typeof E [: E]`.
type KeyType struct {
	At
	Trivia
	Typeof bool
	// Key and Data are for type: *Literal or *Concat of them (names of data
	// types); for typeof: selector expressions. Data is nil for sets.
	Key, Data Expr
	// Interval says that the data was written `: interval D`.
	Interval bool
	// Object is the object kind of an object map (`: counter`), with Data nil.
	Object Object
}

// SetFlags is `flags constant, interval, timeout, dynamic;`.
type SetFlags struct {
	At
	Trivia
	Flags []Word
}

// Timeout is `timeout T;` of a set.
type Timeout struct {
	At
	Trivia
	Value *Duration
}

// GCInterval is `gc-interval T;` of a set.
type GCInterval struct {
	At
	Trivia
	Value *Duration
}

// Duration is a time as written, such as 1d2h or 300s.
type Duration struct {
	At
	Milliseconds uint64
	Variable     *Variable // the value came as $name; Milliseconds is 0 then
	Seconds      bool      // print it as whole seconds
}

// Size is `size N;`.
type Size struct {
	At
	Trivia
	Value Expr // *Literal number or *Variable
}

// SetPolicy is `policy memory;` of a set.
type SetPolicy struct {
	At
	Trivia
	Value Word
}

// AutoMerge is `auto-merge;`.
type AutoMerge struct {
	At
	Trivia
}

// ElementStatement is a stateful statement that every element of the set
// carries, such as `counter;`.
type ElementStatement struct {
	At
	Trivia
	Statement Statement
}

// Elements is `elements = { … };`.
type Elements struct {
	At
	Trivia
	Value Expr // *SetLiteral or *Variable
}

// StatefulObj is a named counter, quota, limit, ct helper, ct timeout, ct
// expectation, synproxy, secmark or tunnel.
type StatefulObj struct {
	At
	Trivia
	Kind     Object
	Name     Word
	HasBlock bool
	Comment  Word
	Comments []Comment // # comments inside the block
	// Exactly the one that belongs to Kind is set where a body was given.
	Counter     *Counter
	Quota       *Quota
	Limit       *Limit
	Synproxy    *Synproxy
	Secmark     Word
	Helper      *HelperSpec
	TimeoutSpec *TimeoutSpec
	Expectation *ExpectationSpec
	Tunnel      *TunnelSpec
}

// HelperSpec is the body of a ct helper.
type HelperSpec struct {
	At
	Type, Protocol, L3Proto Word
}

// TimeoutSpec is the body of a ct timeout.
type TimeoutSpec struct {
	At
	Protocol, L3Proto Word
	Policy            []TimeoutState
}

// TimeoutState is one `established : 2m` of a ct timeout policy.
type TimeoutState struct {
	State Word
	Value *Duration
}

// ExpectationSpec is the body of a ct expectation.
type ExpectationSpec struct {
	At
	Protocol, L3Proto Word
	Dport             Expr
	Timeout           *Duration
	Size              *Number
}

// TunnelSpec is the body of a tunnel object.
type TunnelSpec struct {
	At
	ID, Sport, Dport, TTL, TOS Expr
	SrcIP, DstIP               Expr
	IPv6                       bool
	// Kind is vxlan, erspan or geneve, or empty.
	Kind               Word
	VXLANGBP           Expr
	ERSPANVersion      Expr
	ERSPANIndex        Expr
	ERSPANDirection    Word
	ERSPANHardwareID   Expr
	Geneve             []GeneveOption
	SrcPlace, DstPlace At
}

// GeneveOption is one option of a geneve tunnel object.
type GeneveOption struct {
	At
	Class, Type, Data Expr
}

// Flowtable is a flowtable with its properties.
type Flowtable struct {
	At
	Trivia
	Name     Word
	HasBlock bool
	Hook     Word
	Priority *Priority
	Devices  Expr
	Flags    []Word
	Counter  bool
	Comments []Comment
}

func (*Table) item()            {}
func (*TableFlags) item()       {}
func (*CommentProperty) item()  {}
func (*Chain) item()            {}
func (*Hook) item()             {}
func (*Policy) item()           {}
func (*ChainFlags) item()       {}
func (*DevicesProperty) item()  {}
func (*Rule) item()             {}
func (*Set) item()              {}
func (*KeyType) item()          {}
func (*SetFlags) item()         {}
func (*Timeout) item()          {}
func (*GCInterval) item()       {}
func (*Size) item()             {}
func (*SetPolicy) item()        {}
func (*AutoMerge) item()        {}
func (*ElementStatement) item() {}
func (*Elements) item()         {}
func (*StatefulObj) item()      {}
func (*Flowtable) item()        {}
