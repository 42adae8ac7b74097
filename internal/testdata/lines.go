package testdata

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// maxLine bounds a line of a file of cases; some hold whole rulesets.
const maxLine = 64 << 20

// Lines decodes a file of external data that holds one JSON value a line. The
// name is that of Path.
func Lines[T any](t testing.TB, relative string) []T {
	t.Helper()
	file, err := os.Open(Path(t, relative))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s, value %d: %v", relative, len(all)+1, err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
