package vm

import (
	"encoding/binary"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/nft/expr"
	"verdict/packet"
	"verdict/packet/rewrite"
)

// payloadWrite writes a register into the packet.
// Ref: nft_payload.c, nft_payload_set_eval.
func (m *Machine) payloadWrite(in *inst) outcome {
	e := m.prog.effects[in.ref].(*expr.Payload)
	if m.pkt.Rewriter == nil {
		return outBreak
	}
	sum := rewrite.Checksum{
		Inet:   e.CsumType == 1,
		Offset: int(e.CsumOffset),
		SCTP:   e.CsumType == 2,
		Pseudo: e.CsumFlags&1 != 0,
	}
	switch m.pkt.Rewriter.Payload(m.pkt.View, packet.Base(in.sub), int(in.off), m.bytes(in.src, int(in.len)), sum) {
	case packet.OK:
		return outNext
	case packet.Cut:
		return outCut
	}
	return outBreak
}

// maxSegmentSize is the TCP option that may only be lowered.
const maxSegmentSize = 2

// exthdrWrite writes into a TCP option.
// Ref: nft_exthdr.c, nft_exthdr_tcp_set_eval.
func (m *Machine) exthdrWrite(e *expr.Exthdr, in *inst) outcome {
	view := m.pkt.View
	_, result := view.TCPHeaderLen()
	if result != packet.OK || m.pkt.Rewriter == nil {
		return broken(result)
	}
	start, size, found := view.FindTCPOption(e.Type)
	switch {
	case found == packet.FoundCut:
		return outCut
	case found == packet.FoundShort, found == packet.Present && int(e.Offset+e.Len) > size:
		return outBreak
	case found != packet.Present:
		return outNext
	}
	at := start + int(e.Offset)
	value := m.bytes(in.src, int(e.Len))
	if e.Len == 2 && e.Type == maxSegmentSize && e.Offset == 2 {
		old, _ := view.Load16(at)
		var was [2]byte
		binary.LittleEndian.PutUint16(was[:], old)
		if binary.BigEndian.Uint16(value) >= binary.BigEndian.Uint16(was[:]) {
			return outNext
		}
	}
	m.pkt.Rewriter.TCPBytes(view, at, value)
	return outNext
}

// exthdrStrip replaces a TCP option by no-operations. Packets whose option ends
// behind the header are dropped.
// Ref: nft_exthdr.c, nft_exthdr_tcp_strip_eval.
func (m *Machine) exthdrStrip(e *expr.Exthdr, in *inst) outcome {
	view := m.pkt.View
	_, result := view.TCPHeaderLen()
	if result != packet.OK || m.pkt.Rewriter == nil {
		return broken(result)
	}
	start, size, found := view.FindTCPOption(e.Type)
	switch found {
	case packet.FoundCut:
		return outCut
	case packet.Present:
		m.pkt.Rewriter.TCPBytes(view, start, noOperations[:size])
	case packet.FoundShort:
		return m.stop(catalog.VerdictDrop, in)
	}
	return outNext
}

var noOperations = func() (b [40]byte) {
	for i := range b {
		b[i] = packet.OptionNOP
	}
	return b
}()

func broken(result packet.LoadResult) outcome {
	if result == packet.Cut {
		return outCut
	}
	return outBreak
}

// action executes the statements that end a packet's way or act beside it.
func (m *Machine) action(in *inst) outcome {
	at := m.pkt.CT
	switch in.op {
	case opPass:
		return outNext
	case opCTObject:
		return m.ctObject(m.prog.objects[in.ref], in)
	case opLog:
		m.effect(in, m.prog.logs[in.ref])
		return outNext
	case opPayloadWrite:
		return m.payloadWrite(in)
	case opReject:
		m.act(m.effect(in, m.prog.effects[in.ref]))
		return m.stop(catalog.VerdictDrop, in)
	case opNAT, opMasq, opRedir:
		return m.nat(in)
	case opQueue:
		return m.queue(in)
	case opNotrack:
		if at.Conn == nil && !at.HasTemplate {
			at.Info = conntrack.InfoUntracked
		}
		return outNext
	case opDup:
		m.effectAddress(in)
		return outNext
	case opFwd:
		m.effectAddress(in)
		return m.stop(catalog.VerdictStolen, in)
	case opTProxy:
		return outBreak // no socket is known
	case opSynproxy:
		return m.synproxy(in)
	case opFlowOffload:
		if at.Conn == nil {
			return outBreak
		}
		m.effect(in, m.prog.effects[in.ref])
		return outNext
	}
	return outBreak
}

func (m *Machine) effect(in *inst, e expr.Expr) *Effect {
	m.Effects.List = append(m.Effects.List, Effect{Expr: e, Rule: in.rule})
	return &m.Effects.List[len(m.Effects.List)-1]
}

// nat tells the translation that a rule asks for, which the pipeline sets up
// at once. The packet is accepted.
// Ref: nft_nat.c, nft_nat_eval; nft_masq.c; nft_redir.c.
func (m *Machine) nat(in *inst) outcome {
	if x, ok := m.prog.effects[in.ref].(*expr.NAT); ok && x.Family != uint8(catalog.FamilyInet) && x.Family != uint8(m.pkt.Family) {
		return outNext // in inet tables packets of the other family go on
	}
	e := m.effect(in, m.prog.effects[in.ref])
	address := func(i int, r expr.Reg, have bool) {
		if have {
			copy(e.Addr[i][:], m.bytes(uint8(r.Offset()), 16))
		}
	}
	port := func(i int, r expr.Reg, have bool) {
		if have {
			e.Port[i] = binary.BigEndian.Uint16(m.bytes(uint8(r.Offset()), 2))
		}
	}
	ports := func(low, high expr.Reg, have, haveHigh bool) {
		port(0, low, have)
		if !haveHigh {
			high = low
		}
		port(1, high, have)
	}
	switch x := e.Expr.(type) {
	case *expr.NAT:
		address(0, x.AddrMin, x.HasAddr)
		high := x.AddrMax
		if !x.HasAddrMax {
			high = x.AddrMin
		}
		address(1, high, x.HasAddr)
		ports(x.ProtoMin, x.ProtoMax, x.HasProto, x.HasProtoMax)
	case *expr.Masq:
		ports(x.ProtoMin, x.ProtoMax, x.HasProto, x.HasProtoMax)
	case *expr.Redir:
		ports(x.ProtoMin, x.ProtoMax, x.HasProto, x.HasProtoMax)
	}
	if m.act(e); e.Refused {
		return m.stop(catalog.VerdictDrop, in)
	}
	return m.stop(catalog.VerdictAccept, in)
}

// effectAddress records where dup and fwd send the packet.
func (m *Machine) effectAddress(in *inst) {
	e := m.effect(in, m.prog.effects[in.ref])
	switch x := e.Expr.(type) {
	case *expr.Dup:
		if x.HasAddr {
			copy(e.Addr[0][:], m.bytes(uint8(x.Addr.Offset()), 16))
		}
		if x.HasDev {
			e.Dev = m.get32(uint8(x.Dev.Offset()))
		}
	case *expr.Fwd:
		e.Dev = m.get32(uint8(x.Dev.Offset()))
		if x.HasAddr {
			copy(e.Addr[0][:], m.bytes(uint8(x.Addr.Offset()), 16))
		}
	}
	m.act(e)
}

// queue hands the packet to user space. Which queue of several it is depends
// on the processor or a seeded hash; the first stands for all.
// Ref: nft_queue.c, nft_queue_eval.
func (m *Machine) queue(in *inst) outcome {
	e := m.prog.effects[in.ref].(*expr.Queue)
	*m.verdict = Verdict{Kind: catalog.VerdictQueue, Rule: in.rule, Queue: e.Num, Bypass: e.Flags&1 != 0}
	if e.HasSrc {
		m.verdict.Queue = uint16(m.get32(uint8(e.Src.Offset())))
	}
	return outStop
}

// synproxy takes SYN packets from the server's way. What follows them needs
// cookies that only the proxy itself could have made.
// Ref: nft_synproxy.c, nft_synproxy_do_eval.
func (m *Machine) synproxy(in *inst) outcome {
	view := m.pkt.View
	if !view.L4OK || view.L4Proto != packet.ProtoTCP || view.FragOff != 0 {
		return outBreak
	}
	flags, ok := view.Load8(view.ThOff + 13)
	if !ok {
		return m.stop(catalog.VerdictDrop, in)
	}
	const syn, ack = 0x02, 0x10
	switch {
	case flags&(syn|ack) == syn:
		m.effect(in, m.prog.effects[in.ref])
		return m.stop(catalog.VerdictStolen, in)
	case flags&ack != 0:
		return m.stop(catalog.VerdictDrop, in)
	}
	return outNext
}
