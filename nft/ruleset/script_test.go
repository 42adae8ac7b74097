package ruleset

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/nft/expr"
)

// The scripts of these tests are lists of changes, one per line:
//
//	VERB table FAMILY NAME [flags N] [owner NAME]
//	VERB chain FAMILY TABLE NAME [type T hook H priority N] [policy P] [device D]... [binding]
//	VERB rule FAMILY TABLE CHAIN [position N | index N | handle N] [comment C] [: EXPR ; EXPR...]
//	VERB set FAMILY TABLE NAME [flags N] [key N] [data N | verdict] [object N] [fields N,N] [size N] [timeout MS] [gc MS] [id N] [exprs EXPR]
//	VERB elements FAMILY TABLE SET [id N] : KEY[-KEYEND] [= DATA | = object NAME | = verdict] [flags N] [timeout MS] [expires MS] [comment C] ; ...
//	VERB counter|quota|limit|synproxy FAMILY TABLE NAME [N]
//	VERB flowtable FAMILY TABLE NAME [device D]...
//	rename chain FAMILY TABLE NAME NEW
//	flush ruleset [FAMILY]
//
// Keys and data are hexadecimal; * is the catch-all element.

var verbs = map[string]Op{
	"add": OpAdd, "create": OpCreate, "insert": OpInsert, "replace": OpReplace, "delete": OpDelete,
	"destroy": OpDestroy, "flush": OpFlush, "rename": OpRename, "reset": OpReset,
}

var objectKinds = map[string]expr.ObjectType{
	"counter": expr.ObjectCounter, "quota": expr.ObjectQuota, "limit": expr.ObjectLimit, "synproxy": expr.ObjectSynproxy,
}

// parseScript reads changes. It panics on mistakes, which are the test's.
func parseScript(text string) []Change {
	var batch []Change
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && line[0] != '@' {
			batch = append(batch, parseChange(line))
		}
	}
	return batch
}

// words are the words of a line that were not read yet.
type words struct{ rest []string }

func (w *words) next() string {
	if len(w.rest) == 0 {
		return ""
	}
	s := w.rest[0]
	w.rest = w.rest[1:]
	return s
}

func (w *words) number() uint64 {
	s := w.next()
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		panic(fmt.Sprintf("%q is no number", s))
	}
	return n
}

func parseChange(line string) Change {
	head, body, hasBody := strings.Cut(line, " : ")
	w := &words{strings.Fields(head)}
	op, ok := verbs[w.next()]
	if !ok {
		panic("unknown verb: " + line)
	}
	c := Change{Op: op}
	kind := w.next()
	if kind == "ruleset" {
		c.Kind = KindRuleset
		c.Family, _ = catalog.FamilyByName(w.next())
		return c
	}
	c.Family, ok = catalog.FamilyByName(w.next())
	if !ok {
		panic("unknown family: " + line)
	}
	if c.Table = w.next(); c.Table == "handle" {
		c.Table, c.Handle = "", w.number()
	}
	if kind == "table" {
		c.Kind = KindTable
		parseTable(&c, w)
		return c
	}
	if c.Name = w.next(); c.Name == "handle" {
		c.Name, c.Handle = "", w.number()
	}
	switch kind {
	case "chain":
		c.Kind = KindChain
		parseChain(&c, w)
	case "rule":
		c.Kind = KindRule
		parseRule(&c, w, body, hasBody)
	case "set":
		c.Kind = KindSet
		parseSet(&c, w)
	case "elements":
		c.Kind = KindElements
		if w.next() == "id" {
			c.SetID = uint32(w.number())
		}
		if hasBody {
			for _, e := range strings.Split(body, ";") {
				c.Elements = append(c.Elements, parseElement(strings.TrimSpace(e)))
			}
		}
	case "flowtable":
		c.Kind = KindFlowtable
		c.Flowtable = &Flowtable{Name: c.Name}
		for w.next() == "device" {
			c.Flowtable.Devices = append(c.Flowtable.Devices, w.next())
		}
	default:
		c.Kind, c.ObjType = KindObject, objectKinds[kind]
		if c.ObjType == 0 {
			panic("unknown kind: " + line)
		}
		parseObject(&c, w)
	}
	return c
}

func parseTable(c *Change, w *words) {
	c.TableDef = &TableDef{}
	for k := w.next(); k != ""; k = w.next() {
		switch k {
		case "flags":
			c.TableDef.Flags = uint32(w.number())
		case "owner":
			c.TableDef.Owner = w.next()
		default:
			panic("unknown word of a table: " + k)
		}
	}
}

func parseChain(c *Change, w *words) {
	if c.Op == OpRename {
		c.NewName = w.next()
		return
	}
	def := &ChainDef{}
	base := func() *BaseChain {
		if def.Base == nil {
			def.Base = &BaseChain{Type: "filter"}
		}
		return def.Base
	}
	for k := w.next(); k != ""; k = w.next() {
		switch k {
		case "type":
			base().Type = w.next()
		case "hook":
			name := w.next()
			h, ok := catalog.HookByName(c.Family, name)
			if !ok {
				h = catalog.HookNum(77)
			}
			base().Hook = h
		case "priority":
			n, err := strconv.Atoi(w.next())
			if err != nil {
				panic(err)
			}
			base().Priority = int32(n)
		case "policy":
			def.HasPolicy = true
			policy := map[string]catalog.VerdictKind{"accept": catalog.VerdictAccept, "drop": catalog.VerdictDrop, "continue": catalog.VerdictContinue}[w.next()]
			if def.Base != nil {
				def.Base.Policy = policy
			}
		case "device":
			base().Devices = append(base().Devices, w.next())
		case "binding":
			def.Binding = true
		default:
			panic("unknown word of a chain: " + k)
		}
	}
	c.ChainDef = def
}

func parseRule(c *Change, w *words, body string, hasBody bool) {
	def := &RuleDef{}
	for k := w.next(); k != ""; k = w.next() {
		switch k {
		case "position":
			def.Position = w.number()
		case "index":
			def.HasIndex, def.Index = true, w.number()
		case "handle":
			c.Handle = w.number()
		case "comment":
			def.Comment = w.next()
		default:
			panic("unknown word of a rule: " + k)
		}
	}
	if !hasBody && (c.Op == OpDelete || c.Op == OpDestroy || c.Op == OpFlush || c.Op == OpReset) {
		return
	}
	def.Exprs = parseExprs(body)
	c.RuleDef = def
}

// parseExprs reads expressions in bytecode text. A number in front of a lookup
// or dynset, as in `#1 lookup …`, is the set's number within the batch.
func parseExprs(body string) []expr.Expr {
	var out []expr.Expr
	for _, part := range strings.Split(body, ";") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		var id uint32
		if part[0] == '#' {
			n, rest, _ := strings.Cut(part[1:], " ")
			i, err := strconv.Atoi(n)
			if err != nil {
				panic(err)
			}
			id, part = uint32(i), rest
		}
		e, err := expr.ParseText(part, expr.TextOptions{})
		if err != nil {
			panic(fmt.Sprintf("%q: %v", part, err))
		}
		switch x := e.(type) {
		case *expr.Lookup:
			x.SetID = id
		case *expr.Dynset:
			x.SetID = id
		case *expr.Objref:
			x.SetID = id
		}
		out = append(out, e)
	}
	return out
}

func parseSet(c *Change, w *words) {
	def := &SetDef{KeyLen: 4, KeyType: 7}
	for k := w.next(); k != ""; k = w.next() {
		switch k {
		case "flags":
			def.Flags = uint32(w.number())
		case "key":
			def.KeyLen = uint32(w.number())
		case "data":
			def.DataLen, def.DataType = uint32(w.number()), 7
		case "verdict":
			def.DataLen, def.DataType = 16, TypeVerdict
		case "object":
			def.ObjType = expr.ObjectType(w.number())
		case "fields":
			for _, n := range strings.Split(w.next(), ",") {
				i, err := strconv.Atoi(n)
				if err != nil {
					panic(err)
				}
				def.Fields = append(def.Fields, uint8(i))
			}
		case "size":
			def.Size = uint32(w.number())
		case "timeout":
			def.Timeout = w.number()
		case "gc":
			def.GC = uint32(w.number())
		case "id":
			c.SetID = uint32(w.number())
		case "exprs":
			def.Exprs = parseExprs(strings.Join(w.rest, " "))
			w.rest = nil
		default:
			panic("unknown word of a set: " + k)
		}
	}
	if c.Op == OpAdd || c.Op == OpCreate {
		c.SetDef = def
	}
}

func parseElement(text string) Element {
	w := &words{strings.Fields(text)}
	el := Element{}
	if key := w.next(); key == "*" {
		el.Flags = ElemCatchAll
	} else {
		from, to, ranged := strings.Cut(key, "-")
		el.Key = unhex(from)
		if ranged {
			el.KeyEnd = unhex(to)
		}
	}
	for k := w.next(); k != ""; k = w.next() {
		switch k {
		case "=":
			parseData(&el, w)
		case "flags":
			el.Flags |= uint32(w.number())
		case "timeout":
			el.HasTimeout, el.Timeout = true, w.number()
		case "expires":
			el.Expires = w.number()
		case "comment":
			el.Comment = w.next()
		case "open":
			el.OpenInterval = true
		case "exprs":
			el.Exprs = parseExprs(strings.ReplaceAll(strings.Join(w.rest, " "), "/", ";"))
			w.rest = nil
		default:
			panic("unknown word of an element: " + k)
		}
	}
	return el
}

func parseData(el *Element, w *words) {
	switch v := w.next(); v {
	case "object":
		el.Object = w.next()
	case "accept":
		el.Data = &expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictAccept}}
	case "drop":
		el.Data = &expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictDrop}}
	case "queue":
		el.Data = &expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictQueue}}
	case "jump":
		el.Data = &expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictJump, Chain: w.next()}}
	case "goto":
		el.Data = &expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictGoto, Chain: w.next()}}
	default:
		el.Data = &expr.Data{Value: expr.Value{Bytes: unhex(v)}}
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func parseObject(c *Change, w *words) {
	if c.Op != OpAdd && c.Op != OpCreate {
		return
	}
	n := uint64(1)
	if len(w.rest) > 0 {
		n = w.number()
	}
	o := &Object{Name: c.Name, Type: c.ObjType}
	switch c.ObjType {
	case expr.ObjectCounter:
		o.Counter = &expr.Counter{}
	case expr.ObjectQuota:
		o.Quota = &expr.Quota{Bytes: n}
	case expr.ObjectLimit:
		o.Limit = &expr.Limit{Rate: n, Unit: 1, Burst: 5}
	case expr.ObjectSynproxy:
		o.Synproxy = &expr.Synproxy{MSS: uint16(n), WScale: 7, Flags: 3}
	}
	c.ObjectDef = o
}
