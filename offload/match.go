package offload

import (
	"fmt"
	"strings"
)

// Match is what a rule tests: the groups of fields it uses, values and masks.
// A nil Mask matches every packet.
type Match struct {
	Used KeySet
	Key  *Key
	Mask *Key
}

// Matches compares the fields of a packet. Ranges of ports are compared by
// their bounds.
func (m *Match) Matches(packet *Key) bool {
	if m.Mask == nil {
		return true
	}
	if m.Used.Has(KeyPortsRange) && !(m.inRange(packet, FieldRangeSrc, FieldRangeSrcMin, FieldRangeSrcMax) &&
		m.inRange(packet, FieldRangeDst, FieldRangeDstMin, FieldRangeDstMax)) {
		return false
	}
	for _, f := range fields {
		switch f {
		case FieldRangeSrcMin, FieldRangeSrcMax, FieldRangeDstMin, FieldRangeDstMax:
			continue
		}
		for i := f.Off; i < f.Off+f.Len; i++ {
			if (packet[i]^m.Key[i])&m.Mask[i] != 0 {
				return false
			}
		}
	}
	return true
}

func (m *Match) inRange(packet *Key, port, low, high Field) bool {
	if !m.Mask.IsSet(low) || !m.Mask.IsSet(high) {
		return true
	}
	n := word(packet.Get(port))
	return word(m.Key.Get(low)) <= n && n <= word(m.Key.Get(high))
}

func word(b []byte) int { return int(b[0])<<8 | int(b[1]) }

// UsedKeys derives the groups from a mask, as a classifier does when it makes
// its dissector: control and basic always, others where a bit is set. addrType
// tells what the addresses are.
//
// Ref: cls_flower.c, fl_init_dissector
func UsedKeys(mask *Key, addrType, encAddrType byte) KeySet {
	used := Keys(KeyControl, KeyBasic)
	for _, f := range fields {
		if !mask.IsSet(f) {
			continue
		}
		id := f.ID
		switch {
		case id == KeyIPv6 && addrType == AddrIPv4:
			id = KeyIPv4
		case id == KeyEncIPv6 && encAddrType == AddrIPv4:
			id = KeyEncIPv4
		}
		used |= 1 << id
	}
	if used&Keys(KeyEncIPv4, KeyEncIPv6) != 0 {
		used |= 1 << KeyEncControl
	}
	return used
}

// String writes the fields that are tested, in the order of keys, each with its
// mask unless all bits count.
func (m *Match) String() string {
	if m.Mask == nil {
		return "every packet"
	}
	var words []string
	for _, f := range fields {
		if !m.Mask.IsSet(f) || f == FieldAddrType {
			continue
		}
		key, mask := m.Key.Get(f), m.Mask.Get(f)
		if f.ID == KeyIPv6 && m.Key.Get(FieldAddrType)[0] == AddrIPv4 {
			key, mask = key[:4], mask[:4]
		}
		text := fmt.Sprintf("%s 0x%x", f.Name, key)
		if leading(mask) != 8*len(mask) {
			text += fmt.Sprintf("/0x%x", mask)
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		return "every packet"
	}
	return strings.Join(words, ", ")
}
