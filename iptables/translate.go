package iptables

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/diag"
)

// TranslateOptions say what to print.
type TranslateOptions struct {
	// Reference prints exactly what iptables-restore-translate prints, its
	// mistakes included. Without it, what that gets wrong is printed right
	// where nft has a form, and left untranslated where it has none.
	Reference bool
}

// Line is one line of a translation: an nft command, or a comment that holds a
// rule without nft form.
type Line struct {
	Text    string
	Comment bool
	Rule    *Rule  // of a rule's line
	Why     string // of a comment: why there is no nft form, if that can be said
}

// Untranslated lists the rules of a translation that have no nft form.
func Untranslated(lines []Line) []*Rule {
	var out []*Rule
	for _, l := range lines {
		if l.Comment && l.Rule != nil {
			out = append(out, l.Rule)
		}
	}
	return out
}

// Translate turns a file into commands of nft, in the order of the file.
// Ref: iptables-restore-translate(8).
func Translate(f *File, options TranslateOptions) []Line {
	t := &translator{family: f.Family, reference: options.Reference}
	for _, table := range f.Tables {
		t.table(table)
	}
	return t.lines
}

// AppendTranslation appends the lines as text.
func AppendTranslation(b []byte, lines []Line) []byte {
	for _, l := range lines {
		b = append(append(b, l.Text...), '\n')
	}
	return b
}

// translator collects the parts of one rule.
type translator struct {
	family    catalog.Family
	reference bool
	lines     []Line
	in        *Table
	chain     *Chain
	rule      *Rule
	parts     []string
	extra     []string // commands that must come before the rule
	cases     []string // of a rule that needs several of nft: what stands at the place of splitHere
	sets      int
	why       string
}

func (t *translator) add(text string)                 { t.parts = append(t.parts, text) }
func (t *translator) addf(format string, args ...any) { t.add(fmt.Sprintf(format, args...)) }

// fail says why a rule has no nft form.
func (t *translator) fail(format string, args ...any) bool {
	t.why = fmt.Sprintf(format, args...)
	return false
}

// not is the operator of an inverted comparison.
func (t *translator) not(inverted bool) string {
	if inverted {
		return "!= "
	}
	return ""
}

// ip is the family's header.
func (t *translator) ip() string {
	if t.family == catalog.FamilyIP6 {
		return "ip6"
	}
	return "ip"
}

func (t *translator) table(table *Table) {
	t.in = table
	t.command("add table %s %s", t.ip(), table.Name)
	for _, s := range table.order {
		t.chain = s.chain
		switch s.kind {
		case stepChain:
			t.declare(table, s.chain)
		case stepAppend:
			t.translateRule("add", s.rule)
		case stepInsert:
			t.translateRule("insert", s.rule)
		}
	}
}

func (t *translator) command(format string, args ...any) {
	t.lines = append(t.lines, Line{Text: fmt.Sprintf(format, args...)})
}

func (t *translator) declare(table *Table, c *Chain) {
	if !c.BuiltIn() {
		t.command("add chain %s %s %s", t.ip(), table.Name, t.chainName(c.Name))
		return
	}
	kind := "filter"
	switch {
	case table.Name == "nat":
		kind = "nat"
	case table.Name == "mangle" && c.Hook == catalog.HookOutput:
		kind = "route"
	}
	t.command("add chain %s %s %s { type %s hook %s priority %d; policy %s; }", t.ip(), table.Name, c.Name, kind,
		catalog.HookName(t.family, c.Hook), kindOf(table.Name).priority(c.Hook), strings.ToLower(c.Policy.String()))
}

// chainName quotes names that are no words of nft.
func (t *translator) chainName(name string) string {
	if t.reference || isWord(name) {
		return name
	}
	return `"` + name + `"`
}

func isWord(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || strings.IndexByte("0123456789_-/.\\", c) < 0) && !(c == '_' && i > 0) {
			return false
		}
	}
	return name != ""
}

func (t *translator) translateRule(command string, r *Rule) {
	t.rule, t.parts, t.extra, t.cases, t.why = r, nil, nil, nil, ""
	if !t.parse(r) {
		t.lines = append(t.lines, Line{Text: t.asComment(r), Comment: true, Rule: r, Why: t.why})
		return
	}
	for _, e := range t.extra {
		t.command("%s", e)
	}
	prefix := fmt.Sprintf("%s rule %s %s %s ", command, t.ip(), t.in.Name, t.chainName(t.chain.Name))
	text := prefix + strings.TrimRight(strings.Join(t.parts, " "), " ")
	if t.cases == nil {
		t.lines = append(t.lines, Line{Text: text, Rule: r})
		return
	}
	for _, c := range t.cases {
		t.lines = append(t.lines, Line{Text: strings.Replace(text, splitHere, c, 1), Rule: r})
	}
}

// splitHere stands among the parts where the rules of a split rule differ.
const splitHere = "\x00"

// split makes a rule several: one for each case, of which a packet meets one
// at most.
func (t *translator) split(cases ...string) bool {
	if t.cases != nil {
		return t.fail("two of its matches would each need two rules of nft")
	}
	t.cases = cases
	t.add(splitHere)
	return true
}

// parse collects a rule's parts; false says that it has no nft form.
func (t *translator) parse(r *Rule) bool {
	r.Header.translate(t)
	for _, m := range r.Matches {
		if !m.translate(t) {
			return false
		}
	}
	t.add("counter")
	if r.Target != nil && !r.Target.translate(t) {
		return false
	}
	return t.comment(r)
}

// comment adds the rule's comment; nft has no way to write a quote in one.
func (t *translator) comment(r *Rule) bool {
	text := r.Comment()
	switch {
	case text == "":
		return true
	case !t.reference && (strings.ContainsAny(text, "\"\n") || len(text) > maxNftComment):
		text = strings.ReplaceAll(text, `"`, "'")
		text = strings.ReplaceAll(text, "\n", " ")
		text = text[:min(len(text), maxNftComment)]
	}
	t.addf(`comment "%s"`, text)
	return true
}

// maxNftComment is the longest comment of an nft rule in bytes.
const maxNftComment = 127

// asComment prints a rule without nft form: its words as they stand in the
// file, a "!" being lost as the reference loses it.
func (t *translator) asComment(r *Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# -t %s ", t.in.Name)
	for _, w := range r.words {
		if w.text == "!" && !w.quoted && t.reference {
			w.text = ""
		}
		b.WriteString(diag.Printable(w.text))
		b.WriteByte(' ')
	}
	return b.String()
}

// impliesProtocol reports whether a match of the rule makes the test of the
// protocol needless. The reference takes any match of the protocol's name for
// that, even one that tests nothing.
func (t *translator) impliesProtocol() bool {
	name := protocolName(t.rule.Header.Protocol)
	for _, m := range t.rule.Matches {
		if m.Name() != name {
			continue
		}
		if t.reference {
			return true
		}
		probe := translator{family: t.family, rule: t.rule, in: t.in, chain: t.chain}
		if m.translate(&probe) && len(probe.parts) > 0 {
			return true
		}
	}
	return false
}
