package compile

import (
	"fmt"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/nft/syntax"
)

// symbols makes a text of n symbols, each made from the one before by next,
// and a rule that uses the last.
func symbols(n int, first, next string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "define x0 = %s\n", first)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "define x%d = %s\n", i, strings.ReplaceAll(next, "PREVIOUS", fmt.Sprintf("$x%d", i-1)))
	}
	fmt.Fprintf(&b, "table ip t {\n\tchain c {\n\t\tip saddr $x%d drop\n\t}\n}\n", n-1)
	return b.String()
}

// TestSymbolExtent: symbols that stand for more than is sensible are refused
// where they are defined; such as are used only expand in full.
func TestSymbolExtent(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"doubling", symbols(40, "{ 1.1.1.1, 2.2.2.2 }", "{ PREVIOUS, PREVIOUS }"), "symbol 'x20' stands for 2097152 values, of which only 2 are written"},
		{"doubling a little", symbols(10, "{ 1.1.1.1, 2.2.2.2 }", "{ PREVIOUS, PREVIOUS }"), ""},
		{"a chain", symbols(66, "1.1.1.1", "PREVIOUS"), "symbol 'x65' is nested too deeply: at most 64 symbols may name each other"},
		{"the longest chain", symbols(65, "1.1.1.1", "PREVIOUS"), ""},
		{"nested sets", symbols(66, "{ 1.1.1.1 }", "{ PREVIOUS }"), "symbol 'x65' is nested too deeply: at most 64 symbols may name each other"},
	} {
		file, diags := syntax.Parse(diag.NewSource("t", []byte(c.text)), syntax.Options{})
		if diags.HasErrors() {
			t.Fatalf("%s: %v", c.name, diags)
		}
		changes, diags := Compile(nil, file, Options{})
		var got []string
		for _, d := range diags.All() {
			got = append(got, d.Message)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
		if c.want == "" && len(changes[len(changes)-1].RuleDef.Exprs) < 3 {
			t.Errorf("%s: the rule is %v", c.name, changes[len(changes)-1].RuleDef.Exprs)
		}
	}
}
