package tc

import (
	"encoding/binary"
	"net"
)

// peditField is a named field of a header.
type peditField struct {
	off    int32
	bits   int // 8, 16, 32, 48 (link address), 128
	retain uint32
}

var peditFields = map[string]map[string]peditField{
	"ip": {
		"src": {12, 32, 0xffffffff}, "dst": {16, 32, 0xffffffff}, "tos": {1, 8, 0xff}, "dsfield": {1, 8, 0xff},
		"traffic_class": {1, 8, 0xff}, "ihl": {0, 8, 0x0f}, "protocol": {9, 8, 0xff}, "ttl": {8, 8, 0xff},
		"precedence": {1, 8, 0xff}, "nofrag": {6, 8, 0x3f}, "firstfrag": {6, 8, 0x1f}, "ce": {6, 8, 0x80},
		"df": {6, 8, 0x40}, "mf": {6, 8, 0x20}, "dport": {22, 16, 0xffff}, "sport": {20, 16, 0xffff},
		"icmp_type": {20, 8, 0xff}, "icmp_code": {21, 8, 0xff},
	},
	"ip6": {
		"src": {8, 128, 0xffffffff}, "dst": {24, 128, 0xffffffff}, "flow_lbl": {0, 32, 0x000fffff},
		"payload_len": {4, 16, 0xffff}, "nexthdr": {6, 8, 0xff}, "hoplimit": {7, 8, 0xff},
		"traffic_class": {0, 16, 0x0ff0},
	},
	"eth":  {"dst": {0, 48, 0xffffffff}, "src": {6, 48, 0xffffffff}, "type": {12, 16, 0xffff}},
	"tcp":  {"sport": {0, 16, 0xffff}, "dport": {2, 16, 0xffff}, "flags": {13, 8, 0xff}},
	"udp":  {"sport": {0, 16, 0xffff}, "dport": {2, 16, 0xffff}},
	"icmp": {"type": {0, 8, 0xff}, "code": {1, 8, 0xff}},
}

var peditBase = map[string]uint8{"ip": peditIP4, "ip6": peditIP6, "eth": peditEth, "tcp": peditTCP, "udp": peditUDP, "icmp": peditRaw}

func parsePedit(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "pedit"); err != nil {
		return nil, err
	}
	pe := &pedit{}
	r := &actionRequest{params: pe}
	if w.matches("ex") {
		pe.extended = true
		w.skip()
	}
	for w.matches("munge") {
		w.skip()
		header := w.peek()
		if err := pe.munge(w); err != nil {
			if err.Ends {
				return nil, err
			}
			return nil, tool("%s\nBad pedit construct (%s)\nUsage: ... pedit munge [ex] <MUNGE> [CONTROL]", "bad pedit parsing", header)
		}
	}
	if len(pe.keys) == 0 && !w.matches("index") {
		return nil, tool("pedit: munge is missing")
	}
	r.lookup = len(pe.keys) == 0
	return r, r.finish(w, "pedit", OK)
}

// munge reads one change.
func (pe *pedit) munge(w *words) *ToolError {
	if w.is("offset") {
		return pe.rawMunge(w)
	}
	name := w.peek()
	fields, ok := peditFields[name]
	if !ok {
		return tool("pedit: unknown header %s", name)
	}
	field, err := w.value()
	if err != nil {
		return err
	}
	f, ok := fields[field]
	if !ok {
		for full := range fields {
			if len(field) >= 2 && prefix(field, full) && full != "dsfield" {
				f, ok = fields[full], true
			}
		}
	}
	if !ok {
		return tool("pedit: unknown field %s of %s", field, name)
	}
	header := peditBase[name]
	if !pe.extended {
		header = peditRaw
	}
	return pe.command(w, header, f, peditKey{})
}

// rawMunge reads "offset N u8|u16|u32 [at ...] COMMAND".
func (pe *pedit) rawMunge(w *words) *ToolError {
	text, err := w.value()
	if err != nil {
		return err
	}
	n, ok := signed(text)
	if !ok {
		return tool("pedit: bad offset %s", text)
	}
	width, err := w.take()
	if err != nil {
		return err
	}
	bits := map[string]int{"u8": 8, "u16": 16, "u32": 32}[width]
	if bits == 0 {
		return tool("pedit: bad length %s", width)
	}
	var k peditKey
	if w.is("at") {
		if err := k.parseAt(w); err != nil {
			return err
		}
	}
	return pe.command(w, peditRaw, peditField{off: n, bits: bits, retain: uint32(1<<bits - 1)}, k)
}

func (k *peditKey) parseAt(w *words) *ToolError {
	text, err := w.value()
	if err != nil {
		return err
	}
	n, ok := signed(text)
	k.at = n
	for _, part := range []struct {
		word string
		to   *uint32
	}{{"offmask", &k.offMask}, {"shift", &k.shift}} {
		if !w.is(part.word) {
			continue
		}
		if text, err = w.value(); err != nil {
			return err
		}
		good := false
		if *part.to, good = number32(text, 0); !good {
			ok = false
		}
	}
	if !ok {
		return tool("pedit: bad at")
	}
	return nil
}

// command reads what is done to a field.
func (pe *pedit) command(w *words, header uint8, f peditField, k peditKey) *ToolError {
	cmd, err := w.take()
	if err != nil {
		return err
	}
	full := uint32(1<<f.bits - 1)
	if f.bits > 32 {
		full = 0xffffffff
	}
	values := []uint32{0}
	var mask uint32
	switch {
	case prefix(cmd, "set") || prefix(cmd, "add"):
		text, err := w.take()
		if err != nil {
			return err
		}
		if cmd[0] == 'a' {
			if k.add = true; !pe.extended {
				return tool("Non extended mode. only 'set' command is supported")
			}
		}
		var ok bool
		if values, ok = peditValue(text, f); !ok {
			return tool("pedit: bad value %s", text)
		}
	case prefix(cmd, "clear"):
		values = make([]uint32, (f.bits+31)/32)
	case prefix(cmd, "invert"):
		values, mask = []uint32{full}, full
	case prefix(cmd, "preserve"):
		mask = full
	case prefix(cmd, "decrement"):
		if f.bits != 8 || !pe.extended {
			return tool("pedit: decrement command is not supported for this field")
		}
		values, k.add = []uint32{0xff}, true
	default:
		return tool("pedit: unknown command %s", cmd)
	}
	retain := f.retain
	if w.is("retain") {
		text, err := w.value()
		if err != nil {
			return err
		}
		n, ok := number32(text, 0)
		if !ok {
			return tool("pedit: bad retain %s", text)
		}
		retain = n
	}
	k.header, k.off = header, f.off
	return pe.pack(k, f, values, mask, retain)
}

// peditValue reads a field's value as words, the most significant first.
func peditValue(text string, f peditField) ([]uint32, bool) {
	switch f.bits {
	case 48:
		mac, err := net.ParseMAC(text)
		if err != nil || len(mac) != 6 {
			return nil, false
		}
		var b [8]byte
		copy(b[:], mac)
		if f.off%4 != 0 {
			copy(b[2:], mac)
			b[0], b[1] = 0, 0
		}
		return []uint32{binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint32(b[4:])}, true
	case 128:
		a, _, ok := ipPrefix(text, true)
		if !ok {
			return nil, false
		}
		b := a.As16()
		v := make([]uint32, 4)
		for i := range v {
			v[i] = binary.BigEndian.Uint32(b[4*i:])
		}
		return v, true
	}
	if f.bits == 32 {
		if a, _, ok := ipPrefix(text, false); ok && (len(text) > 6 && containsDot(text)) {
			b := a.As4()
			return []uint32{binary.BigEndian.Uint32(b[:])}, true
		}
	}
	n, ok := number32(text, 0)
	return []uint32{n}, ok && (f.bits == 32 || n < 1<<f.bits)
}

func containsDot(s string) bool {
	for i := range s {
		if s[i] == '.' {
			return true
		}
	}
	return false
}

// pack makes keys of 32-bit words.
func (pe *pedit) pack(k peditKey, f peditField, values []uint32, mask, retain uint32) *ToolError {
	switch f.bits {
	case 8, 16:
		at := uint(k.off & 3)
		if f.bits == 16 && at == 3 {
			return tool("pedit: field crosses a word")
		}
		stride := uint(32-f.bits) - 8*at
		outside := ^(uint32(1<<f.bits-1) << stride)
		k.value = values[0] & retain << stride
		k.mask = (mask|^retain)<<stride | outside
		k.off &^= 3
		pe.keys = append(pe.keys, k)
	case 48:
		pe.packMAC(k, values)
	default:
		for i, v := range values {
			key := k
			key.off += int32(4 * i)
			key.value, key.mask = v&retain, mask|^retain
			pe.keys = append(pe.keys, key)
		}
	}
	return nil
}

// packMAC makes two keys, since an address is one word and a half.
func (pe *pedit) packMAC(k peditKey, values []uint32) {
	masks := [2]uint32{0, 0x0000ffff}
	if k.off%4 != 0 {
		masks = [2]uint32{0xffff0000, 0}
		k.off -= 2
	}
	for i, v := range values {
		key := k
		key.off += int32(4 * i)
		key.value, key.mask = v, masks[i]
		pe.keys = append(pe.keys, key)
	}
}

// signed reads a number that may be negative.
func signed(s string) (int32, bool) {
	if len(s) > 1 && s[0] == '-' {
		n, ok := number(s[1:], 0, 31)
		return -int32(n), ok
	}
	n, ok := number(s, 0, 31)
	return int32(n), ok
}
