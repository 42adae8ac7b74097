package syntax

// Verb says what a command does.
type Verb uint8

// The verbs. VerbAdd is the default when a command starts with its object.
const (
	VerbAdd Verb = iota
	VerbCreate
	VerbInsert
	VerbReplace
	VerbDelete
	VerbDestroy
	VerbList
	VerbFlush
	VerbReset
	VerbGet
	VerbRename
	VerbDescribe
	VerbMonitor
	VerbExport
	VerbImport
)

// Object says what a command is about.
type Object uint8

// The objects. The plural forms belong to list, reset and flush.
const (
	ObjNone Object = iota
	ObjTable
	ObjChain
	ObjRule
	ObjSet
	ObjMap
	ObjElement
	ObjFlowtable
	ObjMeter
	ObjCounter
	ObjQuota
	ObjLimit
	ObjCTHelper
	ObjCTTimeout
	ObjCTExpectation
	ObjSynproxy
	ObjSecmark
	ObjTunnel
	ObjRuleset
	ObjTables
	ObjChains
	ObjRules
	ObjSets
	ObjMaps
	ObjMeters
	ObjFlowtables
	ObjCounters
	ObjQuotas
	ObjLimits
	ObjCTHelpers
	ObjCTTimeouts
	ObjCTExpectations
	ObjSynproxys
	ObjSecmarks
	ObjTunnels
	ObjHooks
)

// Target names what a command acts on. Parts that were not written are
// empty; a missing family means ip, or all families for lists.
type Target struct {
	Family Word
	Table  Word
	Name   Word
	Handle *Number // `delete rule t c handle 5`, `delete chain t handle 3`
}

// Number is an unsigned number as written.
type Number struct {
	At
	Value uint64
}

// Command is one command. Exactly the body fields that its object needs are
// set.
type Command struct {
	At
	Trivia
	Verb     Verb
	Explicit bool // the verb was written (only matters for VerbAdd)
	Object   Object
	Target   Target

	Table     *Table         // add/create table, also in block form
	Chain     *Chain         // add/create chain
	Rule      *Rule          // add/insert/replace rule
	Set       *Set           // add/create set, map
	Elements  *SetLiteral    // add/create/delete/destroy/get/reset element, also `= { }` of describe
	Stateful  *StatefulObj   // add/create/delete counter, quota, ...
	Flowtable *Flowtable     // add/create/delete flowtable
	NewName   Word           // rename chain
	Subject   Expr           // describe
	Monitor   MonitorRequest // monitor
	Device    Word           // list hooks
	// Format is the word `json`, `vm` or `xml` behind export, import, monitor.
	Format Word
}

func (*Command) item() {}

// MonitorRequest is what follows the word monitor.
type MonitorRequest struct {
	Event  Word // new, destroy
	Object Word // tables, chains, rules, sets, elements, ruleset, trace
}
