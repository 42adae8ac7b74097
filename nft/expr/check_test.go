package expr

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"verdict/catalog"
)

// written are instructions that fill registers 1 and 2.
func written(n int) []Expr {
	return []Expr{&Immediate{Dst: Reg1, Data: Data{Value: bytesOf(n)}}, &Immediate{Dst: Reg2, Data: Data{Value: bytesOf(n)}}}
}

func bytesOf(n int) Value { return Value{Bytes: make([]byte, n)} }

func verdictImmediate(kind catalog.VerdictKind, chain string) *Immediate {
	return &Immediate{Data: Data{Verdict: &Verdict{Kind: kind, Chain: chain}}}
}

// testPlace has one of each thing that rules refer to.
func testPlace(family uint8) Place {
	sets := map[string]*SetInfo{
		"set":      {KeyLen: 4},
		"wide":     {KeyLen: 16},
		"map":      {KeyLen: 4, DataLen: 4, Flags: setMap},
		"vmap":     {KeyLen: 4, DataLen: 16, Flags: setMap, VerdictData: true},
		"anonmap":  {KeyLen: 4, DataLen: 4, Flags: setMap | setAnonymous},
		"objects":  {KeyLen: 4, Flags: setObject},
		"constant": {KeyLen: 4, Flags: setConstant},
		"interval": {KeyLen: 4, Flags: setInterval},
		"frozen":   {KeyLen: 4, NoUpdate: true},
		"timeout":  {KeyLen: 4, Flags: setTimeout},
		"dynamic":  {KeyLen: 4, Flags: setEval},
		"counters": {KeyLen: 4, Flags: setEval, Exprs: []Expr{&Counter{}}},
	}
	return Place{
		Family:          family,
		SetByName:       func(name string, _ uint32) *SetInfo { return sets[name] },
		ChainExists:     func(name string) (bool, bool) { return name == "chain" || name == "base", name == "base" },
		ObjectExists:    func(t ObjectType, name string) bool { return t == ObjectCounter && name == "object" },
		FlowtableExists: func(name string) bool { return name == "table" },
	}
}

const ok = syscall.Errno(0)

// TestCheckErrnos lists what the kernel refuses and how. Rows without a note
// were observed on Linux 6.18.
func TestCheckErrnos(t *testing.T) {
	mark, ctMark := catalog.MetaKey("mark"), catalog.CTKey("mark", 0)
	const ip, ip6, inet, arp, bridge, netdev = familyIP, familyIP6, familyInet, familyARP, familyBridge, familyNetdev
	for _, c := range []struct {
		name   string
		family uint8
		before int // bytes written to registers 1 and 2 before
		e      Expr
		want   syscall.Errno
	}{
		{"verdict accept", ip, 0, verdictImmediate(catalog.VerdictAccept, ""), ok},
		{"verdict break", ip, 0, verdictImmediate(catalog.VerdictBreak, ""), ok},
		{"verdict queue", ip, 0, verdictImmediate(catalog.VerdictQueue, ""), syscall.EINVAL},
		{"bug 76: drop with an error", ip, 0, verdictImmediate(7<<16|catalog.VerdictDrop, ""), syscall.EINVAL},
		{"bug 76: accept with a parameter", ip, 0, verdictImmediate(1<<16|catalog.VerdictAccept, ""), syscall.EINVAL},
		{"bug 76: queue with a number", ip, 0, verdictImmediate(3<<16|catalog.VerdictQueue, ""), syscall.EINVAL},
		{"verdict stolen", ip, 0, verdictImmediate(catalog.VerdictStolen, ""), syscall.EINVAL},
		{"jump nowhere", ip, 0, verdictImmediate(catalog.VerdictJump, ""), syscall.EINVAL},
		{"jump", ip, 0, verdictImmediate(catalog.VerdictJump, "chain"), ok},
		{"jump to unknown", ip, 0, verdictImmediate(catalog.VerdictJump, "nope"), syscall.ENOENT},
		{"goto base chain", ip, 0, verdictImmediate(catalog.VerdictGoto, "base"), syscall.EOPNOTSUPP},
		{"verdict to data register", ip, 0, &Immediate{Dst: Reg1, Data: Data{Verdict: &Verdict{Kind: catalog.VerdictDrop}}}, syscall.EINVAL},
		{"value to verdict register", ip, 0, &Immediate{Dst: RegVerdict, Data: Data{Value: bytesOf(4)}}, syscall.EINVAL},
		{"value empty", ip, 0, &Immediate{Dst: Reg1}, syscall.EINVAL},
		{"value 16", ip, 0, &Immediate{Dst: Reg4, Data: Data{Value: bytesOf(16)}}, ok},
		{"value 17", ip, 0, &Immediate{Dst: Reg1, Data: Data{Value: bytesOf(17)}}, syscall.EOVERFLOW},
		{"value past the end", ip, 0, &Immediate{Dst: Reg32_15, Data: Data{Value: bytesOf(16)}}, syscall.ERANGE},
		{"register 5", ip, 0, &Immediate{Dst: 5, Data: Data{Value: bytesOf(4)}}, syscall.ERANGE},
		{"register 24", ip, 0, &Immediate{Dst: 24, Data: Data{Value: bytesOf(4)}}, syscall.ERANGE},
		{"verdict to register 24", ip, 0, &Immediate{Dst: 24, Data: Data{Verdict: &Verdict{Kind: catalog.VerdictDrop}}}, syscall.ERANGE},

		{"cmp", ip, 4, &Cmp{Src: Reg1, Value: bytesOf(4)}, ok},
		{"cmp unwritten", ip, 0, &Cmp{Src: Reg1, Value: bytesOf(4)}, syscall.ENODATA},
		{"cmp half written", ip, 4, &Cmp{Src: Reg1, Value: bytesOf(8)}, syscall.ENODATA},
		{"cmp relation before register", ip, 0, &Cmp{Src: Reg1, Op: 6, Value: bytesOf(4)}, syscall.EINVAL},
		{"cmp empty", ip, 4, &Cmp{Src: Reg1}, syscall.EINVAL},
		{"cmp 17", ip, 16, &Cmp{Src: Reg1, Value: bytesOf(17)}, syscall.EOVERFLOW},
		{"cmp register 5", ip, 4, &Cmp{Src: 5, Value: bytesOf(4)}, syscall.ERANGE},
		{"cmp verdict register", ip, 4, &Cmp{Src: RegVerdict, Value: bytesOf(4)}, syscall.EINVAL},

		{"range", ip, 4, &Range{Src: Reg1, From: bytesOf(4), To: bytesOf(4)}, ok},
		{"range lengths", ip, 4, &Range{Src: Reg1, From: bytesOf(4), To: bytesOf(2)}, syscall.EINVAL},
		{"range lower empty", ip, 4, &Range{Src: Reg1, To: bytesOf(4)}, syscall.EINVAL},
		{"range upper empty", ip, 4, &Range{Src: Reg1, From: bytesOf(4)}, syscall.EINVAL},
		{"range 17", ip, 16, &Range{Src: Reg1, From: bytesOf(17), To: bytesOf(17)}, syscall.EOVERFLOW},

		{"mask", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Mask: bytesOf(4), Xor: bytesOf(4)}, ok},
		{"mask length", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Mask: bytesOf(2), Xor: bytesOf(4)}, syscall.EINVAL},
		{"xor length", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Mask: bytesOf(4), Xor: bytesOf(2)}, syscall.EINVAL},
		{"mask 17", ip, 16, &Bitwise{Src: Reg1, Dst: Reg1, Len: 17, Mask: bytesOf(17), Xor: bytesOf(17)}, syscall.EOVERFLOW},
		{"bitwise length 0", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Mask: bytesOf(4), Xor: bytesOf(4)}, syscall.EINVAL},
		{"bitwise length 256", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 256}, syscall.ERANGE},
		{"bitwise unknown", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: 9}, syscall.EOPNOTSUPP},
		{"bitwise destination", ip, 4, &Bitwise{Src: Reg1, Dst: 6, Len: 4, Mask: bytesOf(4), Xor: bytesOf(4)}, syscall.ERANGE},
		{"shift 1", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseLshift, Shift: 1}, ok},
		{"shift 0", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseLshift}, syscall.EINVAL},
		{"shift 32", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseRshift, Shift: 32}, syscall.EINVAL},
		{"or constant", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseOr, Data: bytesOf(4)}, ok},
		{"or constant length", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseOr, Data: bytesOf(2)}, syscall.EINVAL},
		{"or register", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseOr, Src2: Reg2, HasSrc2: true}, ok},
		{"or unwritten register", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseOr, Src2: Reg3, HasSrc2: true}, syscall.ENODATA},
		{"or nothing", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseOr}, syscall.EINVAL},
		{"or both", ip, 4, &Bitwise{Src: Reg1, Dst: Reg1, Len: 4, Op: BitwiseOr, Data: bytesOf(4), Src2: Reg2, HasSrc2: true}, syscall.EINVAL},
		{"bitwise overlap", ip, 16, &Bitwise{Src: Reg1, Dst: Reg32_00 + 1, Len: 8, Mask: bytesOf(8), Xor: bytesOf(8)}, syscall.EINVAL},
		{"bitwise overlap of the second register", ip, 16, &Bitwise{Src: Reg2, Dst: Reg32_00, Len: 8, Op: BitwiseOr, Src2: Reg32_00 + 1, HasSrc2: true}, syscall.EINVAL},

		{"byteorder", ip, 4, &Byteorder{Src: Reg1, Dst: Reg1, Len: 4, Size: 4}, ok},
		{"byteorder size 3", ip, 4, &Byteorder{Src: Reg1, Dst: Reg1, Len: 4, Size: 3}, syscall.EINVAL},
		{"byteorder size 256", ip, 4, &Byteorder{Src: Reg1, Dst: Reg1, Len: 4, Size: 256}, syscall.ERANGE},
		{"byteorder length 256", ip, 4, &Byteorder{Src: Reg1, Dst: Reg1, Len: 256, Size: 4}, syscall.ERANGE},
		// Since June 2026; Linux 6.18 converts two numbers here.
		{"byteorder of two numbers", ip, 16, &Byteorder{Src: Reg1, Dst: Reg1, Len: 8, Size: 4}, syscall.EOPNOTSUPP},
		{"byteorder overlap", ip, 16, &Byteorder{Src: Reg1, Dst: Reg32_00 + 1, Len: 8, Size: 8}, syscall.EINVAL},
		{"byteorder unwritten", ip, 0, &Byteorder{Src: Reg1, Dst: Reg1, Len: 4, Size: 4}, syscall.ENODATA},

		{"payload", ip, 0, &Payload{Base: catalog.BaseNetwork, Len: 4, Dst: Reg1}, ok},
		{"payload inner", ip, 0, &Payload{Base: catalog.BaseInner, Len: 4, Dst: Reg1}, ok},
		{"payload tunnel", ip, 0, &Payload{Base: catalog.BaseTunnel, Len: 4, Dst: Reg1}, syscall.EOPNOTSUPP},
		{"payload offset 65535", ip, 0, &Payload{Base: catalog.BaseNetwork, Offset: 65535, Len: 1, Dst: Reg1}, ok},
		{"payload offset 65536", ip, 0, &Payload{Base: catalog.BaseNetwork, Offset: 65536, Len: 1, Dst: Reg1}, syscall.ERANGE},
		{"payload length 0", ip, 0, &Payload{Base: catalog.BaseNetwork, Dst: Reg1}, syscall.EINVAL},
		{"payload length 65", ip, 0, &Payload{Base: catalog.BaseNetwork, Len: 65, Dst: Reg1}, syscall.ERANGE},
		{"payload length 256", ip, 0, &Payload{Base: catalog.BaseNetwork, Len: 256, Dst: Reg1}, syscall.ERANGE},
		{"write", ip, 4, &Payload{Write: true, Base: catalog.BaseNetwork, Len: 4, Src: Reg1, CsumType: 1, CsumOffset: 10}, ok},
		{"write unwritten", ip, 0, &Payload{Write: true, Base: catalog.BaseNetwork, Len: 4, Src: Reg1}, syscall.ENODATA},
		{"write checksum offset", ip, 4, &Payload{Write: true, Base: catalog.BaseNetwork, Len: 4, Src: Reg1, CsumOffset: 256}, syscall.ERANGE},
		{"write checksum type", ip, 4, &Payload{Write: true, Base: catalog.BaseNetwork, Len: 4, Src: Reg1, CsumType: 3}, syscall.EOPNOTSUPP},
		{"write checksum flags first", ip, 4, &Payload{Write: true, Base: catalog.BaseNetwork, Len: 4, Src: Reg1, CsumType: 3, CsumFlags: 2}, syscall.EINVAL},
		{"write sctp checksum", ip, 4, &Payload{Write: true, Base: catalog.BaseTransport, Len: 4, Src: Reg1, CsumType: 2, CsumOffset: 8}, ok},
		{"write sctp checksum elsewhere", ip, 4, &Payload{Write: true, Base: catalog.BaseTransport, Len: 4, Src: Reg1, CsumType: 2, CsumOffset: 9}, syscall.EINVAL},
		{"write sctp checksum in ip", ip, 4, &Payload{Write: true, Base: catalog.BaseNetwork, Len: 4, Src: Reg1, CsumType: 2, CsumOffset: 8}, syscall.EINVAL},

		{"exthdr", bridge, 0, &Exthdr{Op: ExthdrIPv6, Type: 43, Len: 1, Dst: Reg1}, ok},
		{"exthdr unknown", ip, 0, &Exthdr{Op: 5, Len: 1, Dst: Reg1}, syscall.EOPNOTSUPP},
		{"exthdr length", ip, 0, &Exthdr{Op: ExthdrTCPOpt, Len: 256, Dst: Reg1}, syscall.ERANGE},
		{"exthdr offset", ip, 0, &Exthdr{Op: ExthdrTCPOpt, Len: 1, Offset: 256, Dst: Reg1}, syscall.ERANGE},
		{"presence of two bytes", ip, 0, &Exthdr{Op: ExthdrIPv6, Len: 2, Present: true, Dst: Reg1}, syscall.EINVAL},
		{"ip option", arp, 0, &Exthdr{Op: ExthdrIPv4, Type: 7, Len: 1, Dst: Reg1}, ok},
		{"ip option in ip6", ip6, 0, &Exthdr{Op: ExthdrIPv4, Type: 7, Len: 1, Dst: Reg1}, syscall.EOPNOTSUPP},
		{"ip option unknown", ip, 0, &Exthdr{Op: ExthdrIPv4, Type: 1, Len: 1, Dst: Reg1}, syscall.EOPNOTSUPP},
		{"ip option offset first", ip, 0, &Exthdr{Op: ExthdrIPv4, Type: 1, Len: 1, Offset: 256, Dst: Reg1}, syscall.ERANGE},
		{"dccp option value", ip, 0, &Exthdr{Op: ExthdrDCCP, Len: 1, Dst: Reg1}, syscall.EOPNOTSUPP},
		// Kernels may be built without it.
		{"dccp option", ip, 0, &Exthdr{Op: ExthdrDCCP, Len: 1, Present: true, Dst: Reg1}, ok},
		{"sctp chunk", ip, 0, &Exthdr{Op: ExthdrSCTP, Len: 4, Dst: Reg1}, ok},
		{"option write", ip, 4, &Exthdr{Op: ExthdrTCPOpt, Type: 2, Offset: 2, Len: 2, Src: Reg1, Write: true}, ok},
		{"option write length", ip, 4, &Exthdr{Op: ExthdrTCPOpt, Type: 2, Offset: 2, Len: 3, Src: Reg1, Write: true}, syscall.EOPNOTSUPP},
		{"option write offset", ip, 4, &Exthdr{Op: ExthdrTCPOpt, Type: 2, Offset: 1, Len: 2, Src: Reg1, Write: true}, syscall.EOPNOTSUPP},
		{"option write offset 256", ip, 4, &Exthdr{Op: ExthdrTCPOpt, Type: 2, Offset: 256, Len: 2, Src: Reg1, Write: true}, syscall.ERANGE},
		{"option write of presence", ip, 4, &Exthdr{Op: ExthdrTCPOpt, Type: 2, Offset: 2, Len: 2, Src: Reg1, Write: true, Present: true}, syscall.EINVAL},
		{"extension header write", ip, 4, &Exthdr{Op: ExthdrIPv6, Offset: 2, Len: 2, Src: Reg1, Write: true}, syscall.EOPNOTSUPP},
		{"write and reset", ip, 4, &Exthdr{Op: ExthdrTCPOpt, Offset: 2, Len: 2, Src: Reg1, Write: true, Strip: true}, syscall.EOPNOTSUPP},
		{"option reset", ip, 0, &Exthdr{Op: ExthdrTCPOpt, Type: 30, Strip: true}, ok},
		{"extension header reset", ip, 0, &Exthdr{Op: ExthdrIPv6, Type: 30, Strip: true}, syscall.EOPNOTSUPP},

		{"meta", ip, 0, &Meta{Key: mark, Dst: Reg1}, ok},
		{"meta unknown", ip, 0, &Meta{Dst: Reg1}, syscall.EOPNOTSUPP},
		{"meta nftrace", ip, 0, &Meta{Key: catalog.MetaKey("nftrace"), Dst: Reg1}, syscall.EOPNOTSUPP},
		{"meta ibrname", ip, 0, &Meta{Key: catalog.MetaKey("ibrname"), Dst: Reg1}, syscall.EOPNOTSUPP},
		{"meta ibrname in bridge", bridge, 0, &Meta{Key: catalog.MetaKey("ibrname"), Dst: Reg1}, ok},
		{"meta set", ip, 4, &Meta{Key: mark, Src: Reg1, Set: true}, ok},
		{"meta set unwritten", ip, 0, &Meta{Key: mark, Src: Reg1, Set: true}, syscall.ENODATA},
		{"meta set length", ip, 4, &Meta{Key: catalog.MetaKey("length"), Src: Reg1, Set: true}, syscall.EOPNOTSUPP},

		{"ct", ip, 0, &CT{Key: ctMark, Dst: Reg1}, ok},
		{"ct in arp", arp, 0, &CT{Key: ctMark, Dst: Reg1}, syscall.EPROTO},
		{"ct set in netdev", netdev, 4, &CT{Key: ctMark, Src: Reg1, Set: true}, syscall.EPROTO},
		{"ct unknown", ip, 0, &CT{Dst: Reg1}, syscall.EOPNOTSUPP},
		{"ct event", ip, 0, &CT{Key: catalog.CTKey("event", 0), Dst: Reg1}, syscall.EOPNOTSUPP},
		{"ct mark with direction", ip, 0, &CT{Key: ctMark, Dst: Reg1, HasDir: true}, syscall.EINVAL},
		{"ct id with direction", ip, 0, &CT{Key: catalog.CTKey("id", 0), Dst: Reg1, HasDir: true}, syscall.EINVAL},
		{"ct l3proto with direction", ip, 0, &CT{Key: catalog.CTKey("l3proto", 0), Dst: Reg1, HasDir: true}, ok},
		{"ct saddr without direction", ip, 0, &CT{Key: catalog.CTKey("saddr", 0), Dst: Reg1}, syscall.EINVAL},
		{"ct saddr", ip, 0, &CT{Key: catalog.CTKey("saddr", 0), Dst: Reg32_15, HasDir: true}, ok},
		{"ct saddr of an inet table", inet, 0, &CT{Key: catalog.CTKey("saddr", 0), Dst: Reg32_15, HasDir: true}, syscall.ERANGE},
		{"ct saddr in arp", arp, 0, &CT{Key: catalog.CTKey("saddr", 0), Dst: Reg1, HasDir: true}, syscall.EAFNOSUPPORT},
		{"ct direction 2", ip, 0, &CT{Key: catalog.CTKey("bytes", 0), Dst: Reg1, HasDir: true, Dir: 2}, syscall.EINVAL},
		{"ct set", ip, 4, &CT{Key: ctMark, Src: Reg1, Set: true}, ok},
		{"ct set unwritten", ip, 0, &CT{Key: ctMark, Src: Reg1, Set: true}, syscall.ENODATA},
		{"ct set state", ip, 4, &CT{Key: catalog.CTKey("state", 0), Src: Reg1, Set: true}, syscall.EOPNOTSUPP},
		{"ct set zone with direction", ip, 4, &CT{Key: catalog.CTKey("zone", 0), Src: Reg1, Set: true, HasDir: true, Dir: 1}, ok},
		{"ct set mark with direction", ip, 4, &CT{Key: ctMark, Src: Reg1, Set: true, HasDir: true}, syscall.EINVAL},

		{"rt", arp, 0, &RT{Key: catalog.RTKey("classid", 0), Dst: Reg1}, ok},
		{"rt unknown", ip, 0, &RT{Dst: Reg1}, syscall.EOPNOTSUPP},
		{"socket", ip, 0, &Socket{Key: catalog.SocketKey("mark"), Dst: Reg1}, ok},
		{"socket unknown", ip, 0, &Socket{Dst: Reg1}, syscall.EOPNOTSUPP},
		{"socket in arp", arp, 0, &Socket{Key: catalog.SocketKey("mark"), Dst: Reg1}, syscall.EOPNOTSUPP},
		{"socket level", arp, 0, &Socket{Key: catalog.SocketKey("cgroupv2"), Level: 256, Dst: Reg1}, syscall.ERANGE},
		{"tunnel", netdev, 0, &Tunnel{Key: catalog.TunnelKey("id"), Dst: Reg1}, ok},
		{"tunnel unknown", netdev, 0, &Tunnel{Dst: Reg1}, syscall.EOPNOTSUPP},
		{"tunnel in ip", ip, 0, &Tunnel{Key: catalog.TunnelKey("id"), Dst: Reg1}, syscall.ENOENT},
		{"ipsec", ip, 0, &XFRM{Key: catalog.XFRMKey("spi", 0), Dst: Reg1}, ok},
		{"ipsec unknown", ip, 0, &XFRM{Dst: Reg1}, syscall.EINVAL},
		{"ipsec in bridge", bridge, 0, &XFRM{Key: catalog.XFRMKey("spi", 0), Dst: Reg1}, syscall.EOPNOTSUPP},
		{"ipsec spnum", ip, 0, &XFRM{Key: catalog.XFRMKey("spi", 0), Spnum: 6, Dst: Reg1}, syscall.ERANGE},

		{"fib", netdev, 0, &Fib{Result: FibResultOif, Flags: FibSaddr | FibIif, Dst: Reg1}, ok},
		{"fib in bridge", bridge, 0, &Fib{Result: FibResultOif, Flags: FibSaddr, Dst: Reg1}, syscall.ENOENT},
		{"fib result in ip", ip, 0, &Fib{Result: 4, Flags: FibSaddr, Dst: Reg1}, syscall.EOPNOTSUPP},
		{"fib result in inet", inet, 0, &Fib{Result: 0, Flags: FibSaddr, Dst: Reg1}, syscall.EINVAL},
		{"fib no flags", ip, 0, &Fib{Result: FibResultOif, Dst: Reg1}, syscall.EINVAL},
		{"fib unknown flags", ip, 0, &Fib{Result: FibResultOif, Flags: FibSaddr | 64, Dst: Reg1}, syscall.EINVAL},
		{"fib both addresses", ip, 0, &Fib{Result: FibResultOif, Flags: FibSaddr | FibDaddr, Dst: Reg1}, syscall.EINVAL},
		{"fib no address", ip, 0, &Fib{Result: FibResultOif, Flags: FibMark, Dst: Reg1}, syscall.EINVAL},
		{"fib both interfaces", ip, 0, &Fib{Result: FibResultType, Flags: FibSaddr | FibIif | FibOif, Dst: Reg1}, syscall.EINVAL},
		{"fib oif of oif", ip, 0, &Fib{Result: FibResultOifname, Flags: FibSaddr | FibOif, Dst: Reg1}, syscall.EINVAL},
		{"fib type of oif", ip, 0, &Fib{Result: FibResultType, Flags: FibSaddr | FibOif, Dst: Reg1}, ok},
		{"fib presence", ip, 0, &Fib{Result: FibResultOif, Flags: FibSaddr | FibPresent, Dst: Reg1}, ok},
		{"fib presence of a type", ip, 0, &Fib{Result: FibResultType, Flags: FibSaddr | FibPresent, Dst: Reg1}, syscall.EINVAL},
		{"fib oifname to a short register", ip, 0, &Fib{Result: FibResultOifname, Flags: FibSaddr, Dst: Reg32_15}, syscall.ERANGE},

		{"numgen", ip, 0, &Numgen{Mod: 2, Dst: Reg1}, ok},
		{"numgen modulus", ip, 0, &Numgen{Dst: Reg1}, syscall.ERANGE},
		{"numgen overflow", ip, 0, &Numgen{Mod: 2, Offset: 0xffffffff, Dst: Reg1}, syscall.EOVERFLOW},
		{"jhash", ip, 4, &Hash{Src: Reg1, Len: 4, Mod: 1, Dst: Reg1}, ok},
		{"jhash length 0", ip, 4, &Hash{Src: Reg1, Mod: 2, Dst: Reg1}, syscall.ERANGE},
		{"jhash length 256", ip, 4, &Hash{Src: Reg1, Len: 256, Mod: 2, Dst: Reg1}, syscall.ERANGE},
		{"jhash unwritten", ip, 0, &Hash{Src: Reg1, Len: 4, Mod: 2, Dst: Reg1}, syscall.ENODATA},
		{"symhash modulus", ip, 0, &Hash{Symmetric: true, Dst: Reg1}, syscall.ERANGE},
		{"jhash overflow", ip, 4, &Hash{Src: Reg1, Len: 4, Mod: 2, Offset: 0xffffffff, Dst: Reg1}, syscall.EOVERFLOW},
		{"osf", ip, 0, &OSF{Dst: Reg1}, ok},
		{"osf ttl", ip, 0, &OSF{Dst: Reg1, TTL: 3}, syscall.EINVAL},
		{"osf flags", ip, 0, &OSF{Dst: Reg1, Flags: 2}, syscall.EINVAL},

		{"inner payload", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 8, Expr: &Payload{Base: catalog.BaseTunnel, Len: 4, Dst: Reg1}}, ok},
		{"inner inner header", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 8, Expr: &Payload{Base: catalog.BaseInner, Len: 4, Dst: Reg1}}, syscall.EOPNOTSUPP},
		{"inner length", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 8, Expr: &Payload{Len: 256, Dst: Reg1}}, syscall.ERANGE},
		{"inner write", ip, 4, &Inner{Type: 1, Flags: 15, HdrSize: 8, Expr: &Payload{Write: true, Len: 4, Src: Reg1}}, syscall.EINVAL},
		{"inner flags", ip, 0, &Inner{Type: 1, Flags: 31, HdrSize: 8, Expr: &Payload{Len: 4, Dst: Reg1}}, syscall.EOPNOTSUPP},
		{"inner header 0", ip, 0, &Inner{Type: 1, Flags: 15, Expr: &Payload{Len: 4, Dst: Reg1}}, syscall.EOPNOTSUPP},
		{"inner header 65", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 65, Expr: &Payload{Len: 4, Dst: Reg1}}, syscall.EOPNOTSUPP},
		{"inner header 65 unused", ip, 0, &Inner{Type: 1, Flags: 14, HdrSize: 65, Expr: &Payload{Len: 4, Dst: Reg1}}, ok},
		{"inner type 256", ip, 0, &Inner{Type: 256, Flags: 15, HdrSize: 8, Expr: &Payload{Len: 4, Dst: Reg1}}, syscall.EINVAL},
		{"inner meta", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 8, Expr: &Meta{Key: catalog.MetaKey("l4proto"), Dst: Reg1}}, ok},
		{"inner meta mark", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 8, Expr: &Meta{Key: mark, Dst: Reg1}}, syscall.EOPNOTSUPP},
		{"inner counter", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 8, Expr: &Counter{}}, syscall.EOPNOTSUPP},
		{"inner nothing", ip, 0, &Inner{Type: 1, Flags: 15, HdrSize: 8}, syscall.EINVAL},

		{"lookup", ip, 4, &Lookup{Set: "set", Src: Reg1, Invert: true}, ok},
		{"lookup unknown", ip, 4, &Lookup{Set: "nope", Src: Reg1}, syscall.ENOENT},
		{"lookup half written", ip, 4, &Lookup{Set: "wide", Src: Reg1}, syscall.ENODATA},
		{"lookup data", ip, 4, &Lookup{Set: "map", Src: Reg1, Dst: Reg1, HasDst: true}, ok},
		{"lookup data inverted", ip, 4, &Lookup{Set: "map", Src: Reg1, Dst: Reg1, HasDst: true, Invert: true}, syscall.EINVAL},
		{"lookup data of a set", ip, 4, &Lookup{Set: "set", Src: Reg1, Dst: Reg1, HasDst: true}, syscall.EINVAL},
		{"lookup verdict", ip, 4, &Lookup{Set: "vmap", Src: Reg1, HasDst: true}, ok},
		{"lookup verdict to data", ip, 4, &Lookup{Set: "vmap", Src: Reg1, Dst: Reg1, HasDst: true}, syscall.EINVAL},
		{"lookup data to verdict", ip, 4, &Lookup{Set: "map", Src: Reg1, HasDst: true}, syscall.EINVAL},
		{"lookup without data", ip, 4, &Lookup{Set: "map", Src: Reg1}, ok},
		{"lookup without data of an anonymous map", ip, 4, &Lookup{Set: "anonmap", Src: Reg1}, syscall.EINVAL},

		{"dynset", ip, 4, &Dynset{Set: "set", Key: Reg1}, ok},
		{"dynset unknown", ip, 4, &Dynset{Set: "nope", Key: Reg1}, syscall.ENOENT},
		{"dynset objects", ip, 4, &Dynset{Set: "objects", Key: Reg1}, syscall.EOPNOTSUPP},
		{"dynset interval", ip, 4, &Dynset{Set: "interval", Key: Reg1}, syscall.EOPNOTSUPP},
		{"dynset backend", ip, 4, &Dynset{Set: "frozen", Key: Reg1}, syscall.EOPNOTSUPP},
		{"dynset constant", ip, 4, &Dynset{Set: "constant", Key: Reg1}, syscall.EBUSY},
		{"dynset operation", ip, 4, &Dynset{Set: "set", Op: 3, Key: Reg1}, syscall.EOPNOTSUPP},
		{"dynset timeout", ip, 4, &Dynset{Set: "timeout", Key: Reg1, Timeout: 1}, ok},
		{"dynset timeout without", ip, 4, &Dynset{Set: "set", Key: Reg1, Timeout: 1}, syscall.EOPNOTSUPP},
		{"dynset unwritten", ip, 0, &Dynset{Set: "set", Key: Reg1}, syscall.ENODATA},
		{"dynset data", ip, 4, &Dynset{Set: "map", Key: Reg1, Data: Reg2, HasData: true}, ok},
		{"dynset data unwritten", ip, 4, &Dynset{Set: "map", Key: Reg1, Data: Reg3, HasData: true}, syscall.ENODATA},
		{"dynset data for a set", ip, 4, &Dynset{Set: "set", Key: Reg1, Data: Reg2, HasData: true}, syscall.EOPNOTSUPP},
		{"dynset data for a verdict map", ip, 4, &Dynset{Set: "vmap", Key: Reg1, Data: Reg2, HasData: true}, syscall.EOPNOTSUPP},
		{"dynset no data", ip, 4, &Dynset{Set: "map", Key: Reg1}, syscall.EINVAL},
		{"dynset expression", ip, 4, &Dynset{Set: "dynamic", Key: Reg1, Exprs: []Expr{&Counter{}}}, ok},
		{"dynset expression of a plain set", ip, 4, &Dynset{Set: "set", Key: Reg1, Exprs: []Expr{&Counter{}}}, syscall.EINVAL},
		{"dynset expressions", ip, 4, &Dynset{Set: "dynamic", Key: Reg1, Exprs: []Expr{&Counter{}, &Counter{}, &Counter{}}}, syscall.E2BIG},
		{"dynset log", ip, 4, &Dynset{Set: "dynamic", Key: Reg1, Exprs: []Expr{&Log{}}}, syscall.EINVAL},
		{"dynset bad limit", ip, 4, &Dynset{Set: "dynamic", Key: Reg1, Exprs: []Expr{&Limit{}}}, syscall.EINVAL},
		{"dynset other expression", ip, 4, &Dynset{Set: "counters", Key: Reg1, Exprs: []Expr{&Last{}}}, syscall.EOPNOTSUPP},
		{"dynset more expressions", ip, 4, &Dynset{Set: "counters", Key: Reg1, Exprs: []Expr{&Counter{}, &Last{}}}, syscall.EOPNOTSUPP},

		{"objref", ip, 0, &Objref{Type: ObjectCounter, Name: "object"}, ok},
		{"objref unknown", ip, 0, &Objref{Type: ObjectQuota, Name: "object"}, syscall.ENOENT},
		{"objref map", ip, 4, &Objref{Set: "objects", Src: Reg1, IsMap: true}, ok},
		{"objref unknown map", ip, 4, &Objref{Set: "nope", Src: Reg1, IsMap: true}, syscall.ENOENT},
		{"objref other map", ip, 4, &Objref{Set: "map", Src: Reg1, IsMap: true}, syscall.EINVAL},
		{"objref unwritten", ip, 0, &Objref{Set: "objects", Src: Reg1, IsMap: true}, syscall.ENODATA},
		{"flow_offload", ip, 0, &FlowOffload{Flowtable: "table"}, ok},
		{"flow_offload unknown", ip, 0, &FlowOffload{Flowtable: "nope"}, syscall.ENOENT},

		{"counter", arp, 0, &Counter{}, ok},
		{"last", arp, 0, &Last{}, ok},
		{"notrack", arp, 0, &Notrack{}, ok},
		{"limit", ip, 0, &Limit{Rate: 1, Unit: 1, Burst: 5}, ok},
		{"limit unit 0", ip, 0, &Limit{Rate: 1, Burst: 5}, ok},
		{"limit rate 0", ip, 0, &Limit{Unit: 1, Burst: 5}, syscall.EINVAL},
		{"limit unit", ip, 0, &Limit{Rate: 1, Unit: 1 << 40}, syscall.EOVERFLOW},
		{"limit sum", ip, 0, &Limit{Rate: 1<<64 - 1, Unit: 1, Burst: 5}, syscall.EOVERFLOW},
		{"limit bytes", ip, 0, &Limit{Rate: 1 << 40, Unit: 1, Burst: 5, Bytes: true}, syscall.EOVERFLOW},
		{"limit packets", ip, 0, &Limit{Rate: 1, Unit: 604800, Burst: 1 << 31}, syscall.EOVERFLOW},
		{"quota", ip, 0, &Quota{Bytes: 5, Consumed: 5}, ok},
		{"quota large", ip, 0, &Quota{Bytes: 1 << 63}, syscall.EOVERFLOW},
		{"quota consumed", ip, 0, &Quota{Bytes: 5, Consumed: 6}, syscall.EINVAL},
		{"connlimit", ip, 0, &ConnLimit{Count: 1}, ok},
		{"connlimit in netdev", netdev, 0, &ConnLimit{Count: 1}, syscall.EPROTO},
		{"log", ip, 0, &Log{HasLevel: true, Level: 8, HasPrefix: true, Prefix: string(make([]byte, 127))}, ok},
		{"log prefix", ip, 0, &Log{HasPrefix: true, Prefix: string(make([]byte, 128))}, syscall.ERANGE},
		{"log level and group", ip, 0, &Log{HasLevel: true, HasGroup: true}, syscall.EINVAL},
		{"log level", ip, 0, &Log{HasLevel: true, Level: 9}, syscall.EINVAL},
		{"log flags", ip, 0, &Log{HasFlags: true, Flags: 0x10}, syscall.EINVAL},

		{"reject", netdev, 0, &Reject{Type: RejectICMPX, Code: 3}, ok},
		{"reject in arp", arp, 0, &Reject{}, syscall.ENOENT},
		{"reject code", inet, 0, &Reject{Type: RejectICMPX, Code: 4}, syscall.EINVAL},
		{"reject type", ip, 0, &Reject{Type: 3}, syscall.EINVAL},
		{"reject icmpx in ip", ip, 0, &Reject{Type: RejectICMPX, Code: 3}, ok},

		{"nat", ip, 4, &NAT{Family: ip, AddrMin: Reg1, HasAddr: true, AddrMax: Reg2, HasAddrMax: true, ProtoMin: Reg1, HasProto: true, ProtoMax: Reg2, HasProtoMax: true}, ok},
		{"nat nothing", ip, 4, &NAT{Family: ip}, syscall.EINVAL},
		{"nat flags first", arp, 4, &NAT{Family: ip, ProtoMin: Reg1, HasProto: true, Flags: 0x80}, syscall.EINVAL},
		{"nat other family", ip, 4, &NAT{Family: ip6, AddrMin: Reg1, HasAddr: true}, syscall.EOPNOTSUPP},
		{"nat ports of inet", inet, 4, &NAT{Family: inet, ProtoMin: Reg1, HasProto: true}, ok},
		{"nat ports of nothing", inet, 4, &NAT{ProtoMin: Reg1, HasProto: true}, syscall.EPROTO},
		{"nat address of inet", inet, 4, &NAT{Family: inet, AddrMin: Reg1, HasAddr: true}, syscall.EAFNOSUPPORT},
		{"nat ip6 half written", inet, 4, &NAT{Family: ip6, AddrMin: Reg1, HasAddr: true}, syscall.ENODATA},
		{"nat end unwritten", ip, 4, &NAT{Family: ip, AddrMin: Reg1, HasAddr: true, AddrMax: Reg3, HasAddrMax: true}, syscall.ENODATA},
		{"nat port end unwritten", ip, 4, &NAT{Family: ip, ProtoMin: Reg1, HasProto: true, ProtoMax: Reg3, HasProtoMax: true}, syscall.ENODATA},
		{"masq", inet, 4, &Masq{ProtoMin: Reg1, HasProto: true}, ok},
		{"masq flags", ip, 0, &Masq{Flags: 0x80}, syscall.EINVAL},
		{"masq in bridge", bridge, 0, &Masq{}, syscall.ENOENT},
		{"redir", ip6, 4, &Redir{ProtoMin: Reg1, HasProto: true}, ok},
		{"redir flags", ip, 0, &Redir{Flags: 0x80}, syscall.EINVAL},
		{"redir in netdev", netdev, 0, &Redir{}, syscall.ENOENT},
		{"redir unwritten", ip, 0, &Redir{ProtoMin: Reg1, HasProto: true}, syscall.ENODATA},
		{"tproxy", inet, 16, &TProxy{Family: ip6, Addr: Reg1, HasAddr: true, Port: Reg2, HasPort: true}, ok},
		{"tproxy either", inet, 4, &TProxy{Port: Reg1, HasPort: true}, ok},
		{"tproxy nothing", arp, 4, &TProxy{Family: ip}, syscall.EINVAL},
		{"tproxy other family", ip, 4, &TProxy{Family: ip6, Port: Reg1, HasPort: true}, syscall.EINVAL},
		{"tproxy no family", ip, 4, &TProxy{Port: Reg1, HasPort: true}, syscall.EINVAL},
		{"tproxy address of no family", inet, 4, &TProxy{Addr: Reg1, HasAddr: true}, syscall.EINVAL},
		{"tproxy unknown family", inet, 4, &TProxy{Family: 3, Port: Reg1, HasPort: true}, syscall.EOPNOTSUPP},
		{"tproxy in bridge", bridge, 4, &TProxy{Family: ip, Port: Reg1, HasPort: true}, syscall.EOPNOTSUPP},
		{"tproxy unwritten", ip, 0, &TProxy{Family: ip, Port: Reg1, HasPort: true}, syscall.ENODATA},
		{"synproxy", ip, 0, &Synproxy{MSS: 1, Flags: 1}, ok},
		{"synproxy flags first", arp, 0, &Synproxy{Flags: 0x10}, syscall.EOPNOTSUPP},
		{"synproxy in arp", arp, 0, &Synproxy{Flags: 1}, syscall.EPROTO},
		// Not observed: that kernel has no queue.
		{"queue", ip, 0, &Queue{Num: 1, Total: 2, Flags: 3}, ok},
		{"queue none", ip, 0, &Queue{Num: 1}, syscall.EINVAL},
		{"queue too many", ip, 0, &Queue{Num: 65535, Total: 2}, syscall.ERANGE},
		{"queue flags", ip, 0, &Queue{Total: 1, Flags: 4}, syscall.EINVAL},
		{"queue register", ip, 4, &Queue{Src: Reg1, HasSrc: true, Flags: QueueBypass}, ok},
		{"queue register fanout", ip, 4, &Queue{Src: Reg1, HasSrc: true, Flags: QueueFanout}, syscall.EOPNOTSUPP},
		{"queue register unwritten", ip, 0, &Queue{Src: Reg1, HasSrc: true}, syscall.ENODATA},
		{"queue in netdev", netdev, 0, &Queue{Total: 1}, syscall.EOPNOTSUPP},
		{"dup", ip, 4, &Dup{Addr: Reg1, HasAddr: true, Dev: Reg2, HasDev: true}, ok},
		{"dup no address", ip, 4, &Dup{Dev: Reg1, HasDev: true}, syscall.EINVAL},
		{"dup ip6 half written", ip6, 4, &Dup{Addr: Reg1, HasAddr: true}, syscall.ENODATA},
		{"dup netdev", netdev, 4, &Dup{Dev: Reg1, HasDev: true}, ok},
		{"dup no device", netdev, 4, &Dup{Addr: Reg1, HasAddr: true}, syscall.EINVAL},
		{"dup in inet", inet, 4, &Dup{Addr: Reg1, HasAddr: true}, syscall.ENOENT},
		{"fwd", netdev, 4, &Fwd{Dev: Reg1, Addr: Reg2, HasAddr: true, NFProto: 2}, ok},
		{"fwd family", netdev, 4, &Fwd{Dev: Reg1, Addr: Reg2, HasAddr: true, NFProto: 7}, syscall.EOPNOTSUPP},
		{"fwd in ip", ip, 4, &Fwd{Dev: Reg1}, syscall.ENOENT},
		{"fwd unwritten", netdev, 0, &Fwd{Dev: Reg1}, syscall.ENODATA},
		{"match", ip, 0, &XT{Name: "comment"}, ok},
		{"match without name", ip, 0, &XT{}, syscall.ENOENT},
		{"match revision", ip, 0, &XT{Name: "comment", Rev: 256}, syscall.ERANGE},
	} {
		var rule []Expr
		if c.before > 0 {
			rule = written(c.before)
		}
		at, err := CheckRule(append(rule, c.e), testPlace(c.family))
		if got := errnoOf(err); got != c.want {
			t.Errorf("%s: %v (%d), want %d", c.name, err, got, c.want)
		}
		if err != nil && at != len(rule) {
			t.Errorf("%s: refused at %d", c.name, at)
		}
	}
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		return syscall.EIO
	}
	return errno
}

func TestRuleLimits(t *testing.T) {
	repeat := func(e Expr, n int) (rule []Expr) {
		for range n {
			rule = append(rule, e)
		}
		return rule
	}
	large := &Immediate{Dst: Reg1, Data: Data{Value: bytesOf(16)}}
	for _, c := range []struct {
		rule []Expr
		want syscall.Errno
	}{
		{repeat(&Counter{}, 128), ok},
		{repeat(&Counter{}, 129), syscall.EINVAL},
		{repeat(large, 127), ok},
		{repeat(large, 128), syscall.EFBIG},
		{append([]Expr{large}, repeat(&Bitwise{Src: Reg1, Dst: Reg1, Len: 16, Mask: bytesOf(16), Xor: bytesOf(16)}, 63)...), ok},
		{append([]Expr{large}, repeat(&Bitwise{Src: Reg1, Dst: Reg1, Len: 16, Mask: bytesOf(16), Xor: bytesOf(16)}, 64)...), syscall.EFBIG},
	} {
		at, err := CheckRule(c.rule, testPlace(familyIP))
		if got := errnoOf(err); got != c.want || at != -1 {
			t.Errorf("%d of %s: %v at %d, want %d", len(c.rule), c.rule[len(c.rule)-1].Kind(), err, at, c.want)
		}
	}
}

// TestErrorText pins the form of a refusal.
func TestErrorText(t *testing.T) {
	_, err := CheckRule([]Expr{&Cmp{Src: Reg1, Value: bytesOf(4)}}, Place{})
	want := "read of 4 bytes from register 1, which the rule has not written: no data available"
	if err == nil || err.Error() != want || !errors.Is(err, syscall.ENODATA) {
		t.Errorf("got %v, want %s", err, want)
	}
	if s := fmt.Sprint(CmpOp(9), DynsetOp(9), BitwiseRshift, BitwiseOp(9)); s != "unknown unknown rshift operation 9" {
		t.Errorf("names of operations: %s", s)
	}
}
