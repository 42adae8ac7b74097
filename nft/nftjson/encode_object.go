package nftjson

import (
	"verdict/nft/syntax"
)

// object writes a stateful object.
func (w *writer) object(o owner, x *syntax.StatefulObj) {
	w.objectHead(o, x)
	w.text("comment", x.Comment.Text)
	switch {
	case x.Counter != nil:
		if x.Counter.Given {
			w.counterNumbers(x.Counter)
		}
	case x.Quota != nil:
		w.key("bytes")
		w.number(x.Quota.Bytes)
		w.key("used")
		w.number(x.Quota.Used)
		w.key("inv")
		w.bool(x.Quota.Over)
	case x.Limit != nil:
		w.limitObject(x.Limit)
	case x.Synproxy != nil:
		// An object shows both numbers also where they were not given.
		s := *x.Synproxy
		s.MSS, s.WScale = &syntax.Number{Value: valueOf(s.MSS)}, &syntax.Number{Value: valueOf(s.WScale)}
		w.synproxy(&s)
	case x.Secmark.Given():
		w.text("context", x.Secmark.Text)
	case x.Helper != nil:
		w.text("type", x.Helper.Type.Text)
		w.text("protocol", x.Helper.Protocol.Text)
		w.text("l3proto", x.Helper.L3Proto.Text)
	case x.TimeoutSpec != nil:
		w.timeoutPolicy(x.TimeoutSpec)
	case x.Expectation != nil:
		w.expectation(x.Expectation)
	case x.Tunnel != nil:
		w.tunnel(x.Tunnel)
	}
	w.unwrap()
}

// objectHead starts an object with its names.
func (w *writer) objectHead(o owner, x *syntax.StatefulObj) {
	w.wrap(x.Kind.String())
	w.text("family", o.family)
	w.text("name", x.Name.Text)
	w.text("table", o.table)
	w.handle(x)
}

func (w *writer) counterNumbers(c *syntax.Counter) {
	w.key("packets")
	w.number(c.Packets)
	w.key("bytes")
	w.number(c.Bytes)
}

func (w *writer) limitObject(l *syntax.Limit) {
	rate, rateUnit := l.Rate, ""
	burst, burstUnit := l.Burst, ""
	if l.ByBytes {
		rate, rateUnit = byteUnit(rate)
		burst, burstUnit = byteUnit(burst)
	}
	w.key("rate")
	w.number(rate)
	w.text("per", perName(l.Unit))
	if l.Over {
		w.key("inv")
		w.bool(true)
	}
	w.text("rate_unit", rateUnit)
	if burst != 0 {
		w.key("burst")
		w.number(burst)
		w.text("burst_unit", burstUnit)
	}
}

// byteUnit divides a number of bytes by 1024 while that is exact.
func byteUnit(n uint64) (count uint64, unit string) {
	units := [...]string{"bytes", "kbytes", "mbytes"}
	i := 0
	for ; i < len(units)-1 && n != 0 && n%1024 == 0; i++ {
		n /= 1024
	}
	return n, units[i]
}

// rateUnits are the times of limits in seconds.
var rateUnits = [...]struct {
	name    string
	seconds uint64
}{{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}, {"week", 604800}}

func perName(seconds uint64) string {
	for _, u := range rateUnits {
		if u.seconds == seconds {
			return u.name
		}
	}
	return "second"
}

// synproxy writes the members of a synproxy statement or object.
func (w *writer) synproxy(s *syntax.Synproxy) {
	if s.MSS != nil {
		w.key("mss")
		w.number(s.MSS.Value)
	}
	if s.WScale != nil {
		w.key("wscale")
		w.number(s.WScale.Value)
	}
	if !s.Timestamp && !s.SackPerm {
		return
	}
	w.key("flags")
	w.open('[')
	if s.Timestamp {
		w.string("timestamp")
	}
	if s.SackPerm {
		w.string("sack-perm")
	}
	w.close(']')
}

func (w *writer) timeoutPolicy(t *syntax.TimeoutSpec) {
	w.text("protocol", t.Protocol.Text)
	w.text("l3proto", t.L3Proto.Text)
	w.key("policy")
	if len(t.Policy) == 0 {
		w.b = append(w.b, "null"...)
		return
	}
	w.open('{')
	for _, s := range t.Policy {
		w.seconds(s.State.Text, s.Value)
	}
	w.close('}')
}

// expectation writes a ct expectation; its timeout counts in milliseconds.
func (w *writer) expectation(x *syntax.ExpectationSpec) {
	w.text("protocol", x.Protocol.Text)
	if x.Dport != nil {
		w.key("dport")
		w.expr(x.Dport)
	}
	if x.Timeout != nil {
		w.key("timeout")
		w.number(x.Timeout.Milliseconds)
	}
	if x.Size != nil {
		w.key("size")
		w.number(x.Size.Value)
	}
	w.text("l3proto", x.L3Proto.Text)
}

func (w *writer) tunnel(t *syntax.TunnelSpec) {
	family := "-ipv4"
	if t.IPv6 {
		family = "-ipv6"
	}
	w.exprMember("id", t.ID)
	w.exprMember("src"+family, t.SrcIP)
	w.exprMember("dst"+family, t.DstIP)
	for _, m := range [...]struct {
		name string
		x    syntax.Expr
	}{{"sport", t.Sport}, {"dport", t.Dport}, {"tos", t.TOS}, {"ttl", t.TTL}} {
		w.key(m.name)
		if m.x == nil {
			w.number(0)
		} else {
			w.expr(m.x)
		}
	}
	if !t.Kind.Given() {
		return
	}
	w.text("type", t.Kind.Text)
	w.key("tunnel")
	if t.Kind.Text == "geneve" {
		w.open('[')
		for _, o := range t.Geneve {
			w.open('{')
			w.exprMember("class", o.Class)
			w.exprMember("opt-type", o.Type)
			w.exprMember("data", o.Data)
			w.close('}')
		}
		w.close(']')
		return
	}
	w.open('{')
	w.exprMember("gbp", t.VXLANGBP)
	w.exprMember("version", t.ERSPANVersion)
	w.exprMember("index", t.ERSPANIndex)
	w.text("dir", t.ERSPANDirection.Text)
	w.exprMember("hwid", t.ERSPANHardwareID)
	w.close('}')
}

// exprMember writes a member whose value is an expression, if there is one.
func (w *writer) exprMember(name string, x syntax.Expr) {
	if x != nil {
		w.key(name)
		w.expr(x)
	}
}
