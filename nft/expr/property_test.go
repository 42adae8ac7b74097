package expr

import (
	"errors"
	"reflect"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"verdict/catalog"
)

// draw makes random expressions; what text does not show keeps the value that
// ParseText assumes.
type draw struct{ t *rapid.T }

func (d draw) bool(what string) bool  { return rapid.Bool().Draw(d.t, what) }
func (d draw) u8(what string) uint8   { return rapid.Uint8().Draw(d.t, what) }
func (d draw) u16(what string) uint16 { return rapid.Uint16().Draw(d.t, what) }
func (d draw) u32(what string) uint32 { return rapid.Uint32().Draw(d.t, what) }
func (d draw) u64(what string) uint64 { return rapid.Uint64().Draw(d.t, what) }
func (d draw) n(lo, hi int) int       { return rapid.IntRange(lo, hi).Draw(d.t, "n") }
func (d draw) name() string {
	return rapid.StringMatching(`[a-z_][a-z0-9_./%-]{0,10}`).Draw(d.t, "name")
}

func (d draw) reg() Reg {
	if d.bool("wide") {
		return Reg(d.n(1, 4))
	}
	return Reg(d.n(8, 23))
}

// regIf gives a register, or none.
func (d draw) regIf(present bool) Reg {
	if present {
		return d.reg()
	}
	return 0
}

func (d draw) value(n int) Value {
	return Value{Bytes: rapid.SliceOfN(rapid.Byte(), n, n).Draw(d.t, "value")}
}

func (d draw) key(list []*catalog.Key) *catalog.Key { return rapid.SampledFrom(list).Draw(d.t, "key") }

func (d draw) ports() (lo Reg, hasLo bool, hi Reg, hasHi bool) {
	hasLo = d.bool("port")
	hasHi = hasLo && d.bool("port end")
	return d.regIf(hasLo), hasLo, d.regIf(hasHi), hasHi
}

var generators = []func(d draw) Expr{
	func(d draw) Expr { return &Immediate{Dst: d.reg(), Data: Data{Value: d.value(d.n(1, 16))}} },
	func(d draw) Expr {
		v := &Verdict{Kind: rapid.SampledFrom(verdictKinds).Draw(d.t, "verdict")}
		if v.Kind == catalog.VerdictJump || v.Kind == catalog.VerdictGoto {
			v.Chain = d.name()
		}
		return &Immediate{Data: Data{Verdict: v}}
	},
	func(d draw) Expr { return &Cmp{Src: d.reg(), Op: CmpOp(d.n(0, 5)), Value: d.value(d.n(1, 16))} },
	func(d draw) Expr {
		n := d.n(1, 16)
		return &Range{Src: d.reg(), Neq: d.bool("neq"), From: d.value(n), To: d.value(n)}
	},
	func(d draw) Expr {
		n := d.n(1, 16)
		return &Bitwise{Src: d.reg(), Dst: d.reg(), Len: uint32(n), Mask: d.value(n), Xor: d.value(n)}
	},
	func(d draw) Expr {
		return &Bitwise{Src: d.reg(), Dst: d.reg(), Len: 4, Op: BitwiseOp(d.n(1, 2)), Shift: d.u32("shift")}
	},
	func(d draw) Expr {
		n := d.n(1, 16)
		return &Bitwise{Src: d.reg(), Dst: d.reg(), Len: uint32(n), Op: BitwiseOp(d.n(3, 5)), Data: d.value(n)}
	},
	func(d draw) Expr {
		return &Bitwise{Src: d.reg(), Dst: d.reg(), Len: 4, Op: BitwiseOp(d.n(3, 5)), Src2: d.reg(), HasSrc2: true}
	},
	func(d draw) Expr {
		n := uint32(1) << d.n(1, 3)
		return &Byteorder{Src: d.reg(), Dst: d.reg(), ToHost: d.bool("ntoh"), Len: n, Size: n}
	},
	func(d draw) Expr {
		return &Payload{Base: catalog.Base(d.n(0, 4)), Offset: uint32(d.u16("offset")), Len: uint32(d.n(1, 16)), Dst: d.reg()}
	},
	func(d draw) Expr {
		return &Payload{Base: catalog.Base(d.n(0, 4)), Offset: uint32(d.u16("offset")), Len: uint32(d.n(1, 16)), Src: d.reg(), Write: true,
			CsumType: uint32(d.n(0, 2)), CsumOffset: uint32(d.u8("checksum")), CsumFlags: uint32(d.n(0, 1))}
	},
	func(d draw) Expr {
		return &Exthdr{Op: uint32(d.n(0, 3)), Type: d.u8("type"), Offset: uint32(d.u8("offset")), Len: uint32(d.n(1, 16)), Present: d.bool("present"), Dst: d.reg()}
	},
	func(d draw) Expr {
		return &Exthdr{Op: ExthdrTCPOpt, Type: d.u8("type"), Offset: uint32(d.u8("offset")), Len: uint32(d.n(1, 4)), Src: d.reg(), Write: true}
	},
	func(d draw) Expr { return &Exthdr{Op: ExthdrTCPOpt, Type: d.u8("type"), Strip: true} },
	func(d draw) Expr {
		if d.bool("set") {
			return &Meta{Key: d.key(catalog.MetaKeys), Src: d.reg(), Set: true}
		}
		return &Meta{Key: d.key(catalog.MetaKeys), Dst: d.reg()}
	},
	func(d draw) Expr {
		e := &CT{Key: d.key(catalog.CTKeys), Set: d.bool("set"), HasDir: d.bool("direction")}
		if e.HasDir {
			e.Dir = uint8(d.n(0, 1))
		}
		if e.Set {
			e.Src = d.reg()
		} else {
			e.Dst = d.reg()
		}
		return e
	},
	func(d draw) Expr { return &RT{Key: d.key(catalog.RTKeys), Dst: d.reg()} },
	func(d draw) Expr { return &Socket{Key: d.key(catalog.SocketKeys), Dst: d.reg()} },
	func(d draw) Expr { return &Tunnel{Key: d.key(catalog.TunnelKeys), Dst: d.reg()} },
	func(d draw) Expr {
		return &XFRM{Key: d.key(catalog.XFRMKeys), Out: d.bool("out"), Spnum: uint32(d.n(0, 7)), Dst: d.reg()}
	},
	func(d draw) Expr {
		return &Fib{Result: uint32(d.n(1, 3)), Flags: uint32(d.n(1, 31) | 32*d.n(0, 1)), Dst: d.reg()}
	},
	func(d draw) Expr {
		e := &Inner{Type: d.u32("type"), HdrSize: uint32(d.n(0, 64)), Flags: uint32(d.n(0, 15))}
		if d.bool("meta") {
			e.Expr = &Meta{Key: d.key(catalog.MetaKeys), Dst: d.reg()}
		} else {
			e.Expr = &Payload{Base: catalog.Base(d.n(0, 4)), Len: uint32(d.n(1, 16)), Dst: d.reg()}
		}
		return e
	},
	func(d draw) Expr {
		return &Numgen{Random: d.bool("random"), Mod: d.u32("mod"), Offset: d.u32("offset"), Dst: d.reg()}
	},
	func(d draw) Expr {
		e := &Hash{Src: d.reg(), Dst: d.reg(), Len: uint32(d.n(1, 64)), Seed: d.u32("seed"), Mod: d.u32("mod"), Offset: d.u32("offset")}
		e.HasSeed = e.Seed != 0
		return e
	},
	func(d draw) Expr { return &Hash{Symmetric: true, Dst: d.reg(), Mod: d.u32("mod")} },
	func(d draw) Expr { return &OSF{Dst: d.reg()} },
	func(d draw) Expr {
		has := d.bool("data")
		return &Lookup{Set: d.name(), Src: d.reg(), Dst: d.regIf(has && d.bool("value")), HasDst: has, Invert: d.bool("invert")}
	},
	func(d draw) Expr {
		has := d.bool("data")
		e := &Dynset{Set: d.name(), Op: DynsetOp(d.n(0, 2)), Key: d.reg(), Data: d.regIf(has), HasData: has, Timeout: d.u64("timeout")}
		for range d.n(0, 2) {
			e.Exprs = append(e.Exprs, &Counter{Packets: d.u64("packets")})
		}
		return e
	},
	func(d draw) Expr {
		if d.bool("map") {
			return &Objref{Set: d.name(), Src: d.reg(), IsMap: true}
		}
		return &Objref{Type: ObjectType(d.n(1, 10)), Name: d.name()}
	},
	func(d draw) Expr { return &Counter{Packets: d.u64("packets"), Bytes: d.u64("bytes")} },
	func(d draw) Expr {
		return &Limit{Rate: d.u64("rate"), Unit: limitUnits[d.n(0, 4)].seconds, Burst: d.u32("burst"), Bytes: d.bool("bytes"), Over: d.bool("over")}
	},
	func(d draw) Expr {
		return &Quota{Bytes: d.u64("bytes"), Consumed: d.u64("consumed"), Over: d.bool("over")}
	},
	func(d draw) Expr { return &ConnLimit{Count: d.u32("count"), Over: d.bool("over")} },
	func(d draw) Expr {
		if d.bool("never") {
			return &Last{}
		}
		return &Last{Set: true, Msecs: d.u64("msecs")}
	},
	func(d draw) Expr {
		e := &Log{HasPrefix: d.bool("prefix")}
		if e.HasPrefix {
			e.Prefix = rapid.StringMatching(`[a-zA-Z: .-]{0,8}[a-zA-Z:]`).Draw(d.t, "text")
		}
		if d.bool("group") {
			e.HasGroup, e.Group = true, d.u16("group")
			e.Snaplen, e.QThreshold = d.u32("snaplen"), d.u16("qthreshold")
			e.HasSnaplen, e.HasQThresh = e.Snaplen != 0, e.QThreshold != 0
			return e
		}
		if e.HasLevel = d.bool("level"); e.HasLevel {
			e.Level = uint32(d.n(0, 8))
		}
		for _, f := range logFlags {
			if d.bool(f.name) {
				e.Flags |= f.bit
			}
		}
		e.HasFlags = e.Flags != 0
		return e
	},
	func(d draw) Expr { return &Reject{Type: uint32(d.n(0, 2)), Code: d.u8("code")} },
	func(d draw) Expr {
		e := &NAT{Destination: d.bool("dnat"), Family: uint8(rapid.SampledFrom(catalog.Families).Draw(d.t, "family")), Flags: uint32(d.n(0, 127))}
		e.HasAddr = d.bool("address")
		e.HasAddrMax = e.HasAddr && d.bool("address end")
		e.AddrMin, e.AddrMax = d.regIf(e.HasAddr), d.regIf(e.HasAddrMax)
		e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax = d.ports()
		return e
	},
	func(d draw) Expr {
		e := &Masq{Flags: uint32(d.n(0, 127))}
		e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax = d.ports()
		return e
	},
	func(d draw) Expr {
		e := &Redir{Flags: uint32(d.n(0, 127))}
		e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax = d.ports()
		return e
	},
	func(d draw) Expr {
		e := &TProxy{Family: []uint8{0, familyIP, familyIP6}[d.n(0, 2)], HasAddr: d.bool("address"), HasPort: d.bool("port")}
		e.Addr, e.Port = d.regIf(e.HasAddr), d.regIf(e.HasPort)
		return e
	},
	func(d draw) Expr {
		e := &Synproxy{MSS: d.u16("mss"), WScale: d.u8("wscale")}
		if e.MSS != 0 {
			e.Flags |= SynproxyMSS
		}
		if e.WScale != 0 {
			e.Flags |= SynproxyWScale
		}
		return e
	},
	func(d draw) Expr {
		if d.bool("register") {
			return &Queue{Src: d.reg(), HasSrc: true, Flags: uint16(d.n(0, 3))}
		}
		num := d.u16("num")
		total := d.n(1, min(65535, 65536-int(num)))
		return &Queue{Num: num, Total: uint16(total), Flags: uint16(d.n(0, 3))}
	},
	func(d draw) Expr {
		e := &Dup{HasAddr: d.bool("address"), HasDev: d.bool("device")}
		e.Addr, e.Dev = d.regIf(e.HasAddr), d.regIf(e.HasDev)
		return e
	},
	func(d draw) Expr {
		e := &Fwd{Dev: d.reg(), HasAddr: d.bool("address")}
		if e.HasAddr {
			e.Addr, e.NFProto = d.reg(), d.u8("protocol")
		}
		return e
	},
	func(draw) Expr { return &Notrack{} },
	func(d draw) Expr { return &FlowOffload{Flowtable: d.name()} },
	func(d draw) Expr { return &XT{Target: d.bool("target"), Name: d.name(), Rev: uint32(d.u8("revision"))} },
}

func drawExpr(t *rapid.T) Expr {
	return generators[rapid.IntRange(0, len(generators)-1).Draw(t, "expression")](draw{t})
}

// TestGeneratorsCoverAllExpressions holds the list above to the parsers'.
func TestGeneratorsCoverAllExpressions(t *testing.T) {
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		for _, g := range generators {
			seen[g(draw{t}).Kind()] = true
		}
	})
	for kind := range expressionParsers {
		if !seen[kind] {
			t.Errorf("no generator for %s", kind)
		}
	}
}

// TestTextRoundTrip: text holds everything that ParseText does not have to
// assume.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpr(t)
		text := string(e.AppendText(nil))
		got, err := ParseText(text, TextOptions{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, e) {
			t.Fatalf("%s\n got %#v\nwant %#v", text, got, e)
		}
	})
}

// TestRegistersAgreeWithCheck: an accepted expression is refused with ENODATA
// when any word that Registers lists as read is missing, is accepted when
// nothing but those is there, and marks exactly the words of Registers' write.
func TestRegistersAgreeWithCheck(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpr(t)
		place := placeFor(uint8(rapid.SampledFrom(catalog.Families).Draw(t, "family")), []Expr{e})
		all := Checker{Place: place}
		for w := 4; w < len(all.written); w++ {
			all.written[w] = true
		}
		if all := all; e.Check(&all) != nil {
			return
		}
		accepted++
		if b, ok := e.(*Bitwise); ok && b.HasSrc2 && b.Src2.Offset() == b.Dst.Offset() {
			return // the kernel does not notice that Src2 was not written
		}
		use := e.Registers(&place)
		only := Checker{Place: place}
		for _, r := range use.Reads() {
			for w := int(r.Off) / 4; w*4 < int(r.Off+r.Len); w++ {
				only.written[w] = true
				without := all
				without.written[w] = false
				if err := e.Check(&without); !errors.Is(err, syscall.ENODATA) {
					t.Fatalf("%s: without word %d: %v", e.AppendText(nil), w, err)
				}
			}
		}
		before := only.written
		if err := e.Check(&only); err != nil {
			t.Fatalf("%s: with what it reads: %v", e.AppendText(nil), err)
		}
		if r, ok := use.Write(); ok {
			for w := int(r.Off) / 4; w*4 < int(r.Off+r.Len); w++ {
				before[w] = true
			}
		}
		if before != only.written {
			t.Fatalf("%s: words written %v, Registers says %v", e.AppendText(nil), only.written, before)
		}
	})
	if accepted == 0 {
		t.Error("no expression was accepted")
	}
}

func TestRegistersDoNotAllocate(t *testing.T) {
	place := testPlace(familyIP)
	e := &NAT{Family: familyIP, HasAddr: true, AddrMin: Reg1}
	if n := testing.AllocsPerRun(100, func() {
		u := e.Registers(&place)
		if len(u.Reads()) != 1 {
			t.Fatal("one read expected")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	use := (&Lookup{Set: "vmap", Src: Reg1, HasDst: true}).Registers(&place)
	if _, ok := use.Write(); ok || !use.Verdict() {
		t.Error("a verdict map writes the verdict only")
	}
}

func TestRegisterNumbers(t *testing.T) {
	for r, want := range map[Reg]int{0: 0, 1: 16, 2: 32, 4: 64, 5: -1, 7: -1, 8: 16, 9: 20, 12: 32, 23: 76, 24: -1} {
		if got := r.Offset(); got != want || r.Valid() != (want >= 0) {
			t.Errorf("register %d: offset %d, want %d", r, got, want)
		}
	}
}
