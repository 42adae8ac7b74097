package catalog

import (
	"strings"
	"testing"
)

func TestTypesAreConsistent(t *testing.T) {
	names := map[string]*Type{}
	for i, ty := range Types {
		if int(ty.ID) != i+1 {
			t.Errorf("%s has number %d at place %d", ty.Name, ty.ID, i+1)
		}
		if other := names[ty.Name]; other != nil && !(ty == Date && other == Time) {
			t.Errorf("two types are named %s", ty.Name)
		}
		names[ty.Name] = ty
		if ty.Description == "" {
			t.Errorf("%s has no description", ty.Name)
		}
		if TypeByID(ty.ID) != ty {
			t.Errorf("number %d does not find %s", ty.ID, ty.Name)
		}
		if ty.Bits > 8 && ty.Order == OrderNone && !ty.IsA(String) {
			t.Errorf("%s has %d bits and no byte order", ty.Name, ty.Bits)
		}
		if ty.Bitmask != ty.IsA(Bitmask) {
			t.Errorf("%s: Bitmask is %v, derives from bitmask: %v", ty.Name, ty.Bitmask, ty.IsA(Bitmask))
		}
		checkSymbols(t, ty.Name, ty.Symbols, ty.Bits)
	}
	checkSymbols(t, "mptcp subtype", MPTCPSubtype.Symbols, MPTCPSubtype.Bits)
	checkSymbols(t, "log level", append(LogLevels, LogLevelAliases...), 32)
}

func checkSymbols(t *testing.T, where string, symbols []Symbol, bits int) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range symbols {
		if s.Name == "" || seen[s.Name] {
			t.Errorf("%s: symbol %q is empty or there twice", where, s.Name)
		}
		seen[s.Name] = true
		if bits < 64 && s.Value>>bits != 0 {
			t.Errorf("%s: value %#x of %s has more than %d bits", where, s.Value, s.Name, bits)
		}
	}
}

func TestTypeLookups(t *testing.T) {
	for _, c := range []struct {
		got, want *Type
	}{
		{TypeByName("ipv4_addr"), IPv4Addr},
		{TypeByName("time"), Time},
		{TypeByName("no_such"), nil},
		{TypeByID(7), IPv4Addr},
		{TypeByID(0), nil},
		{TypeByID(47), nil},
		{TypeByID(VerdictTypeID), Verdict},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestConcatID(t *testing.T) {
	parts := []*Type{IPv4Addr, InetService, IfName}
	id := ConcatID(parts)
	if want := uint32(7<<12 | 13<<6 | 41); id != want {
		t.Errorf("number %#x, want %#x", id, want)
	}
	got := ConcatTypes(id)
	if len(got) != 3 || got[0] != IPv4Addr || got[1] != InetService || got[2] != IfName {
		t.Errorf("parts %v", got)
	}
	if got := ConcatTypes(63); got != nil {
		t.Errorf("unknown number gives %v", got)
	}
	if got := ConcatTypes(VerdictTypeID); len(got) != 1 || got[0] != Verdict {
		t.Errorf("verdict number gives %v", got)
	}
}

func TestSymbolLookups(t *testing.T) {
	if v, ok := CTState.SymbolByName("established"); !ok || v != 2 {
		t.Errorf("established: %d %v", v, ok)
	}
	if n, ok := EtherType.SymbolByValue(0x8100); !ok || n != "8021q" {
		t.Errorf("0x8100: the first name counts, got %q %v", n, ok)
	}
	if n, ok := InetProto.SymbolByValue(58); !ok || n != "ipv6-icmp" {
		t.Errorf("protocol 58: %q %v", n, ok)
	}
	if v, ok := InetService.SymbolByName("ssh"); !ok || v != 22 {
		t.Errorf("ssh: %d %v", v, ok)
	}
	if _, ok := CTState.SymbolByName("nope"); ok {
		t.Error("found a state that does not exist")
	}
}

// headerBytes are the sizes of the headers; fields must lie inside.
var headerBytes = map[string]int{
	"ether": 14, "vlan": 4, "arp": 28, "ip": 20, "ip6": 40, "icmp": 8, "icmpv6": 40, "igmp": 8, "tcp": 20, "udp": 8,
	"udplite": 8, "sctp": 12, "dccp": 16, "th": 4, "esp": 8, "ah": 12, "comp": 4, "vxlan": 8, "geneve": 8, "gre": 4, "gretap": 4,
}

func TestProtocolsAreConsistent(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Protocols {
		if names[p.Name] {
			t.Errorf("two protocols are named %s", p.Name)
		}
		names[p.Name] = true
		if ProtocolByName(p.Name) != p {
			t.Errorf("name %s finds another protocol", p.Name)
		}
		size, ok := headerBytes[p.Name]
		if !ok {
			t.Errorf("%s: size unknown to this test", p.Name)
		}
		fields := map[string]bool{}
		for i := range p.Fields {
			f := &p.Fields[i]
			if fields[f.Name] {
				t.Errorf("%s has two fields %s", p.Name, f.Name)
			}
			fields[f.Name] = true
			if f.Bits <= 0 || f.Offset < 0 || f.Offset+f.Bits > 8*size {
				t.Errorf("%s %s: bits %d+%d do not lie in a header of %d bytes", p.Name, f.Name, f.Offset, f.Bits, size)
			}
			if f.Type == nil {
				t.Errorf("%s %s has no type", p.Name, f.Name)
				continue
			}
			if f.Type.Bits != 0 && f.Type.Bits != f.Bits {
				t.Errorf("%s %s has %d bits, its type %d", p.Name, f.Name, f.Bits, f.Type.Bits)
			}
			if f.Bits > 8 && f.ByteOrder() != OrderNetwork {
				t.Errorf("%s %s is not in network order", p.Name, f.Name)
			}
			if p.FieldByName(f.Name) != f {
				t.Errorf("%s: name %s finds another field", p.Name, f.Name)
			}
		}
		checkSelector(t, p)
		if (p.ChecksumOffset >= 0) != (p.ChecksumType != ChecksumNone) || p.ChecksumOffset >= size {
			t.Errorf("%s: checksum of type %d at %d", p.Name, p.ChecksumType, p.ChecksumOffset)
		}
	}
	if len(names) != len(headerBytes) {
		t.Errorf("%d protocols, %d known to this test", len(names), len(headerBytes))
	}
}

func checkSelector(t *testing.T, p *Protocol) {
	t.Helper()
	if p.Selector < 0 {
		if p.Upper != nil {
			t.Errorf("%s announces protocols without a selector", p.Name)
		}
		return
	}
	if p.Selector >= len(p.Fields) || len(p.Upper) == 0 {
		t.Errorf("%s: selector %d, %d announced protocols", p.Name, p.Selector, len(p.Upper))
		return
	}
	f := p.Fields[p.Selector]
	if f.Type != EtherType && f.Type != InetProto {
		t.Errorf("%s: selector is %s", p.Name, f.Name)
	}
	for _, n := range p.Upper {
		if n.Protocol == nil || n.Value>>f.Bits != 0 {
			t.Errorf("%s announces %v by %#x", p.Name, n.Protocol, n.Value)
		}
	}
}

func TestNextProtocols(t *testing.T) {
	for _, c := range []struct {
		from  *Protocol
		value uint64
		to    *Protocol
	}{
		{Ether, 0x0800, IP}, {Ether, 0x8100, VLAN}, {Ether, 0x88a8, VLAN}, {VLAN, 0x86dd, IP6}, {VLAN, 0x8100, VLAN},
		{IP, 6, TCP}, {IP, 47, GRE}, {IP6, 58, ICMPv6}, {GRE, 0x0800, IP}, {AH, 17, UDP}, {IP, 200, nil}, {TCP, 6, nil},
	} {
		if got := c.from.NextByValue(c.value); got != c.to {
			t.Errorf("%s %#x: %v, want %v", c.from.Name, c.value, got, c.to)
		}
	}
	if v, ok := Ether.ValueOf(VLAN); !ok || v != 0x8100 {
		t.Errorf("vlan in ether: %#x %v", v, ok)
	}
	if n, ok := TransportNumber(SCTP); !ok || n != 132 {
		t.Errorf("sctp: %d %v", n, ok)
	}
	if _, ok := EtherTypeOf(TCP); ok {
		t.Error("tcp has an EtherType")
	}
}

func TestFieldAt(t *testing.T) {
	for _, c := range []struct {
		p                      *Protocol
		offset, bits, icmpType int
		want                   string
	}{
		{IP, 96, 32, -1, "saddr"}, {IP, 8, 6, -1, "dscp"}, {IP, 8, 8, -1, ""}, {VLAN, 3, 1, -1, "dei"},
		{ICMP, 32, 16, 8, "id"}, {ICMP, 32, 16, -1, ""}, {ICMP, 48, 16, 3, "mtu"}, {ICMP, 48, 16, 0, "sequence"},
		{ICMPv6, 32, 32, 2, "mtu"}, {ICMPv6, 32, 32, 4, "param-problem"}, {ICMPv6, 64, 128, 135, "taddr"},
	} {
		got := ""
		if f := c.p.FieldAt(c.offset, c.bits, c.icmpType); f != nil {
			got = f.Name
		}
		if got != c.want {
			t.Errorf("%s bits %d+%d type %d: %q, want %q", c.p.Name, c.offset, c.bits, c.icmpType, got, c.want)
		}
	}
	if off, n := TCP.FieldByName("doff").Bytes(); off != 12 || n != 1 {
		t.Errorf("tcp doff lies in bytes %d+%d", off, n)
	}
	if off, n := IP6.FieldByName("dscp").Bytes(); off != 0 || n != 2 {
		t.Errorf("ip6 dscp lies in bytes %d+%d", off, n)
	}
}

func TestOptionsAreConsistent(t *testing.T) {
	for what, list := range map[string][]*Option{
		"exthdr": Exthdrs, "tcp option": TCPOptions, "ip option": IPOptions, "sctp chunk": SCTPChunks,
	} {
		names := map[string]bool{}
		for _, o := range list {
			if names[o.Name] || o.Name == "" || strings.ContainsRune(o.Name, ' ') {
				t.Errorf("%s %q is there twice or no word", what, o.Name)
			}
			names[o.Name] = true
			if (o.RoutingType >= 0) != (o.Name == "rt0" || o.Name == "rt2" || o.Name == "srh") {
				t.Errorf("%s %s has routing type %d", what, o.Name, o.RoutingType)
			}
			fields := map[string]bool{}
			for i := range o.Fields {
				f := &o.Fields[i]
				if fields[f.Name] {
					t.Errorf("%s %s has two fields %s", what, o.Name, f.Name)
				}
				fields[f.Name] = true
				if f.Type.Bits != 0 && f.Type.Bits != f.Bits {
					t.Errorf("%s %s %s has %d bits, its type %d", what, o.Name, f.Name, f.Bits, f.Type.Bits)
				}
				if off, n := f.Bytes(); off+n > 255 {
					t.Errorf("%s %s %s lies outside what a load reaches", what, o.Name, f.Name)
				}
				if f.Bits > 8 && f.ByteOrder() != OrderNetwork {
					t.Errorf("%s %s %s is not in network order", what, o.Name, f.Name)
				}
				if (f.Step != 0) != (f.Indices != 0) {
					t.Errorf("%s %s %s: step %d, %d indices", what, o.Name, f.Name, f.Step, f.Indices)
				}
			}
		}
	}
}

func TestOptionFieldAt(t *testing.T) {
	for _, c := range []struct {
		list         []*Option
		kind         uint8
		offset, bits int
		want         string
		index        int
	}{
		{TCPOptions, 2, 16, 16, "maxseg size", 0},
		{TCPOptions, 5, 16, 32, "sack left", 0},
		{TCPOptions, 5, 112, 32, "sack1 right", 0},
		{TCPOptions, 8, 8, 8, "timestamp length", 0},
		{Exthdrs, 43, 16, 8, "rt type", 0},
		{Exthdrs, 43, 192, 128, "rt0 addr", 2},
		{Exthdrs, 43, 48, 16, "srh tag", 0},
		{IPOptions, 148, 16, 16, "ra value", 0},
		{SCTPChunks, 3, 112, 16, "sack num-dup-tsns", 0},
		{TCPOptions, 99, 0, 8, "", 0},
	} {
		o, f, index := OptionFieldAt(c.list, c.kind, c.offset, c.bits)
		got := ""
		if o != nil {
			got = o.Name + " " + f.Name
		}
		if got != c.want || index != c.index {
			t.Errorf("kind %d bits %d+%d: %q index %d, want %q index %d", c.kind, c.offset, c.bits, got, index, c.want, c.index)
		}
	}
	if off := RoutingHeader(4).FieldByName("sid").At(2); off != 192 {
		t.Errorf("sid[2] lies at %d", off)
	}
}

func TestKeysAreConsistent(t *testing.T) {
	for what, list := range map[string][]*Key{
		"meta": MetaKeys, "ct": CTKeys, "rt": RTKeys, "socket": SocketKeys, "tunnel": TunnelKeys,
		"ipsec": XFRMKeys, "fib": FibResults, "osf": OSFKeys,
	} {
		names, bytecode, numbers := map[string]bool{}, map[string]bool{}, map[uint32]bool{}
		for _, k := range list {
			for _, n := range append([]string{k.Name}, k.Aliases...) {
				if id := n + " " + k.Family.String(); names[id] {
					t.Errorf("two %s keys are named %s", what, id)
				} else {
					names[id] = true
				}
			}
			if bytecode[k.BytecodeName()] || numbers[k.Number] {
				t.Errorf("%s %s: bytecode name or number %d is there twice", what, k.Name, k.Number)
			}
			bytecode[k.BytecodeName()], numbers[k.Number] = true, true
			if KeyByBytecode(list, k.BytecodeName()) != k {
				t.Errorf("%s: bytecode name %s finds another key", what, k.BytecodeName())
			}
			if k.SetOnly && !k.Settable || k.NeedsDir && !k.DirOK || k.PrintAlone && !k.Alone {
				t.Errorf("%s %s contradicts itself", what, k.Name)
			}
			if k.Bits > 8 && k.Order == OrderNone && !k.Type.IsA(String) {
				t.Errorf("%s %s has %d bits and no byte order", what, k.Name, k.Bits)
			}
			if k.Type.Bits > k.Bits && k.Bits != 1 {
				t.Errorf("%s %s has %d bits, its type %d", what, k.Name, k.Bits, k.Type.Bits)
			}
			if k.Bytes() > 16 {
				t.Errorf("%s %s does not fit a register", what, k.Name)
			}
		}
	}
}

func TestKeyLookups(t *testing.T) {
	for _, c := range []struct {
		got  *Key
		want string
	}{
		{MetaKey("iifname"), "iifname"}, {MetaKey("ibriport"), "bri_iifname"}, {MetaKey("length"), "len"}, {MetaKey("x"), ""},
		{MetaKeyByNumber(16), "l4proto"}, {MetaKeyByNumber(36), ""},
		{CTKey("saddr", FamilyUnspec), "src"}, {CTKey("saddr", FamilyIP), "src_ip"}, {CTKey("daddr", FamilyIP6), "dst_ip6"},
		{CTKey("mark", FamilyIP6), "mark"}, {CTKeyByNumber(13), "label"},
		{RTKey("nexthop", FamilyIP6), "nexthop6"}, {RTKey("nexthop", FamilyUnspec), ""}, {RTKey("mtu", FamilyIP), "tcpmss"},
		{RTKeyByNumber(0), "classid"},
		{XFRMKey("saddr", FamilyIP), "saddr4"}, {XFRMKey("spi", FamilyUnspec), "spi"}, {XFRMKeyByNumber(2), "daddr6"},
		{SocketKey("cgroupv2"), "cgroupv2"}, {SocketKeyByNumber(1), "mark"},
		{TunnelKey("id"), "id"}, {TunnelKeyByNumber(0), "path"},
		{FibResult("check"), "oif"}, {FibResult("type"), "type"}, {FibResultByNumber(2), "oifname"}, {FibResultByNumber(9), ""},
		{OSFKey("version"), "version"},
	} {
		got := ""
		if c.got != nil {
			got = c.got.BytecodeName()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		TypeByName("cgroupsv2")
		ProtocolByName("gretap")
		MetaKey("ibrhwaddr")
		CTKey("id", FamilyIP)
		TCPOptionByName("fastopen")
		InetService.SymbolByName("hkp")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHooksAndPriorities(t *testing.T) {
	for _, f := range Families {
		if got, ok := FamilyByName(f.String()); !ok || got != f {
			t.Errorf("family %s: %v %v", f, got, ok)
		}
		for i, name := range HookNames(f) {
			h, ok := HookByName(f, name)
			if !ok || int(h) != i || HookName(f, h) != name {
				t.Errorf("%s hook %s: %d %v", f, name, h, ok)
			}
		}
		if len(Priorities(f)) == 0 {
			t.Errorf("%s has no named priorities", f)
		}
	}
	if _, ok := HookByName(FamilyARP, "forward"); ok {
		t.Error("arp has a forward hook")
	}
	if PriorityLegal(FamilyIP, "dstnat", "input") || !PriorityLegal(FamilyIP, "dstnat", "prerouting") {
		t.Error("dstnat belongs before routing")
	}
}
