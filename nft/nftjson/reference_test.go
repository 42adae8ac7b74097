package nftjson_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verdict/catalog"
	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/compile"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// east is the time zone in which the conformance cases were recorded.
var east = time.FixedZone("UTC-2", 2*60*60)

// ports are the interfaces of the host on which dumps were recorded.
var ports = map[string]uint32{
	"lo": 1, "dummy0": 2, "dummy1": 3, "dummy-m": 4, "eth0": 5, "eth1": 6, "veth0": 7, "veth1": 8, "br0": 9, "d0": 10, "d1": 11,
}

func portName(ports map[string]uint32) func(uint32) string {
	return func(index uint32) string {
		for name, i := range ports {
			if i == index {
				return name
			}
		}
		return ""
	}
}

func compileOptions(ports map[string]uint32, zone *time.Location) compile.Options {
	accounts := map[string]uint32{"root": 0, "daemon": 1, "bin": 2}
	account := func(name string) (uint32, bool) { id, ok := accounts[name]; return id, ok }
	return compile.Options{
		Interface: func(name string) (uint32, bool) { i, ok := ports[name]; return i, ok },
		User:      account, Group: account, Location: zone,
		Names: func(t *catalog.Type, name string) (uint64, bool) {
			return 0, t == catalog.Realm && name == "cosmos" || t == catalog.DevGroup && name == "default"
		},
	}
}

// apply compiles a tree and applies it.
func apply(base *ruleset.Ruleset, file *syntax.File, found *diag.List, opts compile.Options) (*ruleset.Ruleset, error) {
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("syntax: %w", err)
	}
	batch, found := compile.Compile(base, file, opts)
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	rs, refused := ruleset.Apply(base, batch, ruleset.Options{})
	if len(refused) > 0 {
		return nil, fmt.Errorf("apply: %w", refused[0])
	}
	return rs, nil
}

func loadText(base *ruleset.Ruleset, name string, text []byte, opts compile.Options) (*ruleset.Ruleset, error) {
	file, found := syntax.Parse(diag.NewSource(name, text), syntax.Options{Open: testdata.OpenIncluded})
	return apply(base, file, found, opts)
}

// ruleCase is a conformance case of one rule.
type ruleCase struct {
	ID, Kind, Table, Chain, Family, Expect, Cmd, Listing string

	Payload    []string
	Setup      []string
	JSON       json.RawMessage
	JSONOutput json.RawMessage `json:"json_output"`
}

// expected is the JSON of the rule's listing, nil if none was recorded.
func (c *ruleCase) expected() json.RawMessage {
	if len(c.JSONOutput) > 0 && string(c.JSONOutput) != "null" {
		return c.JSONOutput
	}
	if string(c.JSON) == "null" {
		return nil
	}
	return c.JSON
}

func ruleCases(t *testing.T) []ruleCase {
	file, err := os.Open(testdata.Path(t, "conformance/nft/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []ruleCase
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c ruleCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Kind == "rule" && c.Expect == "ok" && c.expected() != nil {
			all = append(all, c)
		}
	}
	return all
}

// lastRule finds the rule that a case added.
func (c *ruleCase) lastRule(rs *ruleset.Ruleset) (*ruleset.Table, *ruleset.Chain, *ruleset.Rule) {
	family, _ := catalog.FamilyByName(c.Family)
	t := rs.Table(family, c.Table)
	chain := t.Chain(c.Chain)
	return t, chain, chain.Rules[len(chain.Rules)-1]
}

// corpusEntry is one real ruleset.
type corpusEntry struct {
	File       string
	Loaded     string
	Interfaces map[string]uint32

	dir string
}

func corpus(t *testing.T) []corpusEntry {
	var all []corpusEntry
	for _, folder := range []string{"tool-output", "nftables-examples"} {
		dir := testdata.Path(t, "corpus/nft/"+folder)
		text, err := os.ReadFile(filepath.Join(dir, "index.json"))
		if err != nil {
			t.Fatal(err)
		}
		var index []corpusEntry
		if err := json.Unmarshal(text, &index); err != nil {
			t.Fatal(err)
		}
		for _, e := range index {
			if e.Loaded != "yes" {
				continue
			}
			e.dir = dir
			if e.Interfaces == nil {
				e.Interfaces = map[string]uint32{}
			}
			e.Interfaces["lo"] = 1
			all = append(all, e)
		}
	}
	return all
}

// path is where the ruleset lies, or what was recorded of it.
func (e *corpusEntry) path(ext string) string {
	return filepath.Join(e.dir, strings.TrimSuffix(e.File, ".nft")+ext)
}

// listOptions are those of a listing as JSON.
func listOptions(ports map[string]uint32) decompile.Options {
	return decompile.Options{InterfaceName: portName(ports)}.JSON()
}
