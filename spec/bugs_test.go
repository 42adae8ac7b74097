package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const bugsDocument = "../docs/semantics/bugs.md"

var (
	bugTitle = regexp.MustCompile(`^bug (C?[0-9]+): `)
	bugRow   = regexp.MustCompile(`(?m)^\| (C?[0-9]+) \| (.+) \| (.+) \|$`)
	specName = regexp.MustCompile("`spec/([a-z/]+)`")
	testName = regexp.MustCompile("(?:`([a-z/]+)` |and )(Test[A-Za-z0-9]+)")
)

// TestBugsDocument: the document lists each of the numbers once, and what it
// names as its test exists; and it lists each case that names a number.
func TestBugsDocument(t *testing.T) {
	text, err := os.ReadFile(bugsDocument)
	if err != nil {
		t.Fatal(err)
	}
	cases := bugCases(t)
	listed := map[string]string{}
	var numbers []string
	for _, row := range bugRow.FindAllStringSubmatch(string(text), -1) {
		number, tests := row[1], row[3]
		numbers, listed[number] = append(numbers, number), tests
		specs, units := specName.FindAllStringSubmatch(tests, -1), testName.FindAllStringSubmatch(tests, -1)
		if len(specs)+len(units) == 0 && !strings.HasPrefix(tests, "cannot occur: ") {
			t.Errorf("%s: %q names no test and does not say why it cannot occur", number, tests)
		}
		for _, m := range specs {
			if !slices.Contains(cases[number], m[1]) {
				t.Errorf("%s: spec/%s has no case %q", number, m[1], "bug "+number+": …")
			}
		}
		folder := ""
		for _, m := range units {
			if m[1] != "" {
				folder = m[1]
			}
			if !hasTest(t, folder, m[2]) {
				t.Errorf("%s: %s has no %s", number, folder, m[2])
			}
		}
	}
	if want := bugNumbers(); !slices.Equal(numbers, want) {
		t.Errorf("the document lists\n%v\nwant\n%v", numbers, want)
	}
	for number, files := range cases {
		for _, file := range files {
			if !strings.Contains(listed[number], "`spec/"+file+"`") {
				t.Errorf("spec/%s has cases of bug %s, the document does not say so", file, number)
			}
		}
	}
}

// bugNumbers are the mistakes that must be listed: 33 to 86 of nf_tables, C1 to
// C52 of connection tracking.
func bugNumbers() (list []string) {
	for n := 33; n <= 86; n++ {
		list = append(list, strconv.Itoa(n))
	}
	for n := 1; n <= 52; n++ {
		list = append(list, "C"+strconv.Itoa(n))
	}
	return list
}

// bugCases gives the files with cases of each bug.
func bugCases(t *testing.T) map[string][]string {
	files := map[string][]string{}
	for _, path := range caseFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.ToSlash(path), ".txtar")
		for _, c := range f.Cases {
			m := bugTitle.FindStringSubmatch(c.Name)
			if m == nil {
				if strings.HasPrefix(c.Name, "bug") {
					t.Errorf("%s: case %q does not begin with a bug's number", name, c.Name)
				}
				continue
			}
			if !slices.Contains(files[m[1]], name) {
				files[m[1]] = append(files[m[1]], name)
			}
		}
	}
	return files
}

// hasTest reports whether a package of the module has a test function.
func hasTest(t *testing.T, folder, name string) bool {
	sources, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
