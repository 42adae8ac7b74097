package vm

import (
	"encoding/binary"
	"math/rand/v2"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/nft/expr"
	"verdict/packet"
	"verdict/packet/rewrite"
	"verdict/trace"
)

// maxDepth is the number of jumps that may be open.
// Ref: include/net/netfilter/nf_tables.h, NFT_JUMP_STACK_SIZE.
const maxDepth = 16

// Packet is a packet at a hook, as a machine sees it.
type Packet struct {
	View *packet.View
	Meta *packet.Meta
	CT   *conntrack.Attachment
	// Family is the packet's own: ip or ip6 in inet chains, else the hook's.
	Family catalog.Family
	// HookFamily and Hook are where it is.
	HookFamily catalog.Family
	Hook       catalog.HookNum
	// OnDevice says that the packet was made on the device it leaves by, as
	// clones are, which holds it in output already.
	OnDevice bool
	// Length is what meta length and counters see.
	Length int
	// Rewriter gives write access; nil where packets may not be changed.
	Rewriter *rewrite.Buffer
}

// Machine runs programs. It owns the registers and is used by one goroutine.
type Machine struct {
	regs  [regFile]byte
	stack [maxDepth]uint32
	depth int

	// Conns is the host's connections, which connection limits look up.
	Conns *conntrack.Table
	// Routes answers fib and rt; nil where nothing is known of routes.
	Routes Routes
	Now    int64 // the packet's time, nanoseconds since the epoch
	Rand   *rand.Rand
	CPU    uint32
	// HashSeed stands for the kernel's secret seed of symmetric hashes.
	HashSeed uint32
	// ZoneOffset is the time zone's offset east of UTC in seconds, for meta
	// day.
	ZoneOffset int

	// Before71 follows Linux as it was before 7.1, where that differs.
	Before71 bool

	// Effects collects what the packet's rules want done besides the verdict.
	Effects Effects
	// Act, if set, is told of answers and clones at once, in the middle of the
	// rule: what it sends passes its hooks before the rule goes on. The effect
	// is valid during the call only.
	Act func(*Effect)

	selectors []Selector
	version   uint64

	prog *Program
	// counters are the program's, or the machine's own: see CountApart.
	counters []*Counter
	apart    bool
	// code is the program's, with what this machine appended: see linear.
	code   []inst
	listed map[uint32][]uint32
	pkt    *Packet
	// network and transport are the packet's captured bytes from there on:
	// see window.
	network, transport []byte
	verdict            *Verdict
	target             uint32
	hits               []Hits
	sink               trace.Sink
	inside             packet.View // the packet inside a tunnel
	ev                 trace.Event
	// What the last load of a traced rule delivered.
	loaded   [16]byte
	loadExpr int
}

// regFile is the size of the register file; behind the kernel's 80 bytes lies
// slack so that a byte-sized offset plus a 16-byte access stays inside.
const regFile = 256 + 16

// Hits counts the packets for which all expressions of a rule ran.
type Hits struct{ Packets, Bytes uint64 }

// Effects are the wishes of a packet's rules that the pipeline carries out.
type Effects struct {
	// Logs, duplicates and the like in order of execution.
	List []Effect
}

// Effect is one expression with an effect, with what it read from registers.
type Effect struct {
	Expr expr.Expr
	Rule uint32
	Addr [2][16]byte // min and max, dup and fwd address
	Port [2]uint16
	Dev  uint32
	Num  uint32
	// Refused is set by Act where a translation cannot be set up: the packet
	// is dropped.
	Refused bool
}

// Reset forgets the effects of the packet before.
func (e *Effects) Reset() { e.List = e.List[:0] }

// NewMachine returns a machine for a program. The seed decides what random
// expressions draw.
func NewMachine(p *Program, seed uint64) *Machine {
	m := &Machine{Rand: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)), Conns: conntrack.NewTable(conntrack.Config{})}
	m.Load(p)
	return m
}

// Fork returns a machine that runs the same program beside this one, for a
// packet that is made while this machine's is under way: registers are its
// own, hit counts and random numbers shared.
func (m *Machine) Fork() *Machine {
	return &Machine{
		Conns: m.Conns, Routes: m.Routes, Now: m.Now, Rand: m.Rand, CPU: m.CPU,
		HashSeed: m.HashSeed, ZoneOffset: m.ZoneOffset, Before71: m.Before71, prog: m.prog, code: m.prog.code[:len(m.prog.code):len(m.prog.code)],
		hits: m.hits, selectors: m.selectors, counters: m.counters, apart: m.apart,
	}
}

// act tells of an effect that does not wait.
func (m *Machine) act(e *Effect) {
	if m.Act != nil {
		m.Act(e)
	}
}

// Load switches to another program. Hit counts start anew.
func (m *Machine) Load(p *Program) {
	m.useCounters(p, false)
	m.prog, m.code = p, p.code[:len(p.code):len(p.code)]
	m.hits = make([]Hits, len(p.rules))
}

// Program returns the program the machine runs.
func (m *Machine) Program() *Program { return m.prog }

// Hits returns the counts by rule number.
func (m *Machine) Hits() []Hits { return m.hits }

// Run evaluates a base chain on a packet and stores its verdict, in place
// since copies of it cost as much as a rule.
// Ref: nf_tables_core.c, nft_do_chain.
func (m *Machine) Run(b *Base, pkt *Packet, verdict *Verdict) {
	m.pkt, m.verdict = pkt, verdict
	m.depth = 0
	m.version++
	pc := m.prog.Chains[b.Index].entry
	if in := &m.code[pc]; in.op == opSelect { // often no rule is left at all
		pc = m.choose(in)
	}
	m.run(pc)
	if verdict.Policy {
		verdict.Kind = catalog.VerdictAccept
		if b.Drop {
			verdict.Kind = catalog.VerdictDrop
		}
	}
}

// run is the evaluation loop. Loads with the comparisons behind them are left to
// words, other frequent expressions are done in place; step holds every other,
// and the same ones again for the traced loop.
func (m *Machine) run(pc uint32) {
	if m.code[pc].op == opEndChain && m.depth == 0 {
		*m.verdict = Verdict{Policy: true}
		return
	}
	m.window()
	for {
		pc = m.words(pc)
		in := &m.code[pc]
		switch in.op {
		case opIIFName:
			m.putName(in.dst, m.pkt.Meta.IIF.Name)
			pc++
			continue
		case opIIFNameIs:
			pc++
			if m.masked16((*[16]byte)(&m.pkt.Meta.IIF.Name), in) == in.inv {
				pc = in.next
			}
			continue
		case opCmp16, opCmp16Neq:
			pc++
			if m.equal16(in) == in.inv {
				pc = in.next
			}
			continue
		case opWithin:
			pc++
			if m.within(in) == in.inv {
				pc = in.next
			}
			continue
		case opVerdict:
			switch kind := catalog.VerdictKind(int32(in.val)); {
			case kind == catalog.VerdictAccept, kind == catalog.VerdictDrop:
				*m.verdict = Verdict{Kind: kind, Rule: in.rule}
				m.hit(in.rule)
				return
			case kind == catalog.VerdictJump && m.depth < maxDepth:
				m.hit(in.rule)
				m.stack[m.depth] = in.next
				m.depth++
				pc = m.begin(in.off)
				continue
			}
		case opCounter:
			m.counters[in.ref].add(m.pkt.Length)
			pc++
			continue
		case opEndRule:
			m.hit(in.rule)
			pc++
			continue
		case opSkip:
			pc = m.skip(in)
			continue
		case opSelect:
			pc = m.choose(in)
			continue
		case opEndChain:
			if m.depth == 0 {
				*m.verdict = Verdict{Policy: true}
				return
			}
			m.depth--
			pc = m.stack[m.depth]
			continue
		}
		if in.op >= opFirstAction {
			m.version++
		}
		switch did := m.step(in); did {
		case outNext:
			pc++
		case outBreak:
			pc = in.next
		default:
			next, done := m.follow(in, pc, did)
			if done {
				return
			}
			pc = next
		}
		if in.op >= opFirstWriter {
			m.window()
		}
	}
}

// window finds the captured bytes from the network and the transport header
// on, for loads in place. What is not there, or not whole, is left to step,
// which knows why.
func (m *Machine) window() {
	m.network, m.transport = nil, nil
	view := m.pkt.View
	data := view.Packet()
	if view.NetOff <= len(data) {
		m.network = data[view.NetOff:]
	}
	if view.HasTransport() && view.ThOff <= len(data) {
		m.transport = data[view.ThOff:]
	}
}

// follow turns what an instruction did into the next instruction, or says
// that the chain's verdict is there.
func (m *Machine) follow(in *inst, pc uint32, did outcome) (next uint32, done bool) {
	switch did {
	case outNext:
		return pc + 1, false
	case outBreak:
		return in.next, false
	case outCut:
		*m.verdict = Verdict{Unknown: true, Rule: in.rule, CutAt: len(m.pkt.View.Data)}
		return 0, true
	case outStop:
		m.hit(in.rule)
		return 0, true
	case outJump:
		m.hit(in.rule)
		if m.depth == maxDepth {
			*m.verdict = Verdict{Kind: catalog.VerdictDrop, Rule: in.rule}
			return 0, true
		}
		m.stack[m.depth] = in.next
		m.depth++
		return m.begin(m.target), false
	case outGoto:
		m.hit(in.rule)
		return m.begin(m.target), false
	}
	m.hit(in.rule) // outReturn
	if m.depth == 0 {
		*m.verdict = Verdict{Policy: true}
		return 0, true
	}
	m.depth--
	return m.stack[m.depth], false
}

func (m *Machine) hit(rule uint32) {
	h := &m.hits[rule]
	h.Packets++
	h.Bytes += uint64(m.pkt.Length)
}

func (m *Machine) get32(at uint8) uint32 {
	return binary.LittleEndian.Uint32(m.regs[at : int(at)+4])
}

func (m *Machine) put32(at uint8, value uint32) {
	binary.LittleEndian.PutUint32(m.regs[at:int(at)+4], value)
}

// put8 stores a byte into a zeroed word. Ref: nft_reg_store8.
func (m *Machine) put8(at uint8, value uint8) { m.put32(at, uint32(value)) }

// put16 stores two bytes of network order into a zeroed word.
func (m *Machine) put16net(at uint8, value uint16) {
	m.put32(at, uint32(value>>8|value<<8))
}

func (m *Machine) put64(at uint8, value uint64) {
	binary.LittleEndian.PutUint64(m.regs[at:int(at)+8], value)
}

// bytes is a window of the register file.
func (m *Machine) bytes(at uint8, n int) []byte { return m.regs[at : int(at)+n] }

// zeroTail clears what follows n bytes at a register up to the word's end.
func (m *Machine) zeroTail(at uint8, n int) {
	for i := int(at) + n; i&3 != 0; i++ {
		m.regs[i] = 0
	}
}

// stop sets a terminal verdict.
func (m *Machine) stop(kind catalog.VerdictKind, in *inst) outcome {
	*m.verdict = Verdict{Kind: kind, Rule: in.rule}
	return outStop
}

// verdictOf turns a verdict value into what the machine does.
// Ref: nf_tables_core.c, nft_do_chain.
func (m *Machine) verdictOf(kind catalog.VerdictKind, target uint32, in *inst) outcome {
	switch kind {
	case catalog.VerdictContinue:
		return outNext
	case catalog.VerdictBreak:
		return outBreak
	case catalog.VerdictJump:
		m.target = target
		return outJump
	case catalog.VerdictGoto:
		m.target = target
		return outGoto
	case catalog.VerdictReturn:
		return outReturn
	}
	return m.stop(kind, in)
}
