package compile

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/nft/syntax"
)

// TestCompactElements compiles long lists with and without a node for each
// element: the same changes and the same findings.
func TestCompactElements(t *testing.T) {
	list := func(n int, item func(i int) string) string {
		var items []string
		for i := range n {
			items = append(items, item(i))
		}
		return strings.Join(items, ", ")
	}
	addresses := list(40, func(i int) string { return fmt.Sprintf("10.0.%d.1", i) })
	ranges := list(40, func(i int) string { return fmt.Sprintf("10.0.%d.1-10.0.%d.9", i, i) })
	pairs := list(40, func(i int) string { return fmt.Sprintf("10.0.%d.0/24 . %d-%d", i, i+1, i+9) })
	marks := list(40, func(i int) string { return fmt.Sprintf("10.0.%d.1 : %d", i, i) })
	ports := list(40, func(i int) string { return fmt.Sprint(i + 1) })
	devices := list(40, func(i int) string { return fmt.Sprintf("eth%d", i) })
	named := func(body, elements string) string {
		return fmt.Sprintf("table inet t {\nset s {\n%s\nelements = { %s }\n}\n}\n", body, elements)
	}
	mapped := func(elements string) string {
		return "table inet t {\nmap m {\ntype ipv4_addr : mark\nelements = { " + elements + " }\n}\n}\n"
	}
	ruled := func(rule string) string { return "table inet t {\nchain c {\n" + rule + "\n}\n}\n" }
	for name, text := range map[string]string{
		"addresses":         named("type ipv4_addr", addresses),
		"comment between":   named("type ipv4_addr", addresses+`, 10.9.9.9 comment "x", `+strings.ReplaceAll(addresses, "10.0", "10.1")),
		"ranges":            named("type ipv4_addr; flags interval", ranges),
		"auto-merge":        named("type ipv4_addr; flags interval; auto-merge", ranges),
		"concatenations":    named("type ipv4_addr . inet_service; flags interval", pairs),
		"variable":          "define d = { " + addresses + " }\n" + named("type ipv4_addr", "$d"),
		"nested":            named("type ipv4_addr", "{ "+addresses+" }, 10.8.8.8"),
		"map":               mapped(marks),
		"data of one":       mapped(addresses + ", 10.9.9.9 : 7"),
		"list with data":    "define d = { " + addresses + " }\n" + mapped("$d : 7"),
		"anonymous":         ruled("tcp dport { " + ports + " } accept"),
		"anonymous, ranges": ruled("ip saddr . tcp dport { " + pairs + " } accept"),
		"anonymous map":     ruled("meta mark set ip saddr map { " + marks + " }"),
		"devices":           "table netdev t {\nchain c {\ntype filter hook ingress devices = { " + devices + " } priority 0\n}\n}\n",
		"two commands":      named("type ipv4_addr", addresses) + "\nadd element inet t s { 10.5.5.5 }\nadd element inet t s { " + addresses + " }\n",
		"comparison":        ruled("tcp dport == { " + ports + " } accept; tcp sport != { " + ports + " } drop"),
		"a set for a value": "define p = { " + ports + " }\n" + ruled("meta mark set $p"),
		"no interval":       named("type ipv4_addr", ranges),
		"wrong value":       named("type ipv4_addr", addresses+", 10.0.0.256, 10.0.0.77"),
		"wrong type":        named("type inet_service", addresses),
		"overlap":           named("type ipv4_addr; flags interval", ranges+", 10.0.3.5-10.0.3.20"),
		"data in a set":     named("type ipv4_addr", marks),
		"no data in a map":  mapped(addresses),
	} {
		t.Run(name, func(t *testing.T) {
			src := diag.NewSource("test", []byte(text))
			compile := func(compact bool) (changes any, findings []string) {
				file, list := syntax.Parse(src, syntax.Options{CompactElements: compact})
				if err := list.Err(); err != nil {
					t.Fatal(err)
				}
				batch, found := Compile(nil, file, Options{Interface: func(string) (uint32, bool) { return 1, true }})
				for _, d := range found.All() {
					findings = append(findings, fmt.Sprint(d.Code, d.Message, d.Span.Start, d.Span.End, d.Related))
				}
				return batch, findings
			}
			batch, findings := compile(false)
			gotBatch, gotFindings := compile(true)
			if !reflect.DeepEqual(gotFindings, findings) {
				t.Errorf("findings %q, want %q", gotFindings, findings)
			}
			if !reflect.DeepEqual(gotBatch, batch) {
				t.Errorf("other changes:\n%+v\n%+v", gotBatch, batch)
			}
		})
	}
}
