package vm

import (
	"bytes"
	"encoding/binary"

	"verdict/catalog"
	"verdict/packet"
)

// step executes one instruction of any kind.
func (m *Machine) step(in *inst) outcome {
	switch in.op {
	case opNetwork1, opNetwork2, opNetwork4, opTransport1, opTransport2, opTransport4, opPayload:
		return m.payload(in)
	case opCmpFast:
		return keep(m.get32(in.src)&in.mask == in.val)
	case opCmpFastNeq:
		return keep(m.get32(in.src)&in.mask != in.val)
	case opCmp16, opCmp16Neq:
		return keep(m.equal16(in) != in.inv)
	case opCmp:
		return keep(compare(in.sub, bytes.Compare(m.bytes(in.src, int(in.len)), m.prog.data[in.off:in.off+uint32(in.len)])))
	case opRange:
		return m.rangeOf(in)
	case opBitwiseFast:
		m.put32(in.dst, m.get32(in.src)&in.mask^in.val)
		return outNext
	case opBitwise:
		return m.bitwise(in)
	case opByteorder:
		return m.byteorder(in)
	case opImmediate4:
		m.put32(in.dst, in.val)
		return outNext
	case opImmediate:
		n := int(in.len)
		copy(m.bytes(in.dst, n), m.prog.data[in.off:])
		m.zeroTail(in.dst, n)
		return outNext
	case opVerdict:
		return m.verdictOf(catalog.VerdictKind(int32(in.val)), in.off, in)
	case opMeta, opL4Proto, opNFProto, opMark, opIIFName:
		return m.meta(in)
	case opMetaSet:
		return m.metaSet(in)
	case opCT, opCTState:
		return m.ct(in)
	case opCTSet:
		return m.ctSet(in)
	case opLookup:
		return m.lookup(in)
	case opDynset:
		return m.dynset(in)
	case opObjref:
		return m.objref(in)
	case opCounter:
		m.counters[in.ref].add(m.pkt.Length)
		return outNext
	case opLimit:
		return keep(m.prog.limits[in.ref].allow(m.Now, m.pkt.Length))
	case opQuota:
		return keep(m.prog.quotas[in.ref].allow(m.pkt.Length))
	case opConnLimit:
		return m.connLimit(m.prog.conns[in.ref], in)
	case opLast:
		last := m.prog.lasts[in.ref]
		last.set, last.at = true, m.Now
		return outNext
	case opNumgen:
		return m.numgen(in)
	case opHash:
		return m.hash(in)
	case opExthdr, opExthdrWrite:
		return m.exthdr(in)
	case opInner:
		return m.inner(in)
	case opFib:
		return m.fib(in)
	case opRT:
		return m.rt(in)
	case opSocket, opOSF, opTunnel:
		return outBreak // no socket, fingerprint or tunnel metadata is known
	case opXFRM:
		return outBreak // no packet came through IPsec
	}
	return m.action(in)
}

func keep(matched bool) outcome {
	if matched {
		return outNext
	}
	return outBreak
}

// equal16 compares up to 16 bytes as two words under masks.
// Ref: nft_cmp.c, nft_cmp16_fast_eval.
func (m *Machine) equal16(in *inst) bool {
	return m.masked16((*[16]byte)(m.regs[in.src:int(in.src)+16]), in)
}

// masked16 compares a value under a mask with an instruction's constant.
func (m *Machine) masked16(value *[16]byte, in *inst) bool {
	constant := (*[32]byte)(m.prog.data[in.off:])
	word := binary.LittleEndian.Uint64
	return word(value[:8])&word(constant[16:]) == word(constant[:]) &&
		word(value[8:])&word(constant[24:]) == word(constant[8:])
}

// compare evaluates a relation on the result of a bytewise comparison.
// Ref: nft_cmp.c, nft_cmp_eval.
func compare(op uint8, order int) bool {
	switch op {
	case 0:
		return order == 0
	case 1:
		return order != 0
	case 2:
		return order < 0
	case 3:
		return order <= 0
	case 4:
		return order > 0
	}
	return order >= 0
}

// payload loads packet bytes.
// Ref: nft_payload.c, nft_payload_eval.
func (m *Machine) payload(in *inst) outcome {
	n := int(in.len)
	if m.Before71 && m.pkt.View.FragOff != 0 && packet.Base(in.sub) == packet.BaseTransport && fastLoad(in) {
		return m.fragmentLoad(in)
	}
	switch m.pkt.View.Load(packet.Base(in.sub), int(in.off), n, m.bytes(in.dst, n)) {
	case packet.OK:
		m.zeroTail(in.dst, n)
		return outNext
	case packet.Cut:
		return outCut
	}
	return outBreak
}

// rangeOf compares with a closed interval. Ref: nft_range.c, nft_range_eval.
func (m *Machine) rangeOf(in *inst) outcome {
	n := uint32(in.len)
	value := m.bytes(in.src, int(n))
	bounds := m.prog.data[in.off : in.off+2*n]
	inside := bytes.Compare(value, bounds[:n]) >= 0 && bytes.Compare(value, bounds[n:]) <= 0
	return keep(inside != in.inv)
}

// bitwise computes word by word. Ref: nft_bitwise.c.
func (m *Machine) bitwise(in *inst) outcome {
	n := int(in.len)
	words := (n + 3) / 4
	src, dst := m.bytes(in.src, 4*words), m.bytes(in.dst, 4*words)
	var data []byte
	if in.sub >= bitwiseAnd && in.inv { // the second operand is a register
		data = m.bytes(uint8(in.off), 4*words)
	} else {
		data = m.prog.data[in.off:]
	}
	word := func(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	switch in.sub {
	case bitwiseMaskXor:
		for i := range words {
			binary.LittleEndian.PutUint32(dst[4*i:], word(src, i)&word(data, i)^word(data, words+i))
		}
	case bitwiseLshift:
		carry := uint32(0)
		for i := words - 1; i >= 0; i-- {
			w := word(src, i)
			binary.LittleEndian.PutUint32(dst[4*i:], w<<in.val|carry)
			carry = w >> (32 - in.val)
		}
	case bitwiseRshift:
		carry := uint32(0)
		for i := range words {
			w := word(src, i)
			binary.LittleEndian.PutUint32(dst[4*i:], w>>in.val|carry)
			carry = w << (32 - in.val)
		}
	default:
		for i := range words {
			a, b := word(src, i), word(data, i)
			switch in.sub {
			case bitwiseAnd:
				a &= b
			case bitwiseOr:
				a |= b
			case bitwiseXor:
				a ^= b
			}
			binary.LittleEndian.PutUint32(dst[4*i:], a)
		}
	}
	return outNext
}

// The operations of bitwise, as expr.BitwiseOp numbers them.
const (
	bitwiseMaskXor = iota
	bitwiseLshift
	bitwiseRshift
	bitwiseAnd
	bitwiseOr
	bitwiseXor
)

// byteorder swaps the bytes of one element; 16-bit elements lie in the first
// two bytes of their word. Ref: nft_byteorder.c, nft_byteorder_eval.
func (m *Machine) byteorder(in *inst) outcome {
	for i := 0; i < int(in.len); i += int(in.sub) {
		src, dst := m.bytes(in.src+uint8(i), int(in.sub)), m.bytes(in.dst+uint8(i), int(in.sub))
		switch in.sub {
		case 2:
			binary.LittleEndian.PutUint16(dst, binary.BigEndian.Uint16(src))
		case 4:
			binary.LittleEndian.PutUint32(dst, binary.BigEndian.Uint32(src))
		case 8:
			binary.LittleEndian.PutUint64(dst, binary.BigEndian.Uint64(src))
		}
	}
	return outNext
}

// numgen counts or draws. Ref: nft_numgen.c.
func (m *Machine) numgen(in *inst) outcome {
	n := m.prog.numgens[in.ref]
	if n.random {
		m.put32(in.dst, n.offset+uint32(uint64(m.Rand.Uint32())*uint64(n.mod)>>32))
		return outNext
	}
	m.put32(in.dst, n.next())
	return outNext
}
