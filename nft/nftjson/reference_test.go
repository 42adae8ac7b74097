package nftjson_test

import (
	"encoding/json"
	"fmt"
	"slices"
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
var east = testdata.RecordingZone

// ports are the interfaces of the host on which dumps were recorded.
var ports = testdata.RecordingInterfaces()

func compileOptions(ports map[string]uint32, zone *time.Location) compile.Options {
	return compile.Options{
		Interface: testdata.InterfaceIndex(ports),
		User:      testdata.RecordingAccount, Group: testdata.RecordingAccount,
		Names:    testdata.RecordingName,
		Location: zone,
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
	var all []ruleCase
	for _, c := range testdata.Lines[ruleCase](t, testdata.NftCases) {
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

// corpus lists the real rulesets that load.
func corpus(t *testing.T) []testdata.Corpus {
	return slices.DeleteFunc(testdata.CorpusRulesets(t), func(c testdata.Corpus) bool { return c.Loaded != "yes" })
}

// listOptions are those of a listing as JSON.
func listOptions(ports map[string]uint32) decompile.Options {
	return decompile.Options{InterfaceName: testdata.InterfaceName(ports)}.JSON()
}
