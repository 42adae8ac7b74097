package iptables

import (
	"math/rand/v2"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/host"
	"verdict/nft/expr"
	"verdict/packet"
	"verdict/packet/rewrite"
	"verdict/trace"
)

// result is what a match says.
type result uint8

const (
	resultFalse result = iota
	resultTrue
	resultDrop // the packet is dropped at once ("hotdrop")
	resultCut  // bytes are needed that the capture cut off
)

// truth turns a comparison into a result.
func truth(b bool) result {
	if b {
		return resultTrue
	}
	return resultFalse
}

// action is what a target does with a packet.
type action uint8

const (
	actContinue action = iota
	actAccept
	actDrop
	actQueue
	actStolen
	actCut
)

// Packet is a packet at a hook.
type Packet struct {
	View   *packet.View
	Meta   *packet.Meta
	CT     *conntrack.Attachment
	Family catalog.Family // FamilyIP or FamilyIP6
	Hook   catalog.HookNum
	Length int // what counters and length count
	// Rewriter gives write access.
	Rewriter *rewrite.Buffer
}

// Verdict is the outcome of a built-in chain.
type Verdict struct {
	Kind catalog.VerdictKind // accept, drop, queue, stolen
	// Policy says that no rule decided.
	Policy bool
	// Rule is the number of the deciding rule; without meaning if Policy.
	Rule   uint32
	Queue  uint16
	Bypass bool
	// Unknown says that a rule needed bytes that the capture cut off, CutAt
	// being the first of them.
	Unknown bool
	CutAt   int
}

// Machine walks a program's tables. It owns what packets change: counters,
// rates, lists. It is used by one goroutine.
type Machine struct {
	Conns *conntrack.Table
	Host  *host.Host
	Now   int64 // the packet's time, nanoseconds since the epoch
	Rand  *rand.Rand
	CPU   uint32
	// HashSeed stands for the secret seeds of the kernel's hashes.
	HashSeed uint32
	// NAT is what the packet's rules asked for; it has no Kind if nothing.
	NAT NATRequest
	// Reject is the answer that the packet's rules want sent, nil for none.
	Reject *expr.Reject

	prog     *Program
	counters []Counter
	policies []Counter // by chain
	state    []ruleState
	shared   map[string]any // lists and tables that rules share by name
	stack    []frame

	pkt           *Packet
	fields        fields
	fragment      bool
	fragOff       uint16
	headersBroken bool // IPv6: the extension headers are malformed
	headersCut    bool
	thoff         int
	rule          uint32
	match         int // index of the match being tried
	queue         uint16
	bypass        bool

	byName          map[packet.Name][]uint64
	lastIn, lastOut interfaceCache

	sink trace.Sink
}

// ruleState is what the matches of a rule remember, by match.
type ruleState []any

// frame is where a user chain returns to.
type frame struct{ pc, end uint32 }

// stateful is a match with memory of its own in each rule.
type stateful interface{ newState(m *Machine) any }

// NewMachine returns a machine; the seed decides what random matches draw.
func NewMachine(p *Program, seed uint64) *Machine {
	m := &Machine{
		Rand: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)), prog: p, shared: map[string]any{},
		counters: make([]Counter, len(p.rules)), policies: make([]Counter, len(p.chains)), state: make([]ruleState, len(p.rules)),
		stack: make([]frame, 0, len(p.chains)+1), byName: map[packet.Name][]uint64{},
	}
	for i := range p.rules {
		for k, x := range p.rules[i].matches {
			if s, ok := x.(stateful); ok {
				if m.state[i] == nil {
					m.state[i] = make(ruleState, len(p.rules[i].matches))
				}
				m.state[i][k] = s.newState(m)
			}
		}
	}
	return m
}

// Fork returns a machine for a packet that is made while this machine's is
// under way: counters, what matches remember and random numbers are shared.
func (m *Machine) Fork() *Machine {
	return &Machine{
		Conns: m.Conns, Host: m.Host, Rand: m.Rand, HashSeed: m.HashSeed,
		prog: m.prog, counters: m.counters, policies: m.policies, state: m.state, shared: m.shared,
		stack: make([]frame, 0, len(m.prog.chains)+1), byName: map[packet.Name][]uint64{},
	}
}

// Program is what the machine runs.
func (m *Machine) Program() *Program { return m.prog }

// Counter gives the counts of a rule by its number.
func (m *Machine) Counter(rule uint32) Counter { return m.counters[rule] }

// PolicyCounter gives the counts of a built-in chain's policy.
func (m *Machine) PolicyCounter(b *Base) Counter { return m.policies[b.code] }

// own is the memory of the match being tried.
func (m *Machine) own() any { return m.state[m.rule][m.match] }

// Trace sends the steps of the following packets to a sink; nil switches it
// off.
func (m *Machine) Trace(sink trace.Sink) { m.sink = sink }

// Run walks a built-in chain and stores the verdict. Nothing is allocated once
// warm, but for new entries of rates and lists.
// Ref: ip_tables.c, ipt_do_table.
func (m *Machine) Run(b *Base, p *Packet, verdict *Verdict) {
	m.pkt = p
	m.NAT.Kind, m.Reject = NoNAT, nil
	if !m.load() {
		*verdict = Verdict{Unknown: true, Policy: true, CutAt: len(p.View.Data)}
		return
	}
	if m.sink != nil {
		m.traceEnter(b)
	}
	m.walk(b, verdict)
	if m.sink != nil {
		m.traceLeave(b, verdict)
	}
}

// walk goes from rule to rule.
func (m *Machine) walk(b *Base, verdict *Verdict) {
	chain := &m.prog.chains[b.code]
	pc, end := chain.start, chain.end
	m.stack = m.stack[:0]
	for {
		found, is := m.next(pc, end)
		switch {
		case is != resultTrue:
			m.stop(found, is, verdict)
			return
		case found == end:
			if len(m.stack) == 0 {
				m.policy(b, verdict)
				return
			}
			top := m.stack[len(m.stack)-1]
			m.stack = m.stack[:len(m.stack)-1]
			pc, end = top.pc, top.end
			m.traceReturn()
			continue
		}
		pc = found + 1
		r := &m.prog.rules[found]
		m.rule = found
		if is := m.extensions(r); is != resultTrue {
			if is != resultFalse {
				m.stop(found, is, verdict)
				return
			}
			continue
		}
		m.count(found)
		switch r.do {
		case doContinue:
			m.traceDone(found, "goes on")
		case doAccept:
			*verdict = Verdict{Kind: catalog.VerdictAccept, Rule: found}
			m.traceDone(found, "accept")
			return
		case doDrop:
			*verdict = Verdict{Kind: catalog.VerdictDrop, Rule: found}
			m.traceDone(found, "drop")
			return
		case doReturn:
			m.traceDone(found, "return")
			if len(m.stack) == 0 {
				m.policy(b, verdict)
				return
			}
			top := m.stack[len(m.stack)-1]
			m.stack = m.stack[:len(m.stack)-1]
			pc, end = top.pc, top.end
		case doJump, doGoto:
			to := &m.prog.chains[r.chain]
			if r.do == doJump {
				if len(m.stack) == cap(m.stack) {
					*verdict = Verdict{Kind: catalog.VerdictDrop, Rule: found}
					return
				}
				m.stack = append(m.stack, frame{pc, end})
				m.traceDone(found, "jump "+to.chain.Name)
			} else {
				m.traceDone(found, "goto "+to.chain.Name)
			}
			pc, end = to.start, to.end
		case doTarget:
			if m.target(r, found, verdict) {
				return
			}
		}
	}
}

// next finds the next rule whose header matches, tracing those before it that
// do not.
func (m *Machine) next(pc, end uint32) (uint32, result) {
	found, is := uint32(0), resultTrue
	if m.pkt.Family == catalog.FamilyIP6 {
		found, is = m.next6(pc, end)
	} else {
		found = next4(m.prog.headers4, pc, end, &m.fields)
	}
	if m.sink != nil {
		for ; pc < found; pc++ {
			m.traceHeader(pc)
		}
	}
	return found, is
}

// extensions tries the matches of a rule in order.
func (m *Machine) extensions(r *ruleCode) result {
	for i, x := range r.matches {
		m.match = i
		var is result
		switch x := x.(type) { // the frequent ones without a dynamic call
		case *tcpMatch:
			is = x.matches(m)
		case *udpMatch:
			is = x.matches(m)
		case *conntrackMatch:
			is = x.matches(m)
		default:
			is = x.matches(m)
		}
		if is != resultTrue {
			if m.sink != nil {
				m.traceMatch(x, is)
			}
			return is
		}
	}
	return resultTrue
}

func (m *Machine) count(rule uint32) {
	c := &m.counters[rule]
	c.Packets++
	c.Bytes += uint64(m.pkt.Length)
}

// policy ends the walk at the end of the built-in chain.
func (m *Machine) policy(b *Base, verdict *Verdict) {
	c := &m.policies[b.code]
	c.Packets++
	c.Bytes += uint64(m.pkt.Length)
	*verdict = Verdict{Kind: catalog.VerdictAccept, Policy: true}
	if b.Chain.Policy == PolicyDrop {
		verdict.Kind = catalog.VerdictDrop
	}
}

// stop ends the walk because of a packet that a rule cannot look at.
func (m *Machine) stop(rule uint32, why result, verdict *Verdict) {
	*verdict = Verdict{Kind: catalog.VerdictDrop, Rule: rule}
	if why == resultCut {
		verdict.Unknown, verdict.CutAt = true, len(m.pkt.View.Data)
	}
}

// target runs a rule's target and reports whether it decided.
func (m *Machine) target(r *ruleCode, number uint32, verdict *Verdict) bool {
	*verdict = Verdict{Rule: number}
	what := "goes on"
	did := r.target.apply(m)
	switch did {
	case actAccept:
		verdict.Kind, what = catalog.VerdictAccept, "accept"
	case actDrop:
		verdict.Kind, what = catalog.VerdictDrop, "drop"
	case actQueue:
		verdict.Kind, verdict.Queue, verdict.Bypass, what = catalog.VerdictQueue, m.queue, m.bypass, "queue"
	case actStolen:
		verdict.Kind, what = catalog.VerdictStolen, "stolen"
	case actCut:
		m.stop(number, resultCut, verdict)
		what = "unknown: the capture ends before the bytes that it needs"
	}
	if m.sink != nil {
		m.traceDone(number, what)
	}
	return did != actContinue
}

// transport gives the bytes of the transport header. The kernel looks at size
// bytes there, the match at need of them. Fragments other than the first have
// no such header.
func (m *Machine) transport(size, need int) ([]byte, result) {
	if m.fragment {
		return nil, resultFalse
	}
	return m.bytes(m.thoff, size, need)
}

// bytes gives bytes of the frame from an offset on.
func (m *Machine) bytes(at, size, need int) ([]byte, result) {
	v := m.pkt.View
	data := v.Packet()
	switch {
	case at+size > v.End:
		return nil, resultDrop
	case at+need > len(data):
		return nil, resultCut
	}
	return data[at:], resultTrue
}

// network gives the bytes from the network header on.
func (m *Machine) network() []byte {
	v := m.pkt.View
	return v.Packet()[v.NetOff:]
}
