package offload

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"verdict/catalog"
	"verdict/nft/expr"
)

func reg1(base catalog.Base, off, n uint32) *expr.Payload {
	return &expr.Payload{Base: base, Offset: off, Len: n, Dst: 1}
}

func equal(b ...byte) *expr.Cmp { return &expr.Cmp{Src: 1, Value: expr.Value{Bytes: b}} }

func and(b ...byte) *expr.Bitwise {
	return &expr.Bitwise{Src: 1, Dst: 1, Len: uint32(len(b)), Mask: expr.Value{Bytes: b}, Xor: expr.Value{Bytes: make([]byte, len(b))}}
}

func loadMeta(name string) *expr.Meta { return &expr.Meta{Key: catalog.MetaKey(name), Dst: 1} }

func verdict(k catalog.VerdictKind) *expr.Immediate {
	return &expr.Immediate{Data: expr.Data{Verdict: &expr.Verdict{Kind: k}}}
}

// fields writes the fields that a match tests.
func fieldText(m *Match) string {
	var l []string
	for _, f := range Fields() {
		if m.Mask.IsSet(f) {
			l = append(l, fmt.Sprintf("%s=%x/%x", f.Name, m.Key.Get(f), m.Mask.Get(f)))
		}
	}
	return strings.Join(l, " ")
}

// TestTranslateNFT goes through the forms that the kernel offloads, and those
// that it refuses.
func TestTranslateNFT(t *testing.T) {
	drop := verdict(catalog.VerdictDrop)
	ip := []expr.Expr{loadMeta("protocol"), equal(8, 0)}
	ip6 := []expr.Expr{loadMeta("protocol"), equal(0x86, 0xdd)}
	tcp := []expr.Expr{loadMeta("l4proto"), equal(6)}
	device := &expr.Immediate{Dst: 1, Data: expr.Data{Value: expr.Value{Bytes: []byte{3, 0, 0, 0}}}}
	join := func(l ...any) (out []expr.Expr) {
		for _, x := range l {
			switch v := x.(type) {
			case []expr.Expr:
				out = append(out, v...)
			case expr.Expr:
				out = append(out, v)
			}
		}
		return out
	}
	addr4 := strings.Repeat("00", 12)
	for _, c := range []struct {
		name string
		rule []expr.Expr
		want string
	}{
		{"eth src", join(reg1(0, 6, 6), equal(2, 0, 0, 0, 0, 1), drop), "eth_src=020000000001/ffffffffffff → [drop]"},
		{"eth dst prefix", join(reg1(0, 0, 3), equal(2, 0, 9), drop), "eth_dst=020009000000/ffffff000000 → [drop]"},
		{"ether type", join(reg1(0, 12, 2), equal(8, 6), drop), "n_proto=0806/ffff → [drop]"},
		{"ip saddr", join(ip, reg1(1, 12, 4), equal(10, 0, 0, 1), drop),
			"n_proto=0800/ffff addr_type=02/ff src=0a000001" + addr4 + "/ffffffff" + addr4 + " → [drop]"},
		{"ip daddr by three bytes", join(ip, reg1(1, 16, 3), equal(10, 0, 0), drop),
			"n_proto=0800/ffff addr_type=02/ff dst=0a000000" + addr4 + "/ffffff00" + addr4 + " → [drop]"},
		{"ip daddr by mask", join(ip, reg1(1, 16, 4), and(255, 255, 255, 128), equal(10, 0, 0, 128), drop),
			"n_proto=0800/ffff addr_type=02/ff dst=0a000080" + addr4 + "/ffffff80" + addr4 + " → [drop]"},
		{"ip6 saddr", join(ip6, reg1(1, 8, 16), equal(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), drop),
			"n_proto=86dd/ffff addr_type=03/ff src=0102030405060708090a0b0c0d0e0f10/" + strings.Repeat("ff", 16) + " → [drop]"},
		{"tcp dport", join(ip, tcp, reg1(2, 2, 2), equal(0, 80), verdict(catalog.VerdictAccept)),
			"n_proto=0800/ffff ip_proto=06/ff dst_port=0050/ffff → [accept]"},
		{"ip protocol, udp sport", join(ip, reg1(1, 9, 1), equal(17), reg1(2, 0, 2), equal(0, 53), drop),
			"n_proto=0800/ffff ip_proto=11/ff src_port=0035/ffff → [drop]"},
		{"iif", join(loadMeta("iif"), equal(3, 0, 0, 0), drop), "ingress_ifindex=03000000/ffffffff → [drop]"},
		{"iiftype ether", join(loadMeta("iiftype"), equal(1, 0), drop), " → [drop]"},
		{"counter and fwd", join(&expr.Counter{}, device, &expr.Fwd{Dev: 1}), " → [redirect eth3]"},
		{"dup", join(device, &expr.Dup{Dev: 1, HasDev: true}), " → [mirror eth3]"},
		{"vlan rotated", join(reg1(0, 12, 2), equal(0x81, 0), reg1(0, 14, 2), and(0x0f, 0xff), equal(0, 5), reg1(0, 16, 2), equal(8, 0), drop),
			"n_proto=0800/ffff vlan_id=0005/0fff vlan_tpid=8100/ffff → [drop]"},
		{"two tags rotated", join(reg1(0, 12, 2), equal(0x88, 0xa8), reg1(0, 16, 2), equal(0x81, 0), reg1(0, 20, 2), equal(0x86, 0xdd), drop),
			"n_proto=86dd/ffff vlan_tpid=88a8/ffff cvlan_tpid=8100/ffff → [drop]"},

		{"no action", join(ip), "the rule has no action"},
		{"network without protocol", join(reg1(1, 12, 4), equal(1, 2, 3, 4), drop), "payload: the network header needs its protocol before it"},
		{"ports without protocol", join(ip, reg1(2, 2, 2), equal(0, 80), drop), "payload: ports need the protocol tcp or udp before them"},
		{"unequal", join(loadMeta("protocol"), &expr.Cmp{Src: 1, Op: expr.CmpNeq, Value: expr.Value{Bytes: []byte{8, 0}}}, drop), "cmp: only equality with a field can be offloaded"},
		{"unknown field", join(ip, reg1(1, 8, 1), equal(64), drop), "payload: network + 8 cannot be offloaded"},
		{"too long", join(reg1(0, 0, 8), equal(1, 2), drop), "payload: a load of 8 bytes is longer than the field"},
		{"meta mark", join(loadMeta("mark"), equal(1, 0, 0, 0), drop), "meta mark cannot be offloaded"},
		{"iiftype loopback", join(loadMeta("iiftype"), equal(4, 3), drop), "meta iiftype: only ether can be offloaded"},
		{"jump", join(verdict(catalog.VerdictJump)), "immediate: only accept and drop can be offloaded"},
		{"lookup", join(&expr.Lookup{}, drop), "lookup cannot be offloaded"},
		{"xor", join(reg1(0, 12, 2), &expr.Bitwise{Src: 1, Dst: 1, Len: 2, Mask: expr.Value{Bytes: []byte{255, 255}}, Xor: expr.Value{Bytes: []byte{0, 1}}}, drop),
			"bitwise: an exclusive-or cannot be offloaded"},
		{"fwd by map", join(&expr.Fwd{Dev: 2}), "fwd: only a constant device can be offloaded"},
		{"set payload", join(&expr.Payload{Base: 1, Write: true}, drop), "payload: setting fields cannot be offloaded"},
		{"many actions", join(func() (l []expr.Expr) {
			for range 25 {
				l = append(l, drop)
			}
			return l
		}()), "the rule has more than 24 actions"},
	} {
		r, err := TranslateNFT(c.rule, func(i uint32) string { return fmt.Sprintf("eth%d", i) })
		got := ""
		var refusal *Refusal
		switch {
		case errors.As(err, &refusal):
			got = refusal.Reason
			if refusal.Errno != syscall.EOPNOTSUPP {
				t.Errorf("%s: %v", c.name, refusal.Errno)
			}
		case err == nil:
			got = fieldText(&r.Match) + fmt.Sprintf(" → %v", r.Actions)
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestCheckNFTChain(t *testing.T) {
	good := NFTChain{Netdev: true, Ingress: true, Priority: 10}
	for _, c := range []struct {
		name   string
		change func(*NFTChain)
		ok     bool
	}{
		{"good", func(*NFTChain) {}, true},
		{"family", func(c *NFTChain) { c.Netdev = false }, false},
		{"egress", func(c *NFTChain) { c.Ingress = false }, false},
		{"priority 0", func(c *NFTChain) { c.Priority = 0 }, false},
		{"priority 65536", func(c *NFTChain) { c.Priority = 65536 }, false},
	} {
		chain := good
		c.change(&chain)
		if err := CheckNFTChain(chain); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
