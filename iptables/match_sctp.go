package iptables

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/packet"
)

func init() {
	registerMatch(&extension{name: "sctp", match: func(family) Match { return &sctpMatch{source: allPorts, destination: allPorts} },
		protocol: []uint8{packet.ProtoSCTP}, options: []option{
			optNot("sport source-port", 1, func(x *sctpMatch, s *setting) { x.source = portTest{s.ports(s.word(0)), s.not} }),
			optNot("dport destination-port", 1, func(x *sctpMatch, s *setting) { x.destination = portTest{s.ports(s.word(0)), s.not} }),
			optNot("chunk-types", 2, (*sctpMatch).readChunks),
		}})
	registerMatch(&extension{name: "dccp", match: func(family) Match { return &dccpMatch{source: allPorts, destination: allPorts} },
		protocol: []uint8{packet.ProtoDCCP}, options: []option{
			optNot("sport source-port", 1, func(x *dccpMatch, s *setting) { x.source = portTest{s.ports(s.word(0)), s.not} }),
			optNot("dport destination-port", 1, func(x *dccpMatch, s *setting) { x.destination = portTest{s.ports(s.word(0)), s.not} }),
			optNot("dccp-types", 1, func(x *dccpMatch, s *setting) {
				for _, i := range s.list(dccpTypes, "DCCP type") {
					x.types |= 1 << i
				}
				x.not = s.not
			}),
		}})
}

// sctpMatch is -m sctp. Ref: xt_sctp.c.
type sctpMatch struct {
	source, destination portTest
	mode                string // any, all, only; "" without a test of chunks
	notChunks           bool
	chunks              []chunkTest
}

// chunkTest is a type of chunk with flags that must and must not be set.
type chunkTest struct {
	number     uint8
	mask, want uint8
}

// sctpChunks are the names of chunks with their numbers and flag letters, from
// the lowest bit.
var sctpChunks = []struct {
	name, nft string
	number    uint8
	flags     string
}{
	{"DATA", "data", 0, "EBUI"}, {"INIT", "init", 1, ""}, {"INIT_ACK", "init-ack", 2, ""}, {"SACK", "sack", 3, ""},
	{"HEARTBEAT", "heartbeat", 4, ""}, {"HEARTBEAT_ACK", "heartbeat-ack", 5, ""}, {"ABORT", "abort", 6, "T"},
	{"SHUTDOWN", "shutdown", 7, ""}, {"SHUTDOWN_ACK", "shutdown-ack", 8, ""}, {"ERROR", "error", 9, ""},
	{"COOKIE_ECHO", "cookie-echo", 10, ""}, {"COOKIE_ACK", "cookie-ack", 11, ""}, {"ECN_ECNE", "ecne", 12, ""},
	{"ECN_CWR", "cwr", 13, ""}, {"SHUTDOWN_COMPLETE", "shutdown-complete", 14, "T"}, {"I_DATA", "i-data", 64, ""},
	{"RE_CONFIG", "re-config", 130, ""}, {"PAD", "pad", 132, ""}, {"ASCONF", "asconf", 193, ""},
	{"ASCONF_ACK", "asconf-ack", 128, ""}, {"FORWARD_TSN", "forward-tsn", 192, ""}, {"I_FORWARD_TSN", "i-forward-tsn", 194, ""},
}

func (x *sctpMatch) readChunks(s *setting) {
	x.mode, x.notChunks = strings.ToLower(s.word(0)), s.not
	if x.mode != "any" && x.mode != "all" && x.mode != "only" {
		s.fail("write any, all or only before the list of chunks")
		return
	}
	for _, item := range strings.Split(s.word(1), ",") {
		name, flags, _ := strings.Cut(item, ":")
		switch strings.ToUpper(name) {
		case "ALL":
			for _, c := range sctpChunks {
				x.chunks = append(x.chunks, chunkTest{number: c.number})
			}
			continue
		case "NONE":
			continue
		}
		x.chunk(s, name, flags)
	}
	x.sortChunks()
}

func (x *sctpMatch) chunk(s *setting, name, flags string) {
	for _, c := range sctpChunks {
		if !strings.EqualFold(c.name, name) {
			continue
		}
		t := chunkTest{number: c.number}
		for _, letter := range flags {
			i := strings.IndexRune(c.flags, letter&^0x20)
			if i < 0 {
				s.fail("chunk %s has no flag %c", c.name, letter)
				return
			}
			t.mask |= 1 << i
			if letter < 'a' {
				t.want |= 1 << i
			}
		}
		x.chunks = append(x.chunks, t)
		return
	}
	s.fail("%s is no SCTP chunk", name)
}

// sortChunks orders chunks as the table of names does.
func (x *sctpMatch) sortChunks() {
	var sorted []chunkTest
	for _, c := range sctpChunks {
		for _, t := range x.chunks {
			if t.number == c.number {
				sorted = append(sorted, t)
				break
			}
		}
	}
	x.chunks = sorted
}

func (x *sctpMatch) Name() string { return "sctp" }

func (x *sctpMatch) appendSave(b []byte) []byte {
	b = x.destination.appendSave(x.source.appendSave(b, "sport"), "dport")
	if x.mode == "" {
		return b
	}
	b = fmt.Appendf(appendNot(b, x.notChunks), " --chunk-types %s ", x.mode)
	if len(x.chunks) == 0 {
		return append(b, "NONE"...)
	}
	if len(x.chunks) == len(sctpChunks) {
		return append(b, "ALL"...)
	}
	for i, t := range x.chunks {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.append(b)
	}
	return b
}

func (t chunkTest) append(b []byte) []byte {
	for _, c := range sctpChunks {
		if c.number != t.number {
			continue
		}
		b = append(b, c.name...)
		if t.mask != 0 {
			b = append(b, ':')
		}
		for i := len(c.flags) - 1; i >= 0; i-- {
			switch {
			case t.mask&(1<<i) == 0:
			case t.want&(1<<i) != 0:
				b = append(b, c.flags[i])
			default:
				b = append(b, c.flags[i]|0x20)
			}
		}
	}
	return b
}

func (x *sctpMatch) translate(t *translator) bool {
	x.source.translate(t, "sctp sport")
	x.destination.translate(t, "sctp dport")
	switch {
	case x.mode == "":
		return true
	case x.mode == "any", x.notChunks:
		return t.fail("nft has no test of any of several chunks")
	case x.mode == "only" && !t.reference:
		return t.fail("nft cannot say that no other chunk is there")
	}
	for _, c := range sctpChunks {
		listed, test := false, chunkTest{}
		for _, candidate := range x.chunks {
			if candidate.number == c.number {
				listed, test = true, candidate
			}
		}
		switch {
		case listed && test.mask != 0:
			t.addf("sctp chunk %s flags & %#x == %#x", c.nft, test.mask, test.want)
		case listed:
			t.addf("sctp chunk %s exists", c.nft)
		case x.mode == "only":
			t.addf("sctp chunk %s missing", c.nft)
		}
	}
	return true
}

func (x *sctpMatch) matches(m *Machine) result {
	h, is := m.transport(12, 4)
	if is != resultTrue {
		return is
	}
	if !x.source.matches(uint32(h[0])<<8|uint32(h[1])) || !x.destination.matches(uint32(h[2])<<8|uint32(h[3])) {
		return resultFalse
	}
	if x.mode == "" {
		return resultTrue
	}
	found, is := x.walk(m)
	if is != resultTrue {
		return is
	}
	return truth(found != x.notChunks)
}

// walk goes through the chunks. Ref: xt_sctp.c, match_packet.
func (x *sctpMatch) walk(m *Machine) (bool, result) {
	var seen [4]uint64
	for at := m.thoff + 12; ; {
		h, is := m.bytes(at, 4, 4)
		if is != resultTrue {
			return false, is
		}
		size := int(h[2])<<8 | int(h[3])
		if size == 0 {
			return false, resultDrop
		}
		fits := x.fits(h[0], h[1])
		switch {
		case fits && x.mode == "any":
			return true, resultTrue
		case fits:
			seen[h[0]>>6] |= 1 << (h[0] & 63)
		case x.mode == "only":
			return false, resultTrue
		}
		at += (size + 3) &^ 3
		if at >= m.pkt.View.End {
			break
		}
	}
	if x.mode == "any" {
		return false, resultTrue
	}
	if x.mode == "all" {
		for _, t := range x.chunks {
			if seen[t.number>>6]>>(t.number&63)&1 == 0 {
				return false, resultTrue
			}
		}
	}
	return true, resultTrue
}

func (x *sctpMatch) fits(number, flags uint8) bool {
	for _, t := range x.chunks {
		if t.number == number {
			return flags&t.mask == t.want
		}
	}
	return false
}

// dccpMatch is -m dccp. Ref: xt_dccp.c.
type dccpMatch struct {
	source, destination portTest
	types               uint16 // bits, 0: no test
	not                 bool
}

var dccpTypes = []string{"REQUEST", "RESPONSE", "DATA", "ACK", "DATAACK", "CLOSEREQ", "CLOSE", "RESET", "SYNC", "SYNCACK"}

func (x *dccpMatch) Name() string { return "dccp" }

func (x *dccpMatch) names() []string {
	var list []string
	for i, n := range dccpTypes {
		if x.types&(1<<i) != 0 {
			list = append(list, n)
		}
	}
	return list
}

func (x *dccpMatch) appendSave(b []byte) []byte {
	b = x.destination.appendSave(x.source.appendSave(b, "sport"), "dport")
	if x.types != 0 {
		b = fmt.Appendf(appendNot(b, x.not), " --dccp-types %s", strings.Join(x.names(), ","))
	}
	return b
}

func (x *dccpMatch) translate(t *translator) bool {
	x.source.translate(t, "dccp sport")
	x.destination.translate(t, "dccp dport")
	if names := lower(x.names()); len(names) == 1 {
		t.addf("dccp type %s%s", t.not(x.not), names[0])
	} else if len(names) > 1 {
		t.addf("dccp type %s{ %s }", t.not(x.not), strings.Join(names, ", "))
	}
	return true
}

func (x *dccpMatch) matches(m *Machine) result {
	h, is := m.transport(12, 9)
	if is != resultTrue {
		return is
	}
	kind := h[8] >> 1 & 15
	if !x.source.matches(uint32(h[0])<<8|uint32(h[1])) || !x.destination.matches(uint32(h[2])<<8|uint32(h[3])) {
		return resultFalse
	}
	return truth(x.types == 0 || (x.types>>kind&1 == 1) != x.not)
}

// family shortens the signatures of constructors.
type family = catalog.Family
