package nftjson_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/decompile"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// call is one recorded call of nft.
type call struct {
	Argv   []string
	RC     int `json:"rc"`
	Stdout string
	Stdin  *string
}

func (c *call) isJSON() bool { return len(c.Argv) > 0 && c.Argv[0] == "-j" }

// callTrace is a recorded test: calls, and the ruleset that they leave.
type callTrace struct {
	Test, Status string
	Calls        []call
	Final        string
}

// replayFloor is the number of calls with JSON that must at least do as
// recorded.
const replayFloor = 63

// TestRecordedCalls replays the recorded tests that read or write JSON.
func TestRecordedCalls(t *testing.T) {
	total, same := 0, 0
	for _, trace := range testdata.Lines[callTrace](t, testdata.NftTraces) {
		if !slices.ContainsFunc(trace.Calls, func(c call) bool { return c.isJSON() }) {
			continue
		}
		var r replay
		for i := range trace.Calls {
			c := &trace.Calls[i]
			rc, out, why := r.run(c)
			if !c.isJSON() {
				continue
			}
			total++
			if rc != c.RC || out != c.Stdout {
				t.Logf("%s: call %d %q: status %d, want %d: %v\n got %s\nwant %s", trace.Test, i, c.Argv, rc, c.RC, why, out, c.Stdout)
				continue
			}
			same++
		}
		if got := r.list(false); trace.Status == "OK" && got != trace.Final {
			t.Errorf("%s: in the end\n got %s\nwant %s", trace.Test, got, trace.Final)
		}
	}
	t.Logf("%d of %d calls with JSON do as recorded", same, total)
	if same < replayFloor {
		t.Errorf("%d calls do as recorded, want at least %d", same, replayFloor)
	}
}

// replay is a ruleset that calls change.
type replay struct{ rules *ruleset.Ruleset }

func (r *replay) run(c *call) (rc int, stdout string, why error) {
	argv := c.Argv
	asJSON := c.isJSON()
	if asJSON {
		argv = argv[1:]
	}
	text := strings.Join(argv, " ") + "\n"
	if slices.Equal(argv, []string{"-f", "-"}) {
		text = *c.Stdin
	}
	src := diag.NewSource("call", []byte(text))
	var file *syntax.File
	var found *diag.List
	if asJSON && nftjson.Is(src.Text) {
		file, found = nftjson.Decode(src)
	} else {
		file, found = syntax.Parse(src, syntax.Options{})
	}
	next, err := apply(r.rules, file, found, compileOptions(ports, nil))
	if err != nil {
		return 1, "", err
	}
	lists, changes := false, false
	for _, item := range file.Items {
		if cmd, ok := item.(*syntax.Command); ok {
			lists = lists || cmd.Verb == syntax.VerbList && cmd.Object == syntax.ObjRuleset
			changes = changes || cmd.Verb != syntax.VerbList
		}
	}
	r.rules = next
	switch {
	case !lists:
		return 0, "", nil
	case !asJSON:
		return 0, r.list(false), nil
	}
	options := listOptions(ports)
	options.Handles = !changes // what the same call adds has none yet
	return 0, string(nftjson.Append(nil, decompile.Ruleset(r.rules, options), nftjson.Reference)), nil
}

func (r *replay) list(handles bool) string {
	var b bytes.Buffer
	if r.rules != nil {
		_ = decompile.List(&b, r.rules, decompile.Options{InterfaceName: testdata.InterfaceName(ports), Handles: handles})
	}
	return b.String()
}

// TestBogons reads malformed documents, which must be refused.
func TestBogons(t *testing.T) {
	text, err := os.ReadFile(testdata.Path(t, "conformance/nft/bogons.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var c struct {
			File  string
			JSON  bool `json:"json"`
			Input string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if !c.JSON || !nftjson.Is([]byte(c.Input)) {
			continue
		}
		if _, err := loadJSON(nil, c.File, []byte(c.Input), compileOptions(ports, nil)); err == nil {
			t.Errorf("%s is accepted", c.File)
		} else {
			t.Logf("%s: %v", c.File, err)
		}
	}
}
