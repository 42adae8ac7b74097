package netlink

import (
	"testing"
)

// FuzzDecode reads arbitrary bytes as messages. What can be read as a ruleset
// must be written and read again as the same one.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"table ip t {\n chain c {\n type filter hook input priority 0\n ip saddr { 1.2.3.4, 5.0.0.0/8 } counter drop comment \"x\"\n }\n}\n",
		"table inet t {\n set s {\n typeof ip saddr . tcp dport\n flags interval\n elements = { 1.2.3.4 . 5-6 }\n }\n}\n",
		"table inet t {\n map m {\n type inet_service : verdict\n elements = { 22 : accept, * : drop }\n }\n counter c {\n }\n}\n",
	} {
		l := mustLoad(f, text)
		messages, err := AppendDump(nil, l.rules, now)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(AppendBatch(nil, messages, 1, 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		messages, err := ParseMessages(b)
		if err != nil {
			return
		}
		d, err := Decode(messages, now)
		if err != nil {
			return
		}
		again, err := AppendDump(nil, d.Rules, now)
		if err != nil {
			return
		}
		if _, err := Decode(again, now); err != nil && len(d.Unknown) == 0 {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}

// FuzzTrace reads arbitrary bytes as the attributes of a trace event.
func FuzzTrace(f *testing.F) {
	f.Add([]byte{6, 0, 1, 0, 't', 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := Message{Type: TraceEvent, Attrs: b}
		if e, err := ReadTrace(&m); err == nil && e.Table == "" {
			t.Fatal("an event without a table")
		}
	})
}
