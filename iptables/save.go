package iptables

import "fmt"

// AppendSave appends the tables as iptables-save prints them, without comments
// and dates. Counters come from the program's machine where one is given.
func AppendSave(b []byte, tables []*Table, counters func(*Chain, *Rule) (Counter, bool)) []byte {
	for _, t := range tables {
		b = fmt.Appendf(b, "*%s\n", t.Name)
		for _, c := range t.Chains {
			var n Counter
			if counters != nil && c.BuiltIn() {
				n, _ = counters(c, nil)
			}
			b = fmt.Appendf(b, ":%s %s [%d:%d]\n", word(c.Name), c.Policy, n.Packets, n.Bytes)
		}
		for _, c := range t.Chains {
			for _, r := range c.Rules {
				if counters != nil {
					if n, ok := counters(c, r); ok {
						b = fmt.Appendf(b, "[%d:%d] ", n.Packets, n.Bytes)
					}
				}
				b = append(b, "-A "...)
				b = append(appendWord(b, c.Name), r.append(nil)...)
				b = append(b, '\n')
			}
		}
		b = append(b, "COMMIT\n"...)
	}
	return b
}

// Text is the rule as iptables-save prints it, without chain: "-p tcp -m tcp
// --dport 22 -j ACCEPT".
func (r *Rule) Text() string {
	text := r.append(nil)
	if len(text) > 0 {
		text = text[1:]
	}
	return string(text)
}

// append appends the rule, with a space first.
func (r *Rule) append(b []byte) []byte {
	b = r.Header.appendSave(b)
	for _, m := range r.Matches {
		b = append(append(b, " -m "...), m.Name()...)
		b = m.appendSave(b)
	}
	switch x := r.Target.(type) {
	case nil:
	case *gotoTarget:
		b = appendWord(append(b, " -g "...), x.chain)
	default:
		b = appendWord(append(b, " -j "...), r.Target.Name())
		b = r.Target.appendSave(b)
	}
	return b
}
