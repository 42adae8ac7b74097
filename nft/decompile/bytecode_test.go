package decompile

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/internal/testdata"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// ruleCase is a rule case of the conformance data.
type ruleCase struct {
	ID, Kind, Family, Table, Expect, Rule, Listing string

	Payload     []string
	PayloadSets []textSet `json:"payload_sets"`
	Sets        []any
	Oracle      struct{ Listing string }
}

// textSet is an anonymous set as bytecode text shows it.
type textSet struct {
	Name, Flags string
	Elements    []string
}

// conformanceOptions are those under which the recorded listings were made.
var conformanceOptions = Options{
	NumericProtocol: true, Stateless: true, Location: testdata.RecordingZone,
	InterfaceName: func(index uint32) string {
		if index == 1 {
			return "lo"
		}
		return ""
	},
}

// bytecodeFloor is the number of cases that list exactly from their bytecode
// text.
const bytecodeFloor = 2848

// TestBytecodeListing decompiles the bytecode text of the conformance cases.
// Text does not show everything: flags of osf and synproxy, and the types of
// named sets, which is why cases with named sets are left out.
func TestBytecodeListing(t *testing.T) {
	total, exact := 0, 0
	for _, c := range testdata.Lines[ruleCase](t, testdata.NftCases) {
		if c.Kind != "rule" || c.Expect != "ok" || len(c.Sets) > 0 {
			continue
		}
		total++
		got, err := listBytecode(t, &c)
		want := c.Oracle.Listing
		if want == "" {
			want = c.Listing
		}
		switch {
		case err != nil:
			t.Logf("%s: %v", c.ID, err)
		case got == want:
			exact++
		default:
			t.Logf("%s:\n got %s\nwant %s\n  by %s", c.ID, got, want, strings.Join(c.Payload, "; "))
		}
	}
	t.Logf("%d of %d cases list exactly from bytecode", exact, total)
	if exact < bytecodeFloor {
		t.Errorf("%d cases list exactly, want at least %d", exact, bytecodeFloor)
	}
}

func listBytecode(t *testing.T, c *ruleCase) (string, error) {
	lines := numberedSets(c.Payload)
	exprs, err := expr.ParseRuleText(strings.Join(lines, "\n"), expr.TextOptions{})
	if err != nil {
		return "", err
	}
	family, _ := catalog.FamilyByName(c.Family)
	table := &ruleset.Table{Family: family, Name: c.Table}
	counts := map[string]int{}
	for _, s := range c.PayloadSets {
		base := strings.TrimSuffix(s.Name, "%d")
		name := base + strconv.Itoa(counts[base])
		counts[base]++
		table.Sets = append(table.Sets, buildSet(t, family, name, s, exprs, c.Rule))
	}
	o := conformanceOptions
	statements, comment := Rule(table, &ruleset.Rule{Exprs: exprs}, &o)
	return string(syntax.AppendRule(nil, &syntax.Rule{Statements: statements, Comment: text(comment)})), nil
}

// numberedSets replaces __set%d by the names that loading gives.
func numberedSets(lines []string) []string {
	out := slices.Clone(lines)
	counts := map[string]int{}
	for i, l := range out {
		for _, base := range []string{"__set", "__map", "__objmap"} {
			if strings.Contains(l, " "+base+"%d") {
				out[i] = strings.Replace(l, " "+base+"%d", " "+base+strconv.Itoa(counts[base]), 1)
				counts[base]++
			}
		}
	}
	return out
}

// buildSet loads an anonymous set from its text. Bytecode text does not say
// which parts are little endian; the rule's loads do.
func buildSet(t *testing.T, family catalog.Family, name string, s textSet, exprs []expr.Expr, source string) *ruleset.Set {
	t.Helper()
	flags, err := strconv.ParseUint(s.Flags, 16, 32)
	if err != nil { // the record lacks the set's header
		flags = uint64(ruleset.SetAnonymous | ruleset.SetConstant)
		if strings.Contains(strings.Join(s.Elements, ""), " : ") {
			flags |= uint64(ruleset.SetMap)
		}
	}
	def := &ruleset.SetDef{Name: name, Flags: uint32(flags), KeyType: catalog.Integer.ID}
	keyText, dataText := sampleElement(s.Elements)
	def.Fields = fieldLengths(keyText)
	for _, n := range def.Fields {
		def.KeyLen += uint32(n+3) / 4 * 4
	}
	if len(def.Fields) == 1 {
		def.KeyLen = uint32(def.Fields[0])
		def.Fields = nil
	} else {
		def.Flags |= ruleset.SetConcat
		def.KeyType = 0
		for range def.Fields {
			def.KeyType = def.KeyType<<catalog.ConcatBits | catalog.Integer.ID
		}
	}
	hostData := strings.Contains(source, "mark set") || strings.Contains(source, "dup to meta")
	switch {
	case def.Flags&ruleset.SetMap == 0:
	case isVerdict(dataText):
		def.DataType, def.DataLen = ruleset.TypeVerdict, 16
	case def.Flags&ruleset.SetObject != 0:
		def.ObjType = expr.ObjectCounter
	default:
		def.DataType = catalog.Integer.ID
		lengths := fieldLengths(dataText)
		for i, n := range lengths {
			def.DataLen += uint32(n)
			if i+1 < len(lengths) {
				def.DataLen += uint32(-n & 3)
			}
		}
		def.UserData.DataHost = hostData
	}
	if strings.HasPrefix(name, "__objmap") {
		def.Flags |= ruleset.SetObject
		def.ObjType = objectTypeOf(source)
	}
	hosts := keyOrders(family, name, def, exprs)
	if len(hosts) == 1 {
		def.UserData.KeyHost = hosts[0]
	} else {
		def.UserData.FieldHost = hosts
	}
	var elements []ruleset.Element
	for _, e := range s.Elements {
		elements = append(elements, parseElement(t, def, e, hosts, hostData))
	}
	batch := []ruleset.Change{
		{Op: ruleset.OpAdd, Kind: ruleset.KindTable, Family: family, Table: "t", TableDef: &ruleset.TableDef{}},
	}
	load := *def
	load.Flags &^= ruleset.SetAnonymous
	load.ObjType = def.ObjType
	for _, e := range elements {
		if e.Object != "" {
			batch = append(batch, ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindObject, Family: family, Table: "t", Name: e.Object,
				ObjType:   expr.ObjectCounter,
				ObjectDef: &ruleset.Object{Name: e.Object, Type: expr.ObjectCounter, Counter: &expr.Counter{}}})
			load.ObjType = expr.ObjectCounter
		}
	}
	batch = append(batch,
		ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindSet, Family: family, Table: "t", Name: name, SetDef: &load},
		ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindElements, Family: family, Table: "t", Name: name, Elements: elements},
	)
	rs, errs := ruleset.Apply(nil, batch, ruleset.Options{})
	if len(errs) > 0 {
		t.Fatalf("%s: %v", source, errs[0])
	}
	return &ruleset.Set{SetDef: *def, Elements: rs.Tables[0].Sets[0].Elements}
}

func objectTypeOf(source string) expr.ObjectType {
	for word, kind := range map[string]expr.ObjectType{
		"quota name": expr.ObjectQuota, "limit name": expr.ObjectLimit, "ct helper": expr.ObjectCTHelper,
		"synproxy name": expr.ObjectSynproxy, "ct timeout": expr.ObjectCTTimeout, "ct expectation": expr.ObjectCTExpectation,
	} {
		if strings.Contains(source, word) {
			return kind
		}
	}
	return expr.ObjectCounter
}

// sampleElement gives key and data of the first element that has a value.
func sampleElement(elements []string) (key, data string) {
	for _, e := range elements {
		if strings.TrimSpace(e) == "" || strings.HasPrefix(e, " ") {
			continue
		}
		key, data, _ = strings.Cut(e, " : ")
		key, _, _ = strings.Cut(key, " flags ")
		key, _, _ = strings.Cut(key, " - ")
		data, _, _ = strings.Cut(data, " flags ")
		if data != "" || !strings.Contains(e, "flags 1") {
			return key, data
		}
	}
	return key, data
}

func fieldLengths(s string) []uint8 {
	var lengths []uint8
	for _, f := range strings.Split(s, " . ") {
		lengths = append(lengths, uint8(len(strings.ReplaceAll(f, " ", ""))/2))
	}
	return lengths
}

func isVerdict(s string) bool {
	switch word, _, _ := strings.Cut(s, " "); word {
	case "accept", "drop", "continue", "return", "jump", "goto":
		return true
	}
	return false
}

// keyOrders finds which parts of a set's keys are little endian, from what
// the rule loads before it looks up.
func keyOrders(family catalog.Family, name string, def *ruleset.SetDef, exprs []expr.Expr) []bool {
	r := rule{o: &Options{}, table: &ruleset.Table{Family: family}}
	r.outer.init(family)
	for _, e := range exprs {
		var reg expr.Reg
		switch e := e.(type) {
		case *expr.Lookup:
			if e.Set != name {
				r.add(e)
				continue
			}
			reg = e.Src
		case *expr.Objref:
			if e.Set != name {
				continue
			}
			reg = e.Src
		default:
			r.add(e)
			continue
		}
		_, formats := r.nameParts(r.regs.span(reg, int(def.KeyLen)))
		hosts := make([]bool, len(formats))
		for i := range formats {
			hosts[i] = formats[i].host()
		}
		return hosts
	}
	return make([]bool, max(len(def.Fields), 1))
}

func parseElement(t *testing.T, def *ruleset.SetDef, s string, hosts []bool, hostData bool) ruleset.Element {
	t.Helper()
	var e ruleset.Element
	key, data, _ := strings.Cut(s, " : ")
	if before, flags, ok := strings.Cut(s, " flags "); ok {
		n, _ := strconv.Atoi(strings.TrimSpace(flags))
		e.Flags = uint32(n)
		if key == s {
			key = before
		}
		data, _, _ = strings.Cut(data, " flags ")
	}
	from, to, isRange := strings.Cut(key, " - ")
	e.Key = parseKey(t, from, hosts)
	if isRange {
		e.KeyEnd = parseKey(t, to, hosts)
	}
	if e.Flags&ruleset.ElemCatchAll != 0 {
		e.Key = nil
	}
	data = strings.TrimSpace(data)
	switch {
	case data == "":
	case def.DataType == ruleset.TypeVerdict:
		word, chain, _ := strings.Cut(data, " ")
		for _, k := range []catalog.VerdictKind{catalog.VerdictAccept, catalog.VerdictDrop, catalog.VerdictContinue, catalog.VerdictReturn} {
			if k.String() == word {
				e.Data = &expr.Data{Verdict: &expr.Verdict{Kind: k, Chain: chain}}
			}
		}
	case def.Flags&ruleset.SetObject != 0:
		e.Object = data
	default:
		v := parseKey(t, data, []bool{hostData, false})
		e.Data = &expr.Data{Value: expr.Value{Bytes: v[:min(len(v), int(def.DataLen))]}}
	}
	return e
}

// parseKey reads the parts of a key; all but a single one take whole words.
func parseKey(t *testing.T, s string, hosts []bool) []byte {
	t.Helper()
	parts := strings.Split(strings.TrimSpace(s), " . ")
	var key []byte
	for i, p := range parts {
		b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(p), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if i < len(hosts) && hosts[i] {
			slices.Reverse(b)
		}
		key = append(key, b...)
		for len(parts) > 1 && len(key)%4 != 0 {
			key = append(key, 0)
		}
	}
	return key
}
