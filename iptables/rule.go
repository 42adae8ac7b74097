package iptables

import (
	"slices"
	"strings"

	"verdict/catalog"
	"verdict/diag"
)

// ruleParser reads the words of one rule.
type ruleParser struct {
	parser  *parser
	words   []token
	next    int
	not     bool
	notSpan diag.Span

	rule         Rule
	loaded       []loaded // matches, and the target, in the order of loading
	sources      []Network
	destinations []Network
	jump         string // chain or target
	jumpSpan     diag.Span
	isGoto       bool
	implicit     bool // the protocol's own match was loaded
	otherFamily  bool // -4 or -6 of the other family
	failed       bool
}

// loaded is an extension that the rule uses.
type loaded struct {
	e    *extension
	x    any
	span diag.Span
}

func (r *ruleParser) family() catalog.Family { return r.parser.file.Family }

// rule reads a rule. It returns several for lists of addresses, and none if
// there are mistakes.
func (p *parser) rule(words, all []token, chain string, saved Counter, line diag.Span) []*Rule {
	r := &ruleParser{parser: p, words: words}
	r.rule.Saved, r.rule.Place, r.rule.words = saved, line, all
	before := p.found.Errors()
	for r.next < len(r.words) && !r.failed {
		r.word()
	}
	if r.not && !r.failed {
		r.errorf(r.notSpan, "iptables/word", "nothing follows the !")
	}
	r.finish(chain)
	if p.found.Errors() > before || r.otherFamily {
		return nil
	}
	return r.expand()
}

func (r *ruleParser) errorf(span diag.Span, code diag.Code, format string, args ...any) *diag.Diagnostic {
	r.failed = true
	return r.parser.errorf(span, code, format, args...)
}

// word reads one option with its words.
func (r *ruleParser) word() {
	w := r.words[r.next]
	r.next++
	switch {
	case w.text == "!" && !r.not:
		r.not, r.notSpan = true, w.span
		return
	case w.text == "!":
		r.errorf(w.span, "iptables/word", "a second ! follows the first")
		return
	case !strings.HasPrefix(w.text, "-") || w.text == "-":
		r.errorf(w.span, "iptables/word", "bad argument %s", diag.Printable(w.text)).Hint = "words that belong together need quotes"
		return
	}
	if name, value, ok := strings.Cut(w.text, "="); ok && strings.HasPrefix(name, "--") {
		w.text = name
		r.words = slices.Insert(slices.Clone(r.words), r.next, token{value, w.span, true})
	}
	not := r.not
	r.not = false
	if r.core(w, not) || r.failed {
		return
	}
	r.extension(w, not)
}

// value takes the word behind an option.
func (r *ruleParser) value(option token) (token, bool) {
	if r.next >= len(r.words) {
		r.errorf(option.span, "iptables/option", "%s needs a value", option.text)
		return token{}, false
	}
	r.next++
	return r.words[r.next-1], true
}

// coreOptions are the options that every rule has, by name.
var coreOptions = map[string]string{
	"-s": "-s", "--source": "-s", "--src": "-s", "-d": "-d", "--destination": "-d", "--dst": "-d",
	"-i": "-i", "--in-interface": "-i", "-o": "-o", "--out-interface": "-o", "-p": "-p", "--protocol": "-p", "--proto": "-p",
	"-f": "-f", "--fragment": "-f", "-m": "-m", "--match": "-m", "-j": "-j", "--jump": "-j", "-g": "-g", "--goto": "-g",
	"-c": "-c", "--set-counters": "-c", "-4": "-4", "--ipv4": "-4", "-6": "-6", "--ipv6": "-6", "-w": "-w", "--wait": "-w", "-t": "-t", "--table": "-t",
}

// core reads one of the options that every rule has.
func (r *ruleParser) core(w token, not bool) bool {
	option, ok := coreOptions[w.text]
	if !ok || option == "-f" && r.family() == catalog.FamilyIP6 {
		return false
	}
	if not && strings.Contains("-m -j -g -c -4 -6 -w -t", option) {
		r.errorf(r.notSpan, "iptables/word", "%s cannot be inverted", w.text)
		return true
	}
	h := &r.rule.Header
	switch option {
	case "-f":
		h.Fragment, h.NotFragment = !not, not
		return true
	case "-4", "-6":
		r.otherFamily = (option == "-4") != (r.family() == catalog.FamilyIP)
		return true
	case "-w":
		return true
	case "-t":
		r.errorf(w.span, "iptables/option", "the table cannot be given by %s here", w.text).Hint = "the line *NAME says the table"
		return true
	}
	v, ok := r.value(w)
	if !ok {
		return true
	}
	switch option {
	case "-s":
		r.sources = r.networks(r.sources, w, v, not)
	case "-d":
		r.destinations = r.networks(r.destinations, w, v, not)
	case "-i":
		h.In = r.iface(h.In, w, v, not)
	case "-o":
		h.Out = r.iface(h.Out, w, v, not)
	case "-p":
		r.protocol(w, v, not)
	case "-m":
		r.match(v)
	case "-j", "-g":
		r.jumpTo(w, v, option == "-g")
	case "-c":
		r.counters(w, v)
	}
	return true
}

func (r *ruleParser) counters(w, v token) {
	bytes, ok := r.value(w)
	if !ok {
		return
	}
	value, ok := parseCounter("[" + v.text + ":" + bytes.text + "]")
	if !ok {
		r.errorf(v.span, "iptables/counter", "counters are two numbers, packets and bytes")
	}
	r.rule.Saved = value
}

// networks reads a list of addresses.
func (r *ruleParser) networks(before []Network, w, v token, not bool) []Network {
	if before != nil {
		r.errorf(w.span, "iptables/option", "%s is given twice", w.text)
		return before
	}
	var list []Network
	for _, part := range strings.Split(v.text, ",") {
		n, ok := parseNetwork(part, r.family())
		if !ok {
			d := r.errorf(v.span, "iptables/address", "%s is no %s address or network", diag.Printable(part), r.familyName())
			if _, other := parseNetwork(part, otherFamily(r.family())); other {
				d.Hint = "the file was taken as one of " + r.familyName() + " because most of its addresses are, or because its first line says so"
			}
			return before
		}
		n.Not = not
		list = append(list, n)
	}
	if not && len(list) > 1 {
		r.errorf(v.span, "iptables/address", "a list of addresses cannot be inverted")
	}
	return list
}

func (r *ruleParser) familyName() string {
	if r.family() == catalog.FamilyIP6 {
		return "IPv6"
	}
	return "IPv4"
}

func otherFamily(f catalog.Family) catalog.Family {
	if f == catalog.FamilyIP6 {
		return catalog.FamilyIP
	}
	return catalog.FamilyIP6
}

// maxName is the longest name of an interface, in bytes.
const maxName = 15

func (r *ruleParser) iface(before Interface, w, v token, not bool) Interface {
	name, prefix := strings.CutSuffix(v.text, "+")
	switch {
	case before.given():
		r.errorf(w.span, "iptables/option", "%s is given twice", w.text)
	case len(v.text) > maxName:
		r.errorf(v.span, "iptables/interface", "the name of an interface has at most %d bytes", maxName)
	case v.text == "":
		r.errorf(v.span, "iptables/interface", "the name of the interface is empty")
	}
	return Interface{Name: name, Prefix: prefix, Not: not}
}

func (r *ruleParser) protocol(w, v token, not bool) {
	h := &r.rule.Header
	if h.Protocol != 0 {
		r.errorf(w.span, "iptables/option", "%s is given twice", w.text)
		return
	}
	n, ok := protocolByName(v.text)
	if !ok {
		var known []string
		for _, s := range catalog.InetProto.Symbols {
			known = append(known, s.Name)
		}
		d := r.errorf(v.span, "iptables/protocol", "there is no protocol %s", diag.Printable(v.text))
		if near := diag.Nearest(v.text, known); near != "" {
			d.Hint = "did you mean " + near + "?"
		}
		return
	}
	if n == 0 && not {
		r.errorf(v.span, "iptables/protocol", "a rule for no protocol would never match")
	}
	h.Protocol, h.NotProtocol = n, not
}

// match loads a match.
func (r *ruleParser) match(name token) {
	e := matchByName(name.text, r.family())
	if e == nil {
		r.unknown(name, "match", Matches(r.family()), refusedMatches)
		return
	}
	r.load(e, name.span)
}

func (r *ruleParser) load(e *extension, span diag.Span) {
	m := e.match(r.family())
	r.rule.Matches = append(r.rule.Matches, m)
	r.loaded = append(r.loaded, loaded{e, m, span})
}

// unknown reports an extension that is not supported.
func (r *ruleParser) unknown(name token, what string, known []string, refused map[string]string) {
	if why, ok := refused[name.text]; ok {
		r.errorf(name.span, "iptables/unsupported", "the %s %s is not supported: %s", what, name.text, why)
		return
	}
	d := r.errorf(name.span, "iptables/"+diag.Code(what), "there is no %s %s", what, diag.Printable(name.text))
	if near := diag.Nearest(name.text, known); near != "" {
		d.Hint = "did you mean " + near + "?"
	}
}

// jumpTo reads the target.
func (r *ruleParser) jumpTo(w, v token, isGoto bool) {
	if r.jump != "" {
		r.errorf(w.span, "iptables/option", "a rule has one target, %s is a second", diag.Printable(v.text))
		return
	}
	r.jump, r.jumpSpan, r.isGoto = v.text, v.span, isGoto
	if isGoto {
		r.rule.Target = &gotoTarget{chain: v.text}
		return
	}
	if verdict, ok := verdictByName(v.text); ok {
		r.rule.Target = verdict
		return
	}
	if e := targetByName(v.text, r.family()); e != nil {
		target := e.target(r.family())
		r.rule.Target = target
		r.loaded = append(r.loaded, loaded{e, target, v.span})
		return
	}
	if _, ok := refusedTargets[v.text]; ok && r.parser.table.Chain(v.text) == nil {
		r.unknown(v, "target", nil, refusedTargets)
		return
	}
	r.rule.Target = &jumpTarget{chain: v.text}
}

// extension finds the option among those of the loaded extensions, the last
// loaded first, and loads the protocol's own match if that has it.
func (r *ruleParser) extension(w token, not bool) {
	name := strings.TrimLeft(w.text, "-")
	for {
		if at, o := r.lookup(name); o != nil {
			r.apply(at, o, w, not)
			return
		}
		if !r.loadImplicit(name) {
			break
		}
	}
	d := r.errorf(w.span, "iptables/option", "unknown option %s", diag.Printable(w.text))
	if near := diag.Nearest(name, r.optionNames()); near != "" {
		d.Hint = "did you mean --" + near + "?"
	} else if owner := ownerOf(name, r.family()); owner != "" {
		d.Hint = "it belongs to " + owner
	}
}

// lookup finds an option by its name or an unambiguous start of it.
func (r *ruleParser) lookup(name string) (int, *option) {
	at, found, ambiguous := -1, (*option)(nil), false
	for i := len(r.loaded) - 1; i >= 0; i-- {
		options := r.loaded[i].e.options
		for k := range options {
			o := &options[k]
			for _, n := range o.names {
				if n == name {
					return i, o
				}
				if len(name) > 1 && strings.HasPrefix(n, name) {
					ambiguous = ambiguous || found != nil && found != o
					at, found = i, o
				}
			}
		}
	}
	if ambiguous {
		return -1, nil
	}
	return at, found
}

// implicitMatches are the matches that -p loads when one of their options is
// used.
var implicitMatches = map[uint8]string{
	1: "icmp", 6: "tcp", 17: "udp", 33: "dccp", 50: "esp", 51: "ah", 58: "icmp6", 108: "ipcomp", 132: "sctp", 135: "mh",
}

func (r *ruleParser) loadImplicit(string) bool {
	h := &r.rule.Header
	name, ok := implicitMatches[h.Protocol]
	if !ok || r.implicit {
		return false
	}
	e := matchByName(name, r.family())
	if e == nil {
		return false
	}
	r.implicit = true
	r.load(e, r.rule.Place)
	return true
}

// optionNames lists the options that could stand here.
func (r *ruleParser) optionNames() []string {
	var out []string
	add := func(e *extension) {
		for _, o := range e.options {
			out = append(out, o.names...)
		}
	}
	for _, l := range r.loaded {
		add(l.e)
	}
	if name, ok := implicitMatches[r.rule.Header.Protocol]; ok {
		if e := matchByName(name, r.family()); e != nil {
			add(e)
		}
	}
	for name := range coreOptions {
		if strings.HasPrefix(name, "--") {
			out = append(out, name[2:])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ownerOf says which extension has an option.
func ownerOf(name string, f catalog.Family) string {
	for _, e := range extensions.matches {
		if e.has(name) && matchByName(e.name, f) == e {
			return "the match " + e.name + ": write -m " + e.name + " before it"
		}
	}
	for _, e := range extensions.targets {
		if e.has(name) && targetByName(e.name, f) == e {
			return "the target " + e.name
		}
	}
	return ""
}

func (e *extension) has(name string) bool {
	return slices.ContainsFunc(e.options, func(o option) bool { return slices.Contains(o.names, name) })
}

// apply sets an option.
func (r *ruleParser) apply(at int, o *option, w token, not bool) {
	if not && !o.not {
		r.errorf(r.notSpan, "iptables/word", "--%s cannot be inverted", o.names[0])
		return
	}
	s := &setting{rule: r, option: o.names[0], span: w.span, not: not}
	for range o.args {
		v, ok := r.value(w)
		if !ok {
			return
		}
		s.values = append(s.values, v)
	}
	o.set(r.loaded[at].x, s)
}

// finish makes the checks that need the whole rule.
func (r *ruleParser) finish(chain string) {
	if r.failed {
		return
	}
	h := &r.rule.Header
	switch {
	case h.Out.given() && (chain == "INPUT" || chain == "PREROUTING"):
		r.errorf(r.rule.Place, "iptables/interface", "packets in %s have no outgoing interface: -o cannot be used", chain)
	case h.In.given() && (chain == "OUTPUT" || chain == "POSTROUTING"):
		r.errorf(r.rule.Place, "iptables/interface", "packets in %s have no incoming interface: -i cannot be used", chain)
	}
	for _, l := range r.loaded {
		if l.e.finish == nil {
			continue
		}
		if wrong := l.e.finish(l.x, &r.rule, r.family()); wrong != "" {
			r.errorf(l.span, "iptables/rule", "%s: %s", l.e.name, wrong)
		}
	}
}

// expand makes a rule for each pair of addresses, source by source.
func (r *ruleParser) expand() []*Rule {
	sources, destinations := r.sources, r.destinations
	if sources == nil {
		sources = []Network{{}}
	}
	if destinations == nil {
		destinations = []Network{{}}
	}
	var out []*Rule
	for _, s := range sources {
		for _, d := range destinations {
			rule := r.rule
			rule.Header.Source, rule.Header.Destination = s, d
			out = append(out, &rule)
		}
	}
	return out
}
