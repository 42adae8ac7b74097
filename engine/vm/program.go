package vm

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// Program is a linked ruleset, immutable and safe for concurrent use.
type Program struct {
	Rules  *ruleset.Ruleset
	Chains []Chain // index is the target of jumps
	// Bases are the base chains of all tables that are not dormant.
	Bases []*Base

	code  []inst
	rules []ruleRef // every rule of every chain, by rule number
	heads []head    // of rules that opSkip may skip
	data  []byte    // constants longer than an instruction holds
	spans []span    // ranges of opWithin

	sets     []*setRef
	counters []*Counter
	limits   []*Limit
	quotas   []*Quota
	conns    []*ConnLimit
	lasts    []*Last
	numgens  []*Numgen
	logs     []*expr.Log
	dynsets  []*dynsetRef
	exthdrs  []*expr.Exthdr
	inners   []*innerRef
	effects  []expr.Expr // nat, masq, redir, reject, dup, fwd, tproxy, synproxy, queue, payload writes, …
	objrefs  []*objrefRef
	objects  []*ctObject
	fibs     []*expr.Fib
	hashes   []*expr.Hash
	state    *State
	forms    Forms
	root     *Program // that was linked, if this one extends it
	extended bool     // there is a successor, which appends to the same memory

	// NeedsCT says that some rule depends on connection tracking, by family:
	// the kernel tracks only then.
	NeedsCT, NeedsCT6, NeedsCTBridge bool
	// NeedsCTLabels says that some rule reads or sets labels of connections.
	NeedsCTLabels bool
	// CTOrder is how many base chains are registered before tracking is, for
	// IPv4 and IPv6.
	CTOrder [2]int
	// Uses lists what the rules read that no packet carries, for the
	// assumptions shown to the user.
	Uses Uses
}

// Uses says which outside facts the rules of a program read.
type Uses struct {
	Fib, Socket, SKUID, RT, CPU, Random, Time, OSF, XFRM, Cgroup, Hash bool
	Interfaces                                                         bool // names or indices
	// TTL: some rule reads what forwarding changes, the time to live or the
	// IPv4 header checksum.
	TTL bool
	// Helpers are the connection tracking helpers whose expectations are not
	// followed.
	Helpers []string
}

// Chain is a linked chain.
type Chain struct {
	Table *ruleset.Table
	Chain *ruleset.Chain
	start uint32 // first instruction
	first uint32 // number of its first rule
	count uint32 // number of rules
	end   uint32 // its opEndChain
	// entry is where the run starts unless it is traced: start, or what Select
	// made; then blocks has the first instruction of each rule that a selector
	// may choose.
	entry  uint32
	blocks []uint32
	added  *additions // rules that came later, else nil
}

// Base is a base chain at its hook.
type Base struct {
	Index    int // in Program.Chains
	Family   catalog.Family
	Table    *ruleset.Table
	Chain    *ruleset.Chain
	Hook     catalog.HookNum
	Priority int32
	Drop     bool // policy drop
	NAT      bool
	Route    bool
	// Order counts the base chains by registration; of equal priorities the
	// one registered last runs first.
	Order int
}

// ruleRef finds a rule by its number.
type ruleRef struct {
	chain *Chain
	rule  *ruleset.Rule
	index uint32 // within its chain
	start uint32 // first instruction
	end   uint32 // behind the last one
}

// Rule returns what stands behind a rule number: its chain and position.
func (p *Program) Rule(number uint32) (*Chain, *ruleset.Rule, int) {
	r := &p.rules[number]
	return r.chain, r.rule, int(r.index)
}

// RuleCount is the number of rules of all chains.
func (p *Program) RuleCount() int { return len(p.rules) }

// RuleNumber is the number of the i-th rule of a chain.
func (c *Chain) RuleNumber(i int) uint32 {
	if c.added != nil {
		return c.added.numbers[i]
	}
	return c.first + uint32(i)
}

// RuleCount is the number of rules of the chain.
func (c *Chain) RuleCount() int {
	if c.added != nil {
		return len(c.added.numbers)
	}
	return int(c.count)
}

// opcode selects what an instruction does.
type opcode uint8

const (
	opEndChain  opcode = iota // end of a chain: return
	opEndRule                 // end of a rule whose expressions all ran
	opSelect                  // a selector says which rule comes next
	opSkip                    // rules whose first compare fails are skipped
	opWithin                  // the first len bytes of a word lie in one of some ranges
	opIIFNameIs               // the incoming interface's name, under a mask
	// Fast forms, under the kernel's conditions.
	opNetwork1 // payload from the network header: off → dst, zero-extended to 4 bytes
	opNetwork2
	opNetwork4
	opTransport1 // payload from the transport header
	opTransport2
	opTransport4
	opCmpFast     // (reg32 & mask) == value
	opCmpFastNeq  // inverted
	opCmp16       // two 64-bit words under masks
	opCmp16Neq    //
	opBitwiseFast // (reg32 & mask) ^ value
	opVerdict     // immediate verdict
	opImmediate4  // one word
	opL4Proto     // meta l4proto
	opNFProto     // meta nfproto
	opMark        // meta mark
	opIIFName     // meta iifname
	opCTState     // ct state
	// The general forms.
	opPayload
	opMeta
	opCT
	opCmp
	opRange
	opBitwise
	opByteorder
	opImmediate
	opLookup
	opCounter
	opLimit
	opQuota
	opConnLimit
	opLast
	opLog
	opNumgen
	opHash
	opFib
	opExthdr
	opInner
	opRT
	opSocket
	opOSF
	opXFRM
	opTunnel
	opMetaSet
	opCTSet
	opDynset
	opObjref
	opReject
	opNAT
	opMasq
	opRedir
	opQueue
	opNotrack
	opDup
	opFwd
	opTProxy
	opSynproxy
	opFlowOffload
	opPass // nothing: an object without effect on verdicts
	opCTObject
	// The forms that change the packet's bytes.
	opPayloadWrite
	opExthdrWrite
)

// opFirstWriter is the first of the instructions behind which the packet's
// bytes may be others.
const opFirstWriter = opPayloadWrite

// opFirstAction is the first of the instructions behind which loads may give
// other values than before.
const opFirstAction = opMetaSet

// inst is one instruction. Registers are byte offsets into the register file.
type inst struct {
	op   opcode
	sub  uint8 // base, key number, comparison, flags: by op
	src  uint8
	dst  uint8
	len  uint8
	inv  bool
	expr uint8 // index of the expression in its rule, which has 128 at most
	// fused says that the next instruction is a comparison of the register
	// that this one stores: run does both at once.
	fused fusion
	next  uint32 // first instruction of the next rule: where a break goes
	off   uint32 // payload offset, index of constants, chain index
	ref   uint32 // index into one of the program's tables; for opEndRule the rule number
	mask  uint32
	val   uint32
	rule  uint32 // number of the rule
}

// fusion tells what is done together with a load.
type fusion uint8

const (
	alone       fusion = iota
	withCompare        // the fast compare behind it
	withRanges         // the opWithin behind it
	sameLoad           // of such a compare: next is the compare behind another load of the same value
)
