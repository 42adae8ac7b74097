package netlink

import (
	"fmt"
	"reflect"

	"pgregory.net/rapid"

	"verdict/catalog"
	"verdict/nft/expr"
)

// drawExpr makes an expression of any kind with random operands.
func drawExpr(t *rapid.T) expr.Expr {
	reg := expr.Reg(rapid.SampledFrom([]int{1, 2, 3, 4, 8, 9, 15, 23}).Draw(t, "reg"))
	n := rapid.Uint32().Draw(t, "n")
	big := rapid.Uint64().Draw(t, "big")
	yes := rapid.Bool().Draw(t, "yes")
	v := expr.Value{Bytes: rapid.SliceOfN(rapid.Byte(), 1, 16).Draw(t, "value")}
	name := rapid.StringMatching(`[a-z][a-z0-9_%]{0,14}`).Draw(t, "name")
	list := []expr.Expr{
		&expr.Bitwise{Src: reg, Dst: 9, Len: n, Mask: v, Xor: v},
		&expr.Bitwise{Src: reg, Dst: 9, Len: 4, Op: expr.BitwiseLshift, Shift: n},
		&expr.Bitwise{Src: reg, Dst: 9, Len: 4, Op: expr.BitwiseOr, Src2: 10, HasSrc2: true},
		&expr.Bitwise{Src: reg, Dst: 9, Len: 4, Op: expr.BitwiseXor, Data: v},
		&expr.Byteorder{Src: reg, Dst: 9, ToHost: yes, Len: n, Size: 4},
		&expr.Cmp{Src: reg, Op: expr.CmpOp(n % 6), Value: v},
		&expr.Range{Src: reg, Neq: yes, From: v, To: v},
		&expr.Immediate{Dst: reg, Data: expr.Data{Value: v}},
		&expr.Immediate{Dst: 0, Data: expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictJump, Chain: name}}},
		&expr.Immediate{Dst: 0, Data: expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictDrop}}},
		&expr.Lookup{Set: name, SetID: n, Src: reg, Dst: 0, HasDst: yes, Invert: yes},
		&expr.Numgen{Random: yes, Mod: n, Offset: n, Dst: reg},
		&expr.Hash{Src: reg, Dst: 9, Len: n, Seed: n, HasSeed: true, Mod: n, Offset: n},
		&expr.Hash{Symmetric: true, Dst: reg, Mod: n},
		&expr.Payload{Base: catalog.Base(n % 5), Offset: n, Len: n, Dst: reg},
		&expr.Payload{Base: catalog.BaseNetwork, Offset: n, Len: n, Src: reg, Write: true, CsumType: 1, CsumOffset: n, CsumFlags: n},
		&expr.Exthdr{Op: n, Type: uint8(n), Offset: n, Len: n, Present: yes, Dst: reg},
		&expr.Exthdr{Op: 1, Type: uint8(n), Strip: true},
		&expr.Exthdr{Op: 1, Type: uint8(n), Offset: n, Len: n, Src: reg, Write: true},
		&expr.Meta{Key: rapid.SampledFrom(catalog.MetaKeys).Draw(t, "meta"), Dst: reg},
		&expr.Meta{Key: catalog.MetaKey("mark"), Src: reg, Set: true},
		&expr.CT{Key: rapid.SampledFrom(catalog.CTKeys).Draw(t, "ct"), Dst: reg, HasDir: yes},
		&expr.RT{Key: rapid.SampledFrom(catalog.RTKeys).Draw(t, "rt"), Dst: reg},
		&expr.Socket{Key: rapid.SampledFrom(catalog.SocketKeys).Draw(t, "socket"), Level: n, Dst: reg},
		&expr.XFRM{Key: rapid.SampledFrom(catalog.XFRMKeys).Draw(t, "xfrm"), Out: yes, Spnum: n, Dst: reg},
		&expr.Tunnel{Key: rapid.SampledFrom(catalog.TunnelKeys).Draw(t, "tunnel"), Dst: reg},
		&expr.Fib{Result: n, Flags: n, Dst: reg},
		&expr.OSF{Dst: reg, TTL: uint8(n), Flags: n},
		&expr.NAT{Destination: yes, Family: uint8(n), AddrMin: reg, HasAddr: true, ProtoMin: reg, HasProto: true, ProtoMax: 9, HasProtoMax: true, Flags: n},
		&expr.Masq{Flags: n, ProtoMin: reg, HasProto: true},
		&expr.Redir{Flags: n, ProtoMin: reg, HasProto: true},
		&expr.TProxy{Family: 2, Addr: reg, HasAddr: true, Port: 9, HasPort: true},
		&expr.Dup{Addr: reg, HasAddr: true, Dev: 9, HasDev: true},
		&expr.Fwd{Dev: reg, Addr: 9, HasAddr: true, NFProto: uint8(n)},
		&expr.Log{Prefix: name, HasPrefix: true, Level: n, HasLevel: true, Flags: n, HasFlags: true},
		&expr.Log{Group: uint16(n), HasGroup: true, Snaplen: n, HasSnaplen: true, QThreshold: uint16(n), HasQThresh: true},
		&expr.Queue{Num: uint16(n), Total: uint16(n), Flags: uint16(n)},
		&expr.Queue{Src: reg, HasSrc: true},
		&expr.Reject{Type: n, Code: uint8(n)},
		&expr.Notrack{},
		&expr.Synproxy{MSS: uint16(n), WScale: uint8(n), Flags: n},
		&expr.FlowOffload{Flowtable: name},
		&expr.XT{Target: yes, Name: name, Rev: n, Info: v.Bytes},
		&expr.Counter{Packets: big, Bytes: big},
		&expr.Limit{Rate: big, Unit: big, Burst: n, Bytes: yes, Over: yes},
		&expr.Quota{Bytes: big, Consumed: big, Over: yes},
		&expr.ConnLimit{Count: n, Over: yes},
		&expr.Last{Set: yes, Msecs: big},
		&expr.Objref{Type: expr.ObjectType(n), Name: name},
		&expr.Objref{Set: name, SetID: n, Src: reg, IsMap: true},
		&expr.Dynset{Set: name, SetID: n, Op: expr.DynsetUpdate, Key: reg, Data: 9, HasData: true, Timeout: big, Invert: yes,
			Exprs: []expr.Expr{&expr.Counter{Packets: big}, &expr.Limit{Rate: big}}},
		&expr.Dynset{Set: name, Key: reg, Exprs: []expr.Expr{&expr.ConnLimit{Count: n}}},
		&expr.Inner{Type: n, HdrSize: n, Flags: n, Expr: &expr.Payload{Base: catalog.BaseTunnel, Offset: n, Len: 4, Dst: reg}},
		&expr.Unknown{Name: "x" + name, Data: []byte{4, 0, 1, 0}},
	}
	return rapid.SampledFrom(list).Draw(t, "expr")
}

// operandsOf prints type and operands of an expression, also of those within it.
func operandsOf(e expr.Expr) string {
	v := reflect.ValueOf(e).Elem()
	text := v.Type().Name()
	for i := range v.NumField() {
		switch x := v.Field(i).Interface().(type) {
		case []expr.Expr:
			for _, inner := range x {
				text += " [" + operandsOf(inner) + "]"
			}
		case expr.Expr:
			text += " [" + operandsOf(x) + "]"
		case expr.Data:
			text += fmt.Sprintf(" %x %v", x.Value.Bytes, x.Verdict)
			if x.Verdict != nil {
				text = fmt.Sprintf("%s %v %s", v.Type().Name(), x.Verdict.Kind, x.Verdict.Chain)
			}
		case *catalog.Key:
			text += fmt.Sprintf(" key %d", x.Number)
		default:
			text += fmt.Sprintf(" %v", x)
		}
	}
	return text
}
