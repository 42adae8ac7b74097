package tc

import (
	"fmt"
	"strings"
	"syscall"
)

// ematchTree is an expression of ematches.
type ematchTree struct {
	items []ematchItem
}

// ematchItem is one member with what joins it to the next.
type ematchItem struct {
	not  bool
	join string // "and", "or", "" for the last
	em   ematch
	sub  *ematchTree
}

// ematch is one test.
type ematch interface {
	match(s *System, p *Packet) bool
	check(s *System) *KernelError
	text() string
}

// match evaluates from the left: and stops at the first false, or at the first
// true. A missing tree matches.
//
// Ref: ematch.c, __tcf_em_tree_match
func (t *ematchTree) match(s *System, p *Packet) bool {
	if t == nil || len(t.items) == 0 {
		return true
	}
	result := false
	for _, i := range t.items {
		if i.sub != nil {
			result = i.sub.match(s, p)
		} else {
			result = i.em.match(s, p)
		}
		result = result != i.not
		if i.join == "and" && !result || i.join == "or" && result {
			return result
		}
	}
	return result
}

func (t *ematchTree) check(s *System) *KernelError {
	if t == nil {
		return nil
	}
	for _, i := range t.items {
		if i.sub != nil {
			if err := i.sub.check(s); err != nil {
				return err
			}
			continue
		}
		if err := i.em.check(s); err != nil {
			return err
		}
	}
	return nil
}

// show writes a tree, a line for each member.
func (t *ematchTree) show(o *printer) {
	if t == nil {
		return
	}
	t.write(&o.b, 1)
	o.b.WriteByte('\n')
}

func (t *ematchTree) write(b *strings.Builder, depth int) {
	b.WriteByte('\n')
	b.WriteString(strings.Repeat("  ", depth))
	for n, i := range t.items {
		if i.not {
			b.WriteString("NOT ")
		}
		if i.sub != nil {
			b.WriteByte('(')
			i.sub.write(b, depth+1)
			b.WriteByte('\n')
			b.WriteString(strings.Repeat("  ", depth))
			b.WriteByte(')')
		} else {
			b.WriteString(i.em.text())
		}
		if n < len(t.items)-1 {
			fmt.Fprintf(b, "\n%s%s ", strings.Repeat("  ", depth), strings.ToUpper(i.join))
		}
	}
}

// ematchToken is a piece of an expression; quoted text keeps its quotes apart.
type ematchToken struct {
	text   string
	quoted bool
}

// ematchError is tc's answer to an expression that it cannot read.
func ematchError(format string, args ...any) *ToolError {
	return tool("%s\nIllegal \"ematch\"", fmt.Sprintf(format, args...))
}

// parseEmatches reads an expression: one word, or words up to the next keyword
// of the filter.
func parseEmatches(w *words) (*ematchTree, *ToolError) {
	if !w.more() {
		return nil, incomplete()
	}
	var text []string
	for w.more() && !w.is("action") && !w.is("classid") && !w.is("flowid") && !w.is("police") {
		text = append(text, w.peek())
		w.skip()
	}
	tokens, err := ematchTokens(strings.Join(text, " "))
	if err != nil {
		return nil, err
	}
	p := &ematchParser{tokens: tokens}
	t, err := p.tree(0)
	if err != nil {
		return nil, err
	}
	if p.at < len(p.tokens) {
		return nil, ematchError("syntax error at %q", p.peek())
	}
	return t, nil
}

func ematchTokens(s string) ([]ematchToken, *ToolError) {
	var out []ematchToken
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == ',':
			i++
		case c == '(' || c == ')' || c == '=' || c == '>' || c == '<' || c == '+':
			out = append(out, ematchToken{text: string(c)})
			i++
		case c == '"':
			end := strings.IndexByte(s[i+1:], '"')
			if end < 0 {
				return nil, ematchError("unterminated string")
			}
			out = append(out, ematchToken{text: s[i+1 : i+1+end], quoted: true})
			i += end + 2
		default:
			end := strings.IndexAny(s[i:], " \t\n,()=<>+\"")
			if end < 0 {
				end = len(s) - i
			}
			out = append(out, ematchToken{text: s[i : i+end]})
			i += end
		}
	}
	return out, nil
}

type ematchParser struct {
	tokens []ematchToken
	at     int
}

func (p *ematchParser) peek() string {
	if p.at >= len(p.tokens) {
		return ""
	}
	return p.tokens[p.at].text
}

func (p *ematchParser) accept(s string) bool {
	if p.at < len(p.tokens) && !p.tokens[p.at].quoted && p.tokens[p.at].text == s {
		p.at++
		return true
	}
	return false
}

const maxEmatchDepth = 32

func (p *ematchParser) tree(depth int) (*ematchTree, *ToolError) {
	if depth > maxEmatchDepth {
		return nil, ematchError("expression is too deep")
	}
	t := &ematchTree{}
	for {
		i := ematchItem{not: p.accept("not") || p.accept("!")}
		var err *ToolError
		if p.accept("(") {
			if i.sub, err = p.tree(depth + 1); err != nil {
				return nil, err
			}
			if !p.accept(")") {
				return nil, ematchError("syntax error: ) is missing")
			}
		} else if i.em, err = p.call(); err != nil {
			return nil, err
		}
		switch {
		case p.accept("and") || p.accept("&&"):
			i.join = "and"
		case p.accept("or") || p.accept("||"):
			i.join = "or"
		}
		t.items = append(t.items, i)
		if i.join == "" {
			return t, nil
		}
	}
}

// ematchKinds read the arguments between the parentheses.
var ematchKinds = map[string]func([]ematchToken) (ematch, *ToolError){}

func init() {
	ematchKinds["cmp"] = parseCmp
	ematchKinds["u32"] = parseEmU32
	ematchKinds["nbyte"] = parseNbyte
	ematchKinds["meta"] = parseMeta
	ematchKinds["canid"] = parseCanID
	ematchKinds["text"] = parseText
	ematchKinds["ipset"] = parseIPSet
}

func (p *ematchParser) call() (ematch, *ToolError) {
	name := p.peek()
	p.at++
	if !p.accept("(") {
		return nil, ematchError("syntax error at %q", name)
	}
	start := p.at
	for p.at < len(p.tokens) && (p.tokens[p.at].quoted || p.tokens[p.at].text != ")") {
		p.at++
	}
	args := p.tokens[start:min(p.at, len(p.tokens))]
	if !p.accept(")") {
		return nil, ematchError("syntax error: ) is missing")
	}
	read := ematchKinds[name]
	if read == nil {
		return nil, ematchError("Error: Unable to find ematch %q", name)
	}
	return read(args)
}

// unsupportedEmatch is one that is stored and shown but not evaluated.
type unsupportedEmatch struct{ line string }

func (e *unsupportedEmatch) match(*System, *Packet) bool { return false }
func (e *unsupportedEmatch) text() string                { return e.line }

// check refuses it by name, since its matches would be unknown.
func (e *unsupportedEmatch) check(*System) *KernelError {
	return refuse(syscall.EOPNOTSUPP, "ematch %s is not supported", e.line)
}

func parseText(args []ematchToken) (ematch, *ToolError) { return unsupported("text", args), nil }

func parseIPSet(args []ematchToken) (ematch, *ToolError) { return unsupported("ipset", args), nil }

func unsupported(name string, args []ematchToken) ematch {
	var l []string
	for _, a := range args {
		l = append(l, a.text)
	}
	return &unsupportedEmatch{line: name + "(" + strings.Join(l, " ") + ")"}
}
