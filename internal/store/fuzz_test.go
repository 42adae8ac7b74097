package store

import (
	"bytes"
	"errors"
	"testing"

	"verdict/internal/testdata"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
)

// FuzzFile reads damaged files: whole ones, and ones whose records have right
// checksums but any content. They are refused or read, and what is read can be
// listed and written again.
func FuzzFile(f *testing.F) {
	now := second
	rs := mustApply(f, nil, everything)
	head := appendHead(nil)
	identity := head[:headSize]
	snapshot := appendSnapshot(nil, &State{Rules: rs}, now)
	batch := (&Transaction{Batch: mustBatch(f, nil, everything), Next: rs, Time: now}).record(nil)[headerSize:]
	handles := (&Transaction{Next: rs, Time: now}).record(nil)[headerSize:]
	f.Add(uint8(0), appendRecord(head, recordSnapshot, snapshot))
	f.Add(uint8(1), snapshot)
	f.Add(uint8(2), batch)
	f.Add(uint8(3), handles)
	f.Add(uint8(4), ownSchema().text)
	empty := appendSnapshot(nil, &State{Rules: &ruleset.Ruleset{}}, now)
	small := mustApply(f, nil, "table ip t { set s { type ipv4_addr; flags interval; elements = { 1.0.0.0/8 }; }; chain c { ip saddr @s counter jump { accept; }; }; }")
	f.Add(uint8(1), appendSnapshot(nil, &State{Rules: small}, now))
	f.Fuzz(func(t *testing.T, what uint8, content []byte) {
		data := content
		switch what % 5 {
		case 1:
			data = appendRecord(bytes.Clone(head), recordSnapshot, content)
		case 2:
			data = appendRecord(appendRecord(bytes.Clone(head), recordSnapshot, empty), recordBatch, content)
		case 3:
			data = appendRecord(appendRecord(bytes.Clone(head), recordSnapshot, empty), recordHandles, content)
		case 4:
			data = appendRecord(appendRecord(bytes.Clone(identity), recordSchema, content), recordSnapshot, snapshot)
		}
		var s *Store
		var err error
		testdata.WithinSecond(t, func() {
			s = open("state", &now)
			err = s.parse(data, nil)
		})
		if err != nil {
			var damage *DamageError
			if !errors.As(err, &damage) || damage.Offset > int64(len(data)) {
				t.Fatalf("%v", err)
			}
			return
		}
		again := appendSnapshot(nil, &s.state, now)
		own, err := readSchema(ownSchema().text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readSnapshot(again, own, now); err != nil {
			t.Fatalf("what was read and written is refused: %v", err)
		}
		_ = decompile.List(&bytes.Buffer{}, s.state.Rules, decompile.Options{Clock: now})
	})
}
