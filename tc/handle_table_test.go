package tc

import (
	"testing"

	"pgregory.net/rapid"
)

// TestHandleTable compares with a map.
func TestHandleTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table handleTable[int]
		model := map[uint32]*int{}
		number := rapid.OneOf(rapid.Uint32Range(0, 100), rapid.Uint32Range(0, 3000), rapid.Uint32())
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			n := number.Draw(t, "n")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				table.drop(n)
				delete(model, n)
			case 1:
				if table.get(n) != model[n] {
					t.Fatalf("%d is not what it was set to", n)
				}
			default:
				v := new(int)
				table.set(n, v)
				model[n] = v
			}
		}
		if table.count != len(model) || len(table.all()) != len(model) {
			t.Fatalf("%d and %d things, want %d", table.count, len(table.all()), len(model))
		}
		for n, v := range model {
			if table.get(n) != v {
				t.Fatalf("%d is not what it was set to", n)
			}
		}
	})
}
