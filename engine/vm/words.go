package vm

import (
	"encoding/binary"
	"math/bits"
)

// words executes loads of up to four bytes and the compares behind them, from
// an instruction on. It returns the first one that does something else, or
// whose bytes are not there, which is for step to judge. It calls nothing, so
// that what the loop works on stays in the processor's registers.
func (m *Machine) words(pc uint32) uint32 {
	code := m.code
	for {
		in := &code[pc]
		var value uint32
		switch in.op {
		case opNetwork4:
			at := int(in.off)
			if at+4 > len(m.network) {
				return pc
			}
			value = binary.LittleEndian.Uint32(m.network[at:])
		case opNetwork2:
			at := int(in.off)
			if at+2 > len(m.network) {
				return pc
			}
			value = uint32(binary.LittleEndian.Uint16(m.network[at:]))
		case opNetwork1:
			at := int(in.off)
			if at >= len(m.network) {
				return pc
			}
			value = uint32(m.network[at])
		case opTransport4:
			at := int(in.off)
			if at+4 > len(m.transport) {
				return pc
			}
			value = binary.LittleEndian.Uint32(m.transport[at:])
		case opTransport2:
			at := int(in.off)
			if at+2 > len(m.transport) {
				return pc
			}
			value = uint32(binary.LittleEndian.Uint16(m.transport[at:]))
		case opTransport1:
			at := int(in.off)
			if at >= len(m.transport) {
				return pc
			}
			value = uint32(m.transport[at])
		case opL4Proto:
			if !m.pkt.View.L4OK {
				return pc
			}
			value = uint32(m.pkt.View.L4Proto)
		case opNFProto:
			value = uint32(m.pkt.Family)
		case opMark:
			value = m.pkt.Meta.Mark
		case opCTState:
			if m.pkt.CT.Unknown() {
				return pc
			}
			value = m.pkt.CT.State()
		case opBitwiseFast:
			value = m.get32(in.src)&in.mask ^ in.val
		case opCmpFast, opCmpFastNeq:
			pc++
			if (m.get32(in.src)&in.mask == in.val) == in.inv {
				pc = in.next
			}
			continue
		case opIIFNameIs:
			if binary.LittleEndian.Uint32(m.pkt.Meta.IIF.Name[:4])&in.mask == in.val {
				return pc // the rest of the name decides
			}
			pc++
			if !in.inv {
				pc = in.next
			}
			continue
		case opImmediate4:
			m.put32(in.dst, in.val)
			pc++
			continue
		default:
			return pc
		}
		m.put32(in.dst, value)
		pc++
		if in.fused == alone {
			continue
		}
		for {
			compare := &code[pc]
			pc++
			holds := value&compare.mask == compare.val
			if compare.op == opWithin {
				holds = inSpans(bits.ReverseBytes32(value)>>((32-8*uint32(compare.len))&31), m.prog.spans[compare.off:compare.ref])
			}
			if holds != compare.inv {
				break
			}
			pc = compare.next
			if compare.fused != sameLoad {
				break
			}
		}
	}
}
