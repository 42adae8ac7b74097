package cli

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"verdict/iptables"
	"verdict/nft/compile"
	"verdict/nft/syntax"
)

const diagnosticsPage = "../../docs/diagnostics.md"

const diagnosticsHead = `# Diagnostics

Every mistake that is reported carries a code, which stays the same from version
to version. This page lists them; it is generated (` + "`go test ./internal/cli -run Diagnostics -update`" + `).

`

// others are the codes that no list of a package holds.
var others = map[string]string{
	"load/host":      "the description of the host is wrong",
	"packet/text":    "a packet's text has a mistake",
	"nft/describe":   "nft describe takes a selector or a data type, no concatenation",
	"nft/element":    "the elements that were asked for cannot be shown",
	"nft/format":     "nft export and import know JSON alone",
	"nft/input":      "standard input cannot be read",
	"nft/no-name":    "a command that lists names a chain, set, object or flowtable that does not exist",
	"nft/no-table":   "a command that lists names a table that does not exist",
	"json/ignored":   "a member of a JSON ruleset has no effect",
	"json/missing":   "a member of a JSON ruleset is missing",
	"json/syntax":    "the JSON itself is malformed",
	"json/too-large": "the JSON is nested too deeply or too large",
	"json/type":      "a JSON value has another type than is needed here",
	"json/unknown":   "a JSON ruleset has a member that is not known here",
	"json/value":     "a JSON value is out of range, or is none of the words that may stand here",
	"json/version":   "the JSON schema's version is not supported",
	"kernel/ERRNO":   "the kernel would refuse the change: EEXIST, ENOENT, EBUSY, EINVAL, EOPNOTSUPP, EMLINK, ELOOP, ENFILE, ERANGE, E2BIG, EPERM and others by their names",
}

// page makes the text of docs/diagnostics.md.
func page() string {
	codes := maps.Clone(others)
	for code, meaning := range syntax.Codes() {
		codes[string(code)] = meaning
	}
	for _, c := range compile.Codes {
		codes[string(c.Code)] = c.What
	}
	for code, meaning := range iptables.Codes {
		codes[string(code)] = meaning
	}
	var b strings.Builder
	b.WriteString(diagnosticsHead)
	b.WriteString("| code | meaning |\n|---|---|\n")
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", code, strings.ReplaceAll(codes[code], "|", "\\|"))
	}
	return b.String()
}

func TestDiagnosticsPage(t *testing.T) {
	want := page()
	if *update {
		if err := os.WriteFile(diagnosticsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(diagnosticsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/diagnostics.md is out of date: go test ./internal/cli -run Diagnostics -update")
	}
}

// TestEveryCodeIsListed searches the sources for codes that the page lacks.
func TestEveryCodeIsListed(t *testing.T) {
	files, err := exec.Command("git", "ls-files", "../../*.go").Output()
	if err != nil {
		t.Skip("skipped: no git here to list the sources")
	}
	code := regexp.MustCompile(`"((?:syntax|compile|load|json)/[a-z0-9-]+)"`)
	text := page()
	for _, name := range strings.Fields(string(files)) {
		source, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(string(source), -1) {
			if !strings.Contains(text, "`"+m[1]+"`") {
				t.Errorf("%s: code %s is not in docs/diagnostics.md", name, m[1])
			}
		}
	}
}
