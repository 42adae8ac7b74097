package ruleset

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
)

// Ruleset is a snapshot of all tables, in order of creation.
type Ruleset struct {
	Tables     []*Table
	Generation uint32 // counts commits that changed something
	// NextTableHandle is the handle the next table gets.
	NextTableHandle uint64
}

// Table flags. Ref: include/uapi/linux/netfilter/nf_tables.h.
const (
	TableDormant uint32 = 1
	TableOwner   uint32 = 2
	TablePersist uint32 = 4
)

// Table is one table. Objects inside keep their order of creation; handles
// count through all of them.
type Table struct {
	Family     catalog.Family
	Name       string
	Handle     uint64
	Flags      uint32
	Comment    string
	Chains     []*Chain
	Sets       []*Set
	Objects    []*Object
	Flowtables []*Flowtable
	// NextHandle is the handle that the next chain, rule, set, object or
	// flowtable of the table gets. Handles are never given twice, not even
	// those that a failed batch drew.
	NextHandle uint64
	// Owner names the program that owns the table, for the owner flag.
	Owner string

	find *tableIndex // nil where the table was not made by Apply
	edit *tableEdit  // only within Apply
}

// Chain is a chain; Base is nil for regular chains.
type Chain struct {
	Name    string
	Handle  uint64
	Comment string
	Base    *BaseChain
	// Binding marks an anonymous chain, which belongs to one rule.
	Binding bool
	Rules   []*Rule

	use   int32 // jumps and map elements that lead here
	bound bool  // Binding: its rule exists
	edit  *ruleEdit
}

// Use counts what refers to the chain: jumps of rules and elements of verdict
// maps. A chain in use cannot be deleted.
func (c *Chain) Use() int { return int(c.use) }

// BaseChain is what ties a chain to a hook.
type BaseChain struct {
	Type     string // filter, nat, route
	Hook     catalog.HookNum
	Priority int32
	Policy   catalog.VerdictKind // VerdictAccept or VerdictDrop
	Devices  []string            // netdev and inet ingress
	Offload  bool
}

// Rule is a rule's bytecode. Handle of the table, handle of the rule and
// Revision identify the state of its expressions (counters, limits, ...)
// across snapshots.
type Rule struct {
	Handle   uint64
	Revision uint32 // how often the rule was replaced under its handle
	Exprs    []expr.Expr
	Comment  string
	// Place is where the rule was written, for reports; listings do not use it.
	Place diag.Span
}

// Set flags. Ref: include/uapi/linux/netfilter/nf_tables.h.
const (
	SetAnonymous uint32 = 0x1
	SetConstant  uint32 = 0x2
	SetInterval  uint32 = 0x4
	SetMap       uint32 = 0x8
	SetTimeout   uint32 = 0x10
	SetEval      uint32 = 0x20
	SetObject    uint32 = 0x40
	SetConcat    uint32 = 0x80
	SetExpr      uint32 = 0x100
)

// TypeVerdict is the data type number of verdict maps.
// Ref: include/uapi/linux/netfilter/nf_tables.h, NFT_DATA_VERDICT.
const TypeVerdict uint32 = 0xffffff00

// SetDef is the definition of a set: what a change declares and what stays
// with the set.
type SetDef struct {
	Name     string // may hold %d in a change, for anonymous sets
	Flags    uint32
	KeyType  uint32 // type number: catalog.Type.ID, 6 bits each for concatenations
	KeyLen   uint32 // bytes, concatenations padded
	DataType uint32
	DataLen  uint32
	ObjType  expr.ObjectType
	Fields   []uint8 // byte lengths of a concatenation's fields; the kernel is told of them with SetConcat
	Timeout  uint64  // milliseconds
	GC       uint32  // milliseconds
	Size     uint32
	Memory   bool        // policy memory
	Exprs    []expr.Expr // stateful expressions of every element

	UserData SetUserData
}

// SetUserData is what nft stores with a set for its own listings; the kernel
// only keeps it.
type SetUserData struct {
	KeyTypeof  string // canonical text of the typeof expression, "" for type
	DataTypeof string
	KeyHost    bool // single field in host byte order
	DataHost   bool
	// FieldHost and DataFieldHost say the same for each field of a
	// concatenation.
	FieldHost     []bool
	DataFieldHost []bool
	// DataFields are the byte lengths of concatenated data, as SetDef.Fields
	// are for the key. Without it the lengths of the data types count.
	DataFields   []uint8
	AutoMerge    bool
	DataInterval bool
	Comment      string
	Meter        bool // made by the meter statement
}

// Set is a set or map in a table. Its elements live in a backend; see
// store.go.
type Set struct {
	SetDef
	Handle   uint64
	Elements *Elements

	use  int32 // rules that refer to the set
	edit *setEdit
}

// Use counts the expressions that refer to the set. A set in use cannot be
// deleted.
func (s *Set) Use() int { return int(s.use) }

// TimeoutNever is the timeout of an element that does not expire although its
// set has a default timeout.
const TimeoutNever uint64 = 0

// Element flags.
const (
	ElemIntervalEnd uint32 = 1
	ElemCatchAll    uint32 = 2
)

// Element is one element as user space hands it to the kernel: intervals of
// single fields come as a start and an exclusive end with ElemIntervalEnd,
// intervals of concatenations as Key and KeyEnd.
type Element struct {
	Key, KeyEnd []byte
	Flags       uint32
	Data        *expr.Data // map data, nil in sets
	Object      string     // object maps: the object's name
	Exprs       []expr.Expr
	Timeout     uint64 // milliseconds; TimeoutNever: none although the set has a default
	HasTimeout  bool
	Expires     uint64 // milliseconds from loading, 0: the whole timeout
	Comment     string
	// OpenInterval marks a start whose interval runs to the end of the key
	// space, as nft notes it in the user data.
	OpenInterval bool
	Place        diag.Span
}

// Object is a stateful object. Exactly the field of its type is set.
type Object struct {
	Name        string
	Handle      uint64
	Type        expr.ObjectType
	Comment     string
	Counter     *expr.Counter
	Quota       *expr.Quota
	Limit       *expr.Limit
	ConnLimit   *expr.ConnLimit
	Synproxy    *expr.Synproxy
	Secmark     string
	Helper      *Helper
	TimeoutPol  *TimeoutPolicy
	Expectation *Expectation
	Tunnel      *Tunnel

	use  int32
	edit *transaction // that owns this copy
}

// Use counts the rules and elements that refer to the object. An object in
// use cannot be deleted.
func (o *Object) Use() int { return int(o.use) }

// Helper is a ct helper object.
type Helper struct {
	Name     string // ftp, tftp, …
	L3Proto  catalog.Family
	Protocol uint8
}

// TimeoutPolicy is a ct timeout object.
type TimeoutPolicy struct {
	L3Proto  catalog.Family
	Protocol uint8
	// Values in seconds by state name, only those that were given.
	Values map[string]uint32
}

// Expectation is a ct expectation object.
type Expectation struct {
	L3Proto  catalog.Family
	Protocol uint8
	Dport    uint16
	Timeout  uint32 // milliseconds
	Size     uint8
}

// Tunnel is a tunnel object.
type Tunnel struct {
	ID           uint32
	Src, Dst     []byte // 4 or 16 bytes
	Sport, Dport uint16
	TTL, TOS     uint8
	Kind         string // vxlan, erspan, geneve or ""
	VXLANGBP     uint32
	ERSPAN       struct {
		Version, Index uint32
		Direction      uint8
		HardwareID     uint8
	}
	Geneve []GeneveOption
}

// GeneveOption is an option of a geneve tunnel object.
type GeneveOption struct {
	Class uint16
	Type  uint8
	Data  []byte
}

// Flowtable is a flowtable.
type Flowtable struct {
	Name     string
	Handle   uint64
	Priority int32
	Devices  []string
	Offload  bool
	Counter  bool
	// Unhooked, in a change, says that no hook was given, as it must be for a
	// new flowtable.
	Unhooked bool

	use  int32
	edit *transaction // that owns this copy
}

// Use counts the rules that refer to the flowtable.
func (f *Flowtable) Use() int { return int(f.use) }
