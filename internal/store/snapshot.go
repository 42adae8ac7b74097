package store

import (
	"fmt"

	"verdict/nft/ruleset"
)

// Interface is an interface that was made up: rules hold its index.
type Interface struct {
	Index uint32
	Name  string
}

// State is what a file holds.
type State struct {
	Rules *ruleset.Ruleset
	// Interfaces are those that callers made up, in order.
	Interfaces []Interface
	// Sequence counts the transactions since the file was made.
	Sequence uint64
}

// appendSnapshot writes a state as it is at a time.
func appendSnapshot(b []byte, s *State, now int64) []byte {
	rs := s.Rules
	img := image{
		Sequence: s.Sequence, Time: now, Generation: rs.Generation, NextTableHandle: rs.NextTableHandle,
		Tables: rs.Tables, Interfaces: s.Interfaces,
	}
	b = encode(b, &img)
	for _, t := range rs.Tables {
		for _, set := range t.Sets {
			b = appendElements(b, set)
		}
	}
	return b
}

// readSnapshot reads a state for use at a time; elements that are expired then
// are left out.
func readSnapshot(content []byte, schema *fileSchema, now int64) (*State, error) {
	d := newDecoder(content, schema)
	var img image
	decodeInto(d, &img)
	elements := map[*ruleset.Set][]ruleset.Element{}
	for _, t := range img.Tables {
		if d.err != nil {
			break
		}
		for _, s := range t.Sets {
			elements[s] = readElements(d, s, now)
		}
	}
	if d.err == nil && len(d.data) > 0 {
		d.fail(fmt.Errorf("%d bytes too many", len(d.data)))
	}
	if d.err != nil {
		return nil, d.err
	}
	rs := &ruleset.Ruleset{Tables: img.Tables, Generation: img.Generation, NextTableHandle: img.NextTableHandle}
	rs, err := ruleset.Restore(rs, func(_ *ruleset.Table, s *ruleset.Set) []ruleset.Element { return elements[s] }, now, ruleset.FromFile)
	if err != nil {
		return nil, err
	}
	return &State{Rules: rs, Interfaces: img.Interfaces, Sequence: img.Sequence}, nil
}
