//go:build linux

package kernel

import (
	"strings"
	"testing"

	"verdict/nft/netlink"
	"verdict/nft/ruleset"
	"verdict/packet/build"
)

// frameOf makes a frame for the router that lan0 receives.
func frameOf(t *testing.T, text string) Injection {
	t.Helper()
	p, err := build.Parse("ether saddr 02:00:00:00:01:02 ether daddr " + lanMAC + " ip saddr 10.0.0.2 ip daddr 10.0.0.1 " + text)
	if err != nil {
		t.Fatal(err)
	}
	return Injection{Interface: "lan0", Data: p.Data}
}

// listed is a ruleset as nft lists it, user data and all.
const listed = `table inet t {
	comment "of the table"
	counter c1 {
		comment "of the object"
		packets 0 bytes 0
	}

	set pairs {
		typeof ip saddr . tcp dport
		flags interval
		comment "of the set"
		elements = { 10.0.0.0/8 . 80-90 comment "of the element" }
	}

	set marks {
		typeof meta mark
		elements = { 0x00000010 }
	}

	map verdicts {
		type inet_service : verdict
		elements = { 22 : accept, 80 : jump other }
	}

	set merged {
		type ipv4_addr
		flags interval
		auto-merge
		elements = { 192.168.0.0/16 }
	}

	chain other {
		comment "of the chain"
		ip saddr 10.0.0.1 drop comment "of the rule"
	}

	chain input {
		type filter hook input priority filter; policy drop;
		ct state established,related accept
		tcp dport { 22, 80 } counter packets 0 bytes 0 log prefix "x: " accept
		jump {
			udp dport 53 accept
		}
	}
}
`

func nftReads(t *testing.T, l *Lab) error {
	made, err := l.compile(&Case{Ruleset: listed})
	if err != nil {
		return err
	}
	refused, err := l.Load(made.batch, made.base)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		t.Fatalf("refused: %v", refused)
	}
	text, err := tool("", "nft", "list", "table", "inet", "t")
	if err != nil {
		return err
	}
	for _, want := range strings.Split(listed, "\n") {
		if want = strings.TrimSpace(want); !strings.Contains(string(text), want) {
			t.Errorf("nft does not show %q:\n%s", want, text)
			break
		}
	}
	return nftWrites(t, l, string(text))
}

// nftWrites loads with nft and reads its user data.
func nftWrites(t *testing.T, l *Lab, text string) error {
	own, err := l.ReadBack(start)
	if err != nil {
		return err
	}
	if _, err := tool("flush ruleset\n"+text, "nft", "-f", "-"); err != nil {
		return err
	}
	theirs, err := l.ReadBack(start)
	if err != nil {
		return err
	}
	for _, u := range theirs.Unknown {
		t.Errorf("not understood: %s", u)
	}
	for _, d := range []*netlink.Dump{own, theirs} {
		forgetHandles(d.Rules)
	}
	if d := netlink.Difference(own.Rules, theirs.Rules, start); d != "" {
		t.Errorf("nft writes it otherwise: %s", d)
	}
	return nil
}

// forgetHandles drops handles and the names of anonymous chains, which count
// from when the namespace and the machine began.
func forgetHandles(rs *ruleset.Ruleset) {
	names := map[chainKey]string{}
	for _, table := range rs.Tables {
		table.Handle = 0
		for _, c := range table.Chains {
			if c.Binding {
				names[chainKey{table.Family, table.Name, c.Name}] = "__chain"
			}
			c.Handle = 0
			for _, r := range c.Rules {
				r.Handle = 0
			}
		}
		for _, s := range table.Sets {
			s.Handle = 0
			if s.Flags&ruleset.SetAnonymous != 0 {
				s.UserData.KeyTypeof = "" // nft stores it, and has no use for it
			}
		}
		for _, o := range table.Objects {
			o.Handle = 0
		}
	}
	renameChains(rs, names)
}
