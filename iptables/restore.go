package iptables

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/diag"
)

// Options say how to read a file.
type Options struct {
	// Family is FamilyIP or FamilyIP6; FamilyUnspec finds out from the text.
	Family catalog.Family
	// MaxErrors bounds the errors reported, 0: 100.
	MaxErrors int
}

// stepKind says what a line of a table did.
type stepKind uint8

const (
	stepChain  stepKind = iota // a chain was declared
	stepAppend                 // a rule was appended
	stepInsert                 // a rule was inserted
)

// step is one line of a table, in the order of the file.
type step struct {
	kind  stepKind
	chain *Chain
	rule  *Rule
}

// Is reports whether a text is a save file: after comments, its first line
// opens a table.
func Is(text []byte) bool {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		line = bytes.TrimRight(line, " \t\r")
		if len(line) == 0 || line[0] == '#' && !bytes.HasPrefix(line, []byte("#!")) {
			text = rest
			continue
		}
		if line[0] != '*' {
			return false
		}
		name := strings.TrimSpace(string(line[1:]))
		return name != "" && !strings.ContainsAny(name, " \t/{};") // "*foo" opens no nft ruleset
	}
	return false
}

// IsEbtables reports whether a save file holds tables of ebtables or arptables,
// whose chains have names of other cases or tables unknown to iptables.
func IsEbtables(text []byte) bool {
	return bytes.Contains(text, []byte("*broute")) || bytes.Contains(text, []byte("\n--append")) ||
		bytes.Contains(head(text), []byte("ebtables-save")) || bytes.Contains(head(text), []byte("ebtables-nft-save")) ||
		bytes.Contains(text, []byte("--logical-")) || bytes.HasPrefix(text, []byte("*filter\n:INPUT:"))
}

// head is the start of a text, where tools write their names.
func head(text []byte) []byte { return text[:min(len(text), 256)] }

// Parse reads a save file. It reports all mistakes and returns what it could
// make of the text. Its cost is linear in the text.
// Ref: iptables-restore(8).
func Parse(src *diag.Source, options Options) (*File, *diag.List) {
	p := &parser{src: src, max: options.MaxErrors}
	if p.max == 0 {
		p.max = 100
	}
	p.file.Family = options.Family
	if p.file.Family == catalog.FamilyUnspec {
		known := false
		if p.file.Family, known = guessFamily(src.Name, src.Text); !known {
			p.found.Add(&diag.Diagnostic{Severity: diag.Note, Code: "iptables/family", Span: diag.Span{Source: src}, Message: "nothing here tells IPv4 from IPv6; taken as IPv4"})
		}
	}
	p.run()
	return &p.file, &p.found
}

// guessFamily finds out whether a file is of IPv6: by the tool's name in the
// first comment, by words that only one family has, or by the file's name.
// known is false where none of them says.
func guessFamily(name string, text []byte) (f catalog.Family, known bool) {
	switch {
	case bytes.Contains(head(text), []byte("ip6tables")):
		return catalog.FamilyIP6, true
	case bytes.Contains(head(text), []byte("by iptables")):
		return catalog.FamilyIP, true
	}
	six, four := 0, 0
	for line := range bytes.Lines(text) {
		if len(line) == 0 || line[0] == '#' || line[0] == ':' {
			continue
		}
		fields := strings.Fields(string(line))
		for i, f := range fields {
			switch f {
			case "-s", "-d", "--source", "--destination", "--src", "--dst", "--to-destination", "--to-source", "--on-ip":
				if i+1 < len(fields) && strings.Count(fields[i+1], ":") >= 2 {
					six++
				} else if i+1 < len(fields) && strings.Contains(fields[i+1], ".") {
					four++
				}
			case "ipv6-icmp", "icmpv6", "icmp6", "--icmpv6-type", "hl", "HL", "ipv6header", "eui64", "rt", "hbh":
				six++
			case "--icmp-type", "ttl", "TTL", "-f":
				four++
			}
			if strings.HasPrefix(f, "icmp6-") {
				six++
			}
		}
	}
	switch {
	case six > four:
		return catalog.FamilyIP6, true
	case four > 0:
		return catalog.FamilyIP, true
	case strings.HasSuffix(name, ".v6"), strings.Contains(name, "ip6tables"), strings.Contains(name, "ipv6"):
		return catalog.FamilyIP6, true
	}
	return catalog.FamilyIP, strings.HasSuffix(name, ".v4") || strings.Contains(name, "iptables")
}

// parser reads one file.
type parser struct {
	src   *diag.Source
	file  File
	found diag.List
	max   int

	table *Table // that is open
	skip  bool   // the open table is not known
}

func (p *parser) errorf(span diag.Span, code diag.Code, format string, args ...any) *diag.Diagnostic {
	return p.found.Errorf(span, code, format, args...)
}

func (p *parser) run() {
	text := p.src.Text
	for start := 0; start < len(text) && p.found.Errors() < p.max; {
		end := len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		p.line(start, end)
		start = end + 1
	}
	if p.table != nil || p.skip {
		at := int32(len(text))
		d := p.errorf(diag.Span{Source: p.src, Start: max(at-1, 0), End: at}, "iptables/commit", "COMMIT is missing at the end of the table")
		d.Hint = "each table ends with a line COMMIT"
	}
}

func (p *parser) line(start, end int) {
	if end > start && p.src.Text[end-1] == '\r' {
		end--
	}
	if end == start || p.src.Text[start] == '#' {
		return
	}
	span := diag.Span{Source: p.src, Start: int32(start), End: int32(end)}
	if end-start >= maxLine {
		p.errorf(span, "iptables/line", "the line is longer than %d bytes", maxLine-1)
		return
	}
	text := string(p.src.Text[start:end])
	trimmed := strings.TrimRight(text, " \t")
	open := p.table != nil || p.skip
	switch {
	case trimmed == "":
	case trimmed == "COMMIT" && open:
		p.table, p.skip = nil, false
	case text[0] == '*' && !open:
		p.open(strings.TrimSpace(text[1:]), span)
	case text[0] == '*':
		p.errorf(span, "iptables/commit", "the table before this one is not closed by COMMIT")
		p.open(strings.TrimSpace(text[1:]), span)
	case !open:
		p.errorf(span, "iptables/table", "this line stands in no table").Hint = "a table starts with a line such as *filter"
	case p.skip:
	case text[0] == ':':
		p.chainLine(start+1, end)
	default:
		p.ruleLine(start, end, span)
	}
}

func (p *parser) open(name string, span diag.Span) {
	p.table, p.skip = nil, false
	if kindOf(name) == nil {
		var known []string
		for _, k := range tableKinds {
			known = append(known, k.name)
		}
		d := p.errorf(span, "iptables/table", "there is no table %s", diag.Printable(name))
		if near := diag.Nearest(name, known); near != "" {
			d.Hint = "did you mean " + near + "?"
		}
		p.skip = true
		return
	}
	for _, t := range p.file.Tables {
		if t.Name == name { // restored a second time: emptied first
			t.Chains, t.order = nil, nil
			p.table = t
			return
		}
	}
	p.table = &Table{Family: p.file.Family, Name: name, Place: span}
	p.file.Tables = append(p.file.Tables, p.table)
}

// chainLine reads ":NAME POLICY [packets:bytes]".
func (p *parser) chainLine(start, end int) {
	words, _ := tokenize(p.src, start, end)
	if len(words) == 0 {
		p.errorf(diag.Span{Source: p.src, Start: int32(start - 1), End: int32(end)}, "iptables/chain", "the chain's name is missing")
		return
	}
	name := words[0]
	if len(words) < 2 {
		p.errorf(name.span, "iptables/policy", "the policy of chain %s is missing", diag.Printable(name.text)).Hint = "a user chain has the policy -"
		return
	}
	c := p.declare(name, words[1])
	if c != nil && len(words) > 2 {
		c.Saved, _ = parseCounter(words[2].text)
	}
}

// declare makes a chain, or sets the policy of a built-in one.
func (p *parser) declare(name, policy token) *Chain {
	hook, builtIn := kindOf(p.table.Name).builtIn(name.text)
	c := p.table.Chain(name.text)
	switch {
	case builtIn:
		value, ok := policyByName(policy.text)
		if !ok {
			p.errorf(policy.span, "iptables/policy", "%s is no policy", diag.Printable(policy.text)).Hint = "a built-in chain has the policy ACCEPT or DROP"
			return nil
		}
		if c == nil {
			c = &Chain{Name: name.text, Hook: hook, Place: name.span}
			p.table.Chains = append(p.table.Chains, c)
			p.table.order = append(p.table.order, step{kind: stepChain, chain: c})
		}
		c.Policy = value
	case policy.text != "-":
		p.errorf(policy.span, "iptables/policy", "table %s has no built-in chain %s, so that it can have no policy", p.table.Name, diag.Printable(name.text)).Hint = "a user chain has the policy -"
		return nil
	case c != nil:
		p.errorf(name.span, "iptables/chain", "chain %s exists already", diag.Printable(name.text))
	default:
		c = p.userChain(name)
	}
	return c
}

func policyByName(name string) (Policy, bool) {
	switch name {
	case "ACCEPT":
		return PolicyAccept, true
	case "DROP":
		return PolicyDrop, true
	}
	return NoPolicy, false
}

// maxChainName is the longest name of a chain in bytes.
const maxChainName = 28

func (p *parser) userChain(name token) *Chain {
	switch {
	case len(name.text) > maxChainName:
		p.errorf(name.span, "iptables/chain", "the chain's name has %d bytes, %d are possible", len(name.text), maxChainName)
		return nil
	case strings.HasPrefix(name.text, "-") || strings.HasPrefix(name.text, "!") || name.text == "":
		p.errorf(name.span, "iptables/chain", "a chain's name cannot start with %q", name.text[:min(len(name.text), 1)])
		return nil
	}
	if targetByName(name.text, p.file.Family) != nil {
		p.errorf(name.span, "iptables/chain", "%s is the name of a target", name.text)
		return nil
	}
	c := &Chain{Name: name.text, Place: name.span}
	p.table.Chains = append(p.table.Chains, c)
	p.table.order = append(p.table.order, step{kind: stepChain, chain: c})
	return c
}

// parseCounter reads "[packets:bytes]".
func parseCounter(text string) (Counter, bool) {
	inner, ok := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	packets, bytes, two := strings.Cut(inner, ":")
	a, err1 := strconv.ParseUint(packets, 10, 64)
	b, err2 := strconv.ParseUint(bytes, 10, 64)
	return Counter{a, b}, ok && closed && two && err1 == nil && err2 == nil
}

// ruleLine reads a command, such as "-A INPUT -j DROP".
func (p *parser) ruleLine(start, end int, line diag.Span) {
	words, wrong := tokenize(p.src, start, end)
	if wrong != "" {
		p.errorf(line, "iptables/line", "%s", wrong)
		return
	}
	var saved Counter
	if len(words) > 0 && strings.HasPrefix(words[0].text, "[") {
		value, ok := parseCounter(words[0].text)
		if !ok {
			p.errorf(words[0].span, "iptables/counter", "counters are written [packets:bytes]")
			return
		}
		saved, words = value, words[1:]
	}
	if len(words) == 0 {
		return
	}
	p.command(words, saved, line)
}

// commands are the long forms of the commands, with how they are written short.
var commands = map[string]string{
	"--append": "-A", "--insert": "-I", "--new-chain": "-N", "--new": "-N", "--policy": "-P", "--flush": "-F", "--delete-chain": "-X", "--zero": "-Z",
	"--delete": "-D", "--replace": "-R", "--check": "-C", "--rename-chain": "-E", "--list": "-L", "--list-rules": "-S",
}

// command finds the command among the words, which may stand anywhere.
func (p *parser) command(words []token, saved Counter, line diag.Span) {
	for i, w := range words {
		if w.quoted {
			continue
		}
		short := w.text
		if long, ok := commands[w.text]; ok {
			short = long
		}
		switch short {
		case "-A", "-I":
			p.addRule(words, i, short == "-I", saved, line)
			return
		case "-N", "-P", "-F", "-X", "-Z":
			p.chainCommand(short, words[i:])
			return
		case "-D", "-R", "-C", "-E", "-L", "-S":
			p.errorf(w.span, "iptables/command", "the command %s is not supported in a file of rules", w.text).Hint = "write the rules as iptables-save does, with -A"
			return
		case "-t", "--table":
			p.errorf(w.span, "iptables/option", "the table cannot be given by %s here", w.text).Hint = "the line *NAME says the table"
			return
		}
		if i == 0 && !strings.HasPrefix(w.text, "-") && w.text != "!" {
			p.errorf(w.span, "iptables/word", "bad argument %s", diag.Printable(w.text)).Hint = "a rule starts with -A CHAIN"
			return
		}
	}
	p.errorf(line, "iptables/command", "no command given").Hint = "a rule starts with -A CHAIN"
}

// chainCommand carries out a command about a whole chain.
func (p *parser) chainCommand(command string, words []token) {
	need := map[string]int{"-N": 2, "-P": 3}[command]
	if len(words) < need {
		p.errorf(words[0].span, "iptables/command", "%s needs %d words", command, need-1)
		return
	}
	switch command {
	case "-N":
		if c := p.table.Chain(words[1].text); c != nil {
			p.errorf(words[1].span, "iptables/chain", "chain %s exists already", diag.Printable(c.Name))
			return
		}
		p.userChain(words[1])
	case "-P":
		if _, builtIn := kindOf(p.table.Name).builtIn(words[1].text); !builtIn || words[2].text == "-" {
			p.errorf(words[1].span, "iptables/policy", "only built-in chains have a policy")
			return
		}
		p.declare(words[1], words[2])
	case "-F", "-X":
		p.remove(command, words)
	}
}

// remove flushes chains, or deletes user chains.
func (p *parser) remove(command string, words []token) {
	t := p.table
	only := ""
	if len(words) > 1 {
		only = words[1].text
		if t.Chain(only) == nil {
			if _, builtIn := kindOf(t.Name).builtIn(only); !builtIn {
				p.errorf(words[1].span, "iptables/chain", "there is no chain %s", diag.Printable(only))
			}
			return
		}
	}
	gone := func(c *Chain) bool { return only == "" || c.Name == only }
	if command == "-F" {
		for _, c := range t.Chains {
			if gone(c) {
				c.Rules = nil
			}
		}
		t.order = slices.DeleteFunc(t.order, func(s step) bool { return s.kind != stepChain && gone(s.chain) })
		return
	}
	removed := func(c *Chain) bool { return gone(c) && !c.BuiltIn() }
	for _, c := range t.Chains {
		if removed(c) && len(c.Rules) > 0 {
			p.errorf(words[0].span, "iptables/chain", "chain %s is not empty", diag.Printable(c.Name))
			return
		}
	}
	t.Chains = slices.DeleteFunc(t.Chains, removed)
	t.order = slices.DeleteFunc(t.order, func(s step) bool { return removed(s.chain) })
}

// addRule reads a rule and puts it into its chain. Lists of addresses make
// several rules.
func (p *parser) addRule(words []token, at int, insert bool, saved Counter, line diag.Span) {
	if at+1 >= len(words) {
		p.errorf(words[at].span, "iptables/command", "the chain's name is missing after %s", words[at].text)
		return
	}
	name := words[at+1]
	rest := append(slices.Clone(words[:at]), words[at+2:]...)
	position := 1
	if insert && len(words) > at+2 {
		if n, err := strconv.Atoi(words[at+2].text); err == nil {
			position, rest = n, append(slices.Clone(words[:at]), words[at+3:]...)
		}
	}
	chain := p.chainOf(name)
	rules := p.rule(rest, words, name.text, saved, line)
	if chain == nil {
		return
	}
	if insert && (position < 1 || position > len(chain.Rules)+1) {
		p.errorf(words[at].span, "iptables/position", "chain %s has %d rules, so that none can be number %d", diag.Printable(chain.Name), len(chain.Rules), position)
		return
	}
	for _, r := range rules {
		if !insert {
			chain.Rules = append(chain.Rules, r)
			p.table.order = append(p.table.order, step{stepAppend, chain, r})
			continue
		}
		chain.Rules = slices.Insert(chain.Rules, position-1, r)
		p.table.order = append(p.table.order, step{stepInsert, chain, r})
	}
}

// chainOf finds a rule's chain; a built-in chain that the file did not mention
// exists all the same.
func (p *parser) chainOf(name token) *Chain {
	if c := p.table.Chain(name.text); c != nil {
		return c
	}
	if hook, ok := kindOf(p.table.Name).builtIn(name.text); ok {
		c := &Chain{Name: name.text, Policy: PolicyAccept, Hook: hook, Place: name.span}
		p.table.Chains = append(p.table.Chains, c)
		return c
	}
	var known []string
	for _, c := range p.table.Chains {
		known = append(known, c.Name)
	}
	d := p.errorf(name.span, "iptables/chain", "there is no chain %s in table %s", diag.Printable(name.text), p.table.Name)
	if near := diag.Nearest(name.text, known); near != "" {
		d.Hint = "did you mean " + near + "?"
	}
	return nil
}
