package compile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCodes checks that Codes lists exactly the codes that the sources use.
func TestCodes(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	code := regexp.MustCompile(`"(compile/[a-z-]+)"`)
	for _, path := range paths {
		if path == "codes.go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
	}
	var listed []string
	for _, c := range Codes {
		if !used[string(c.Code)] {
			t.Errorf("%s is listed but not used", c.Code)
		}
		listed = append(listed, string(c.Code))
	}
	if !slices.IsSorted(listed) {
		t.Error("the list is not sorted")
	}
	for c := range used {
		if !slices.Contains(listed, c) {
			t.Errorf("%s is used but not listed", c)
		}
	}
}
