package vm

import (
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/trace"
)

// RunTraced evaluates like Run and tells the sink every step. It executes each
// instruction through step, so it is also the check on the fast loop.
func (m *Machine) RunTraced(b *Base, pkt *Packet, verdict *Verdict, sink trace.Sink) {
	m.pkt, m.verdict, m.depth, m.sink = pkt, verdict, 0, sink
	m.emit(trace.Event{Kind: trace.EnterBase, Chain: b.Index, Mark: pkt.Meta.Mark})
	m.runTraced(m.begin(uint32(b.Index)))
	if m.verdict.Policy {
		m.verdict.Kind = catalog.VerdictAccept
		if b.Drop {
			m.verdict.Kind = catalog.VerdictDrop
		}
		m.emit(trace.Event{Kind: trace.Policy, Chain: b.Index, Verdict: m.verdict.Kind, Mark: pkt.Meta.Mark})
	}
	m.emit(trace.Event{Kind: trace.LeaveBase, Chain: b.Index, Verdict: m.verdict.Kind, Mark: pkt.Meta.Mark})
	m.sink = nil
}

func (m *Machine) runTraced(pc uint32) {
	for {
		in := &m.code[pc]
		if in.expr == 0 {
			m.loadExpr = -1
		}
		switch in.op {
		case opEndRule:
			m.hit(in.rule)
			m.emitRule(in, catalog.VerdictContinue)
			pc++
			continue
		case opEndChain:
			if m.depth == 0 {
				*m.verdict = Verdict{Policy: true}
				return
			}
			m.depth--
			pc = m.stack[m.depth]
			m.emit(trace.Event{Kind: trace.ReturnFromChain})
			continue
		}
		did := m.step(in)
		m.noteLoad(in, did)
		m.emitStep(in, did)
		next, done := m.follow(in, pc, did)
		if done {
			return
		}
		pc = next
	}
}

// emitStep reports what ended a rule.
func (m *Machine) emitStep(in *inst, did outcome) {
	switch did {
	case outBreak:
		m.emit(trace.Event{Kind: trace.RuleBreak, Rule: in.rule, Expr: int(in.expr), Got: m.looked(in), Loaded: m.loaded[:], LoadExpr: m.loadExpr, Mark: m.pkt.Meta.Mark})
	case outCut:
		m.emit(trace.Event{Kind: trace.RuleUnknown, Rule: in.rule, Expr: int(in.expr)})
	case outStop:
		m.emitRule(in, m.verdict.Kind)
	case outJump:
		m.emitTransfer(in, catalog.VerdictJump)
	case outGoto:
		m.emitTransfer(in, catalog.VerdictGoto)
	case outReturn:
		m.emitRule(in, catalog.VerdictReturn)
	}
}

// noteLoad remembers what a load delivered.
func (m *Machine) noteLoad(in *inst, did outcome) {
	if did != outNext {
		return
	}
	switch in.op {
	case opNetwork1, opNetwork2, opNetwork4, opTransport1, opTransport2, opTransport4,
		opPayload, opMeta, opL4Proto, opNFProto, opMark, opIIFName, opCT, opCTState, opExthdr, opInner, opRT, opFib:
		m.loadExpr = int(in.expr)
		copy(m.loaded[:], m.regs[in.dst:])
	}
}

// looked is the register content that a comparing instruction judged.
func (m *Machine) looked(in *inst) []byte {
	switch in.op {
	case opCmpFast, opCmpFastNeq, opCmp16, opCmp16Neq, opCmp, opRange, opLookup, opObjref, opDynset:
		return m.bytes(in.src, int(in.len))
	}
	return nil
}

func (m *Machine) emitRule(in *inst, kind catalog.VerdictKind) {
	m.emit(trace.Event{Kind: trace.RuleDone, Rule: in.rule, Expr: int(in.expr), Verdict: kind, Mark: m.pkt.Meta.Mark})
}

func (m *Machine) emitTransfer(in *inst, kind catalog.VerdictKind) {
	m.emit(trace.Event{Kind: trace.RuleDone, Rule: in.rule, Expr: int(in.expr), Verdict: kind, Target: int(m.target), Mark: m.pkt.Meta.Mark})
}

func (m *Machine) emit(e trace.Event) {
	if e.Kind == trace.RuleDone {
		e.CT = connectionOf(m.pkt.CT)
	}
	m.ev = e
	m.sink.Event(&m.ev)
}

// connectionOf tells what a trace shows of a packet's connection.
// Ref: nf_tables_trace.c, nf_trace_fill_ct_info.
func connectionOf(a *conntrack.Attachment) trace.CT {
	ct := trace.CT{Known: a.Conn != nil || a.HasTemplate || a.Info == conntrack.InfoUntracked, State: a.State()}
	if a.Conn == nil && a.HasTemplate {
		ct.Status = conntrack.StatusTemplate | conntrack.StatusConfirmed
	}
	if a.Conn != nil {
		ct.Status, ct.Reply = a.Conn.Status, a.Info.Direction() == conntrack.Reply
	}
	return ct
}
