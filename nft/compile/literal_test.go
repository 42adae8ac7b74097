package compile

import (
	"testing"
	"time"

	"verdict/catalog"
	"verdict/nft/syntax"
)

func TestLiterals(t *testing.T) {
	cases := []struct {
		typ  *catalog.Type
		text string
		want uint64
	}{
		{catalog.IPv4Addr, "10.0.0.1", 0x0a000001},
		{catalog.EtherAddr, "0:1:2:a:b:c", 0x0001020a0b0c},
		{catalog.ClassID, "1:ffff", 0x1ffff},
		{catalog.ClassID, "root", 0xffffffff},
		{catalog.Time, "1d2h3m4s5ms", 93784005},
		{catalog.Time, "30s", 30000},
		{catalog.Day, "Saturday", 6},
		{catalog.Day, "sat", 6},
		{catalog.Hour, "00:00", 79200},
		{catalog.Hour, "02:02", 120},
		{catalog.Date, "1970-01-01 02:00", 0},
		{catalog.Date, "1970-01-02", 79200e9},
		{catalog.InetService, "ssh", 22},
		{catalog.InetProto, "tcp", 6},
		{catalog.TCPFlag, "syn", 2},
		{catalog.Mark, "0x10", 16},
		{catalog.CTState, "established", 2},
		{catalog.EtherType, "ip6", 0x86dd},
	}
	for _, c := range cases {
		k := newCompiler(nil, Options{Location: time.FixedZone("", 7200)})
		w, ok := k.literal(&syntax.Literal{Kind: syntax.LitWord, Text: c.text}, typeOf(c.typ))
		if !ok || w.n != small(c.want) {
			t.Errorf("%s %q = %v, %v, want %d: %v", c.typ.Name, c.text, w.n, ok, c.want, k.diags.All())
		}
	}
}

func TestLiteralsRefused(t *testing.T) {
	cases := []struct {
		typ  *catalog.Type
		text string
	}{
		{catalog.IPv4Addr, "10.0.0"}, {catalog.IPv4Addr, "10.0.0.256"}, {catalog.IPv4Addr, "::1"},
		{catalog.IPv6Addr, "10.0.0.1"}, {catalog.IPv6Addr, "fe80::1%eth0"}, {catalog.IPv6Addr, "1::2::3"},
		{catalog.EtherAddr, "00:11:22:33:44"}, {catalog.EtherAddr, "00:11:22:33:44:gg"},
		{catalog.ClassID, "1:10000"}, {catalog.Time, "1h1d"}, {catalog.Time, "5x"},
		{catalog.Hour, "24:00"}, {catalog.Hour, "12:60"},
		{catalog.Date, "2024-13-01"}, {catalog.Day, "Funday"}, {catalog.InetService, "65536"}, {catalog.CTState, "neww"},
		{catalog.IfIndex, "eth9"}, {catalog.UID, "nobody"},
	}
	for _, c := range cases {
		k := newCompiler(nil, Options{})
		if w, ok := k.literal(&syntax.Literal{Kind: syntax.LitWord, Text: c.text}, typeOf(c.typ)); ok {
			t.Errorf("%s %q = %v, want an error", c.typ.Name, c.text, w.n)
		} else if k.diags.Errors() != 1 {
			t.Errorf("%s %q: %d errors", c.typ.Name, c.text, k.diags.Errors())
		}
	}
}
