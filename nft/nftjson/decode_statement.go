package nftjson

import (
	"slices"

	"verdict/diag"
	"verdict/nft/syntax"
)

// statement reads a statement of a rule: none after an error. A string is a
// statement in the language, as listings have it for what has no JSON.
func (d *decoder) statement(n *node) []syntax.Statement {
	if n.kind == kindString {
		return d.written(n)
	}
	k, body := d.only(n)
	if k == nil {
		return nil
	}
	list := d.namedStatement(k, body)
	return list
}

// written parses a statement in the language.
func (d *decoder) written(n *node) []syntax.Statement {
	src := diag.NewSource(d.src.Name, []byte(d.textOf(n)))
	src.IncludedAt = d.span(n)
	list, _, found := syntax.ParseRule(src)
	for _, x := range found.All() {
		if x.Severity == diag.Error {
			d.errorf(n, codeValue, "this is no statement: %s", x.Message)
			return nil
		}
	}
	return list
}

// statementNames are the names of statements.
var statementNames = []string{
	"accept", "drop", "continue", "return", "jump", "goto", "match", "mangle", "vmap", "counter", "quota", "limit", "last",
	"ct count", "ct helper", "ct timeout", "ct expectation", "secmark", "tunnel", "synproxy", "log", "reject", "snat",
	"dnat", "masquerade", "redirect", "tproxy", "queue", "dup", "fwd", "flow", "notrack", "set", "map", "meter", "reset",
	"xt",
}

// namedStatement reads a statement by its name.
func (d *decoder) namedStatement(k *key, body *node) []syntax.Statement {
	before := d.diags.Errors()
	at := syntax.At{Span: diag.Span{Source: d.src, Start: k.start, End: body.end}}
	var s syntax.Statement
	if _, ok := verdicts[k.name]; ok {
		whole := *body
		whole.start = k.start
		if v := d.verdict(&whole, k, body); v != nil {
			s = &syntax.VerdictStatement{At: at, Verdict: v}
		}
	} else if !slices.Contains(statementNames, k.name) {
		d.unknownKey(k, body, "statement", statementNames)
	} else if s = d.matching(at, k, body); s == nil {
		s = d.acting(at, k.name, body)
	}
	if s == nil || d.diags.Errors() > before {
		return nil
	}
	return []syntax.Statement{s}
}

// matching reads the statements that look at the packet or count it.
func (d *decoder) matching(at syntax.At, k *key, body *node) syntax.Statement {
	switch k.name {
	case "match":
		return d.match(at, body)
	case "vmap":
		whole := *body
		whole.start = k.start
		if m := d.mapExpr(&whole, body, true); m != nil {
			return &syntax.VMapStatement{At: at, Map: m}
		}
	case "counter", "quota", "limit", "synproxy", "secmark", "ct helper", "ct timeout", "ct expectation":
		if ref := d.reference(at, k.name, body); ref != nil {
			return ref
		}
		return d.counting(at, k.name, body)
	case "tunnel":
		if ref := d.reference(at, k.name, body); ref != nil {
			return ref
		}
		d.errorf(body, codeType, "expected the name of a tunnel object, found %s", body.kind)
	case "last", "ct count", "log", "reject":
		return d.counting(at, k.name, body)
	}
	return nil
}

// comparisons are the operators of matches by sign. "in" asks whether a value
// is among others, which the language writes without an operator.
var comparisons = map[string]syntax.Operator{
	"in": syntax.OpImplicit, "==": syntax.OpEq, "!=": syntax.OpNeq, "<": syntax.OpLt, "<=": syntax.OpLte,
	">": syntax.OpGt, ">=": syntax.OpGte, "!": syntax.OpNot,
}

func (d *decoder) match(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "op", "left", "right") {
		return nil
	}
	m := &syntax.Match{At: at}
	if op := body.get("op"); op != nil {
		w := d.oneOf(op, "operator", "in", "==", "!=", "<", "<=", ">", ">=", "!")
		m.Op = comparisons[w.Text]
	}
	left, right := d.need(body, "left"), d.need(body, "right")
	if left == nil || right == nil {
		return nil
	}
	m.Left, m.Right = d.expr(left), d.expr(right)
	if m.Left == nil || m.Right == nil {
		return nil
	}
	return m
}

// reference reads a statement that names an object, by its name or by a map;
// nil if it does not.
func (d *decoder) reference(at syntax.At, name string, body *node) syntax.Statement {
	isMap := body.kind == kindObject && body.get("map") != nil
	if body.kind != kindString && !isMap {
		return nil
	}
	ref := &syntax.ObjectRef{At: at, Kind: objects[name]}
	if body.kind == kindString {
		ref.Name = &syntax.Literal{At: d.at(body), Kind: syntax.LitQuoted, Text: d.textOf(body)}
	} else if ref.Name = d.expr(body); ref.Name == nil {
		return nil
	}
	return ref
}

// counting reads the statements that keep a state, and those that end a rule
// with a message.
func (d *decoder) counting(at syntax.At, name string, body *node) syntax.Statement {
	if body.kind == kindNull {
		switch name {
		case "counter":
			return &syntax.Counter{At: at}
		case "synproxy":
			return &syntax.Synproxy{At: at}
		case "last":
			return &syntax.Last{At: at}
		case "log":
			return &syntax.Log{At: at}
		case "reject":
			return &syntax.Reject{At: at}
		}
	}
	switch name {
	case "counter":
		return d.counter(at, body)
	case "quota":
		return d.quota(at, body)
	case "limit":
		return d.limit(at, body)
	case "synproxy":
		if s := d.synproxy(at, body, "mss", "wscale", "flags"); s != nil {
			return s
		}
	case "last":
		if d.object(body, "used") {
			l := &syntax.Last{At: at, Used: d.duration(body.get("used"), 1)}
			l.Never = l.Used == nil
			return l
		}
	case "ct count":
		if d.object(body, "val", "inv") {
			v, _ := d.uint(d.need(body, "val"), maxUint32)
			return &syntax.ConnLimit{At: at, Over: d.flag(body.get("inv")), Count: uint32(v)}
		}
	case "log":
		return d.log(at, body)
	case "reject":
		return d.reject(at, body)
	default:
		e := d.errorf(body, codeType, "expected the name of an object, found %s", body.kind)
		e.Expected = []string{"a string", `{"map": …}`}
	}
	return nil
}

func (d *decoder) counter(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "packets", "bytes") {
		return nil
	}
	c := &syntax.Counter{At: at, Given: true}
	if n := d.number(body.get("packets"), maxUint64); n != nil {
		c.Packets = n.Value
	}
	if n := d.number(body.get("bytes"), maxUint64); n != nil {
		c.Bytes = n.Value
	}
	return c
}

// byteUnits are the units of numbers of bytes.
var byteUnits = map[string]uint64{"bytes": 1, "kbytes": 1 << 10, "mbytes": 1 << 20}

// bytes reads a number of bytes with its unit from two members.
func (d *decoder) bytes(body *node, value, unit string) uint64 {
	scale := uint64(1)
	if u := body.get(unit); u != nil {
		if w := d.oneOf(u, "unit", "bytes", "kbytes", "mbytes"); w.Given() {
			scale = byteUnits[w.Text]
		}
	}
	n := body.get(value)
	if n == nil {
		return 0
	}
	v, _ := d.uint(n, maxUint64/scale)
	return v * scale
}

func (d *decoder) quota(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "val", "val_unit", "used", "used_unit", "inv") || d.need(body, "val") == nil {
		return nil
	}
	return &syntax.Quota{
		At: at, Over: d.flag(body.get("inv")),
		Bytes: d.bytes(body, "val", "val_unit"), Used: d.bytes(body, "used", "used_unit"),
	}
}

func (d *decoder) limit(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "rate", "rate_unit", "per", "burst", "burst_unit", "inv") {
		return nil
	}
	return d.limitOf(at, body)
}

// limitOf reads the members of a limit statement or object.
func (d *decoder) limitOf(at syntax.At, body *node) *syntax.Limit {
	if d.need(body, "rate") == nil {
		return nil
	}
	l := &syntax.Limit{At: at, Over: d.flag(body.get("inv")), Unit: 1}
	if unit := body.get("rate_unit"); unit != nil {
		l.ByBytes = d.oneOf(unit, "unit", "packets", "bytes", "kbytes", "mbytes").Text != "packets"
	}
	var names []string
	for _, u := range rateUnits {
		names = append(names, u.name)
	}
	if per := d.need(body, "per"); per != nil {
		w := d.oneOf(per, "time", names...)
		if i := slices.Index(names, w.Text); i >= 0 {
			l.Unit = rateUnits[i].seconds
		}
	}
	burst := body.get("burst")
	if l.ByBytes {
		l.Rate = d.bytes(body, "rate", "rate_unit")
		l.Burst = d.bytes(body, "burst", "burst_unit")
	} else {
		l.Rate, _ = d.uint(body.get("rate"), maxUint64)
		if burst != nil {
			l.Burst, _ = d.uint(burst, maxUint32)
		}
	}
	l.BurstGiven = burst != nil && (!l.ByBytes || l.Burst != 0)
	return l
}

// synproxy reads the members of a synproxy statement or object.
func (d *decoder) synproxy(at syntax.At, body *node, known ...string) *syntax.Synproxy {
	if !d.object(body, known...) {
		return nil
	}
	s := &syntax.Synproxy{At: at, MSS: d.number(body.get("mss"), maxUint16), WScale: d.number(body.get("wscale"), maxUint8)}
	for _, w := range d.words(body.get("flags"), "flag of synproxy", "timestamp", "sack-perm") {
		s.Timestamp = s.Timestamp || w.Text == "timestamp"
		s.SackPerm = s.SackPerm || w.Text == "sack-perm"
	}
	return s
}

// logLevels are the levels of log statements.
var logLevels = []string{"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug", "audit"}

// logFlags are the flags of log statements with their words in the language.
var logFlags = map[string][2]string{
	"tcp sequence": {"tcp", "sequence"}, "tcp options": {"tcp", "options"}, "ip options": {"ip", "options"},
	"skuid": {"skuid"}, "ether": {"ether"}, "all": {"all"},
}

func (d *decoder) log(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "prefix", "group", "snaplen", "queue-threshold", "level", "flags") {
		return nil
	}
	l := &syntax.Log{
		At: at, Group: d.number(body.get("group"), maxUint16), Snaplen: d.number(body.get("snaplen"), maxUint32),
		QueueThreshold: d.number(body.get("queue-threshold"), maxUint16),
		Level:          d.oneOf(body.get("level"), "log level", logLevels...),
	}
	if p := body.get("prefix"); p != nil {
		// A word, not a quoted string: in those, variables are replaced.
		if s, ok := d.text(p); ok {
			l.Prefix = &syntax.Literal{At: d.at(p), Text: s}
		}
	}
	for _, w := range d.words(body.get("flags"), "log flag", "tcp sequence", "tcp options", "ip options", "skuid", "ether", "all") {
		words := logFlags[w.Text]
		f := syntax.LogFlag{At: w.At, Name: syntax.Word{At: w.At, Text: words[0]}}
		if words[1] != "" {
			f.Sub = []syntax.Word{{At: w.At, Text: words[1]}}
		}
		l.Flags = append(l.Flags, f)
	}
	return l
}

func (d *decoder) reject(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "type", "expr") {
		return nil
	}
	r := &syntax.Reject{At: at}
	t := body.get("type")
	if t == nil {
		return r
	}
	r.With = d.oneOf(t, "type of rejection", "tcp reset", "icmp", "icmpv6", "icmpx")
	if r.With.Text == "tcp reset" {
		r.With.Text = "tcp"
		return r
	}
	if e := body.get("expr"); e != nil {
		r.Code = d.expr(e)
	} else {
		r.Code = &syntax.Literal{At: d.at(t), Text: "port-unreachable"}
	}
	return r
}
