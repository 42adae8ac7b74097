package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verdict/diag"
	"verdict/nft/syntax"
)

// TestCompactElements reads lists with and without CompactElements: members,
// their places and the errors must be the same.
func TestCompactElements(t *testing.T) {
	plain := []string{
		"10.0.0.1", "10.0.0.0/8", "10.0.0.1-10.0.0.9", "10.0.0.0-10.0.0.3 . 80", "::1 . 0x50 . tcp", "22 : 5",
		`"eth0"`, "1.1.1.1 . 22-23 : 2.2.2.2 . 24", "[::1]", "00:11:22:33:44:55", "echo-request", "1d2h",
	}
	other := []string{
		"$x", "{ 1, 2 }", "*", "5 timeout 10s", "6 comment \"c\"", "7 : accept", "8 : jump c", "syn | ack", "a*", "1 . $y",
		"9 counter packets 1 bytes 2",
	}
	broken := []string{"", "1 2", "accept", "1 -", "%", "1 :", "1/", "1 . "}
	separators := []string{", ", ",", ",\n", " ,\n\t", "\n,", ", # comment\n"}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("define x = {")
		n := rapid.IntRange(1, 150).Draw(t, "n")
		mostly := rapid.IntRange(1, 200).Draw(t, "plain")
		for i := range n {
			if i > 0 {
				b.WriteString(rapid.SampledFrom(separators).Draw(t, "separator"))
			}
			pool := plain
			switch k := rapid.IntRange(0, mostly).Draw(t, "pool"); {
			case k == 0:
				pool = other
			case k == 1 && mostly > 150:
				pool = broken
			}
			b.WriteString(rapid.SampledFrom(pool).Draw(t, "element"))
		}
		b.WriteString("}\ntcp x\n")
		src := diag.NewSource("t", []byte(b.String()))
		want, wantErrors := members(syntax.Parse(src, syntax.Options{}))
		got, gotErrors := members(syntax.Parse(src, syntax.Options{CompactElements: true}))
		if gotErrors != wantErrors {
			t.Fatalf("errors\n got %s\nwant %s\n%s", gotErrors, wantErrors, b.String())
		}
		if got != want {
			t.Fatalf("members\n got %s\nwant %s", got, want)
		}
	})
}

// members lists the members of the only list with their places, and the
// errors.
func members(file *syntax.File, list *diag.List) (text, errors string) {
	for _, d := range list.All() {
		errors += d.Error() + "\n"
	}
	for _, item := range file.Items {
		s, ok := item.(*syntax.Define).Value.(*syntax.SetLiteral)
		if !ok {
			continue
		}
		n := 0
		for e := range s.All() {
			n++
			text += string(syntax.AppendExpr(nil, e))
			syntax.Walk(e, func(n syntax.Node) bool {
				text += fmt.Sprintf(" %T %d-%d", n, n.Place().Start, n.Place().End)
				return true
			})
			text += "\n"
		}
		if n != s.Len() {
			text += fmt.Sprintf("Len is %d, All gives %d", s.Len(), n)
		}
	}
	return text, errors
}

// TestCompactList shows that a long list is one node.
func TestCompactList(t *testing.T) {
	var b strings.Builder
	b.WriteString("define x = { ")
	for i := range 1000 {
		fmt.Fprintf(&b, "10.0.%d.%d, ", i>>8, i&255)
	}
	b.WriteString("$y }")
	file, list := syntax.Parse(diag.NewSource("t", []byte(b.String())), syntax.Options{CompactElements: true})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	s := file.Items[0].(*syntax.Define).Value.(*syntax.SetLiteral)
	if len(s.Elements) != 2 || s.Len() != 1001 {
		t.Fatalf("%d nodes for %d members", len(s.Elements), s.Len())
	}
	allocs := testing.AllocsPerRun(5, func() {
		for range s.All() {
		}
	})
	if allocs > 20 {
		t.Errorf("reading 1001 members allocates %.0f times", allocs)
	}
}

// TestWalk visits parents before children, in the order of the text.
func TestWalk(t *testing.T) {
	text := "add rule t c tcp dport { 22 : accept, 23 counter } jump { ip saddr @s drop; }\n"
	file, list := parseText("t", text)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	var got []string
	last := int32(0)
	syntax.WalkFile(file, func(n syntax.Node) bool {
		got = append(got, strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax."))
		if start := n.Place().Start; start < last {
			t.Errorf("%T at %d comes after %d", n, start, last)
		} else {
			last = start
		}
		return true
	})
	const want = "Command Rule Match HeaderField SetLiteral Element Literal VerdictExpr Element Literal Counter " +
		"VerdictStatement VerdictExpr Rule Match HeaderField SetRef VerdictStatement VerdictExpr"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	shallow := 0
	syntax.WalkFile(file, func(syntax.Node) bool { shallow++; return false })
	if shallow != 1 {
		t.Errorf("visited %d nodes without children", shallow)
	}
}
