package testdata

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verdict/catalog"
)

// The recordings of nft, one JSON value a line: see Lines.
const (
	// NftCases are rules, sets and objects with bytecode, listing and JSON.
	NftCases = "conformance/nft/cases.jsonl"
	// NftTraces are sequences of calls with their output.
	NftTraces = "conformance/nft/shell_traces.jsonl"
)

// RecordingZone is the time zone of the host on which the recordings of nft
// were made.
var RecordingZone = time.FixedZone("UTC-2", 2*60*60)

// RecordingInterfaces gives the interfaces of that host.
func RecordingInterfaces() map[string]uint32 {
	return map[string]uint32{
		"lo": 1, "dummy0": 2, "dummy1": 3, "dummy-m": 4, "eth0": 5, "eth1": 6, "veth0": 7, "veth1": 8, "br0": 9, "d0": 10, "d1": 11,
	}
}

// RecordingAccount finds a user or group of that host.
func RecordingAccount(name string) (uint32, bool) {
	id, ok := map[string]uint32{"root": 0, "daemon": 1, "bin": 2}[name]
	return id, ok
}

// RecordingName finds a name that the files of that host give to a number.
func RecordingName(t *catalog.Type, name string) (uint64, bool) {
	return 0, t == catalog.Realm && name == "cosmos" || t == catalog.DevGroup && name == "default"
}

// InterfaceIndex looks an interface up by its name.
func InterfaceIndex(interfaces map[string]uint32) func(name string) (uint32, bool) {
	return func(name string) (uint32, bool) { i, ok := interfaces[name]; return i, ok }
}

// InterfaceName looks an interface up by its number; "" is none.
func InterfaceName(interfaces map[string]uint32) func(index uint32) string {
	return func(index uint32) string {
		for name, i := range interfaces {
			if i == index {
				return name
			}
		}
		return ""
	}
}

// Corpus is a ruleset of somebody, with what nft made of it.
type Corpus struct {
	File string
	// Accepted and Loaded are "yes" where nft takes the text, and the kernel
	// the batch; Stage says who refuses it ("user", "kernel"), Why in which
	// words.
	Accepted, Loaded, Stage string
	Why                     []string
	// Interfaces are those of the host on which it was loaded.
	Interfaces map[string]uint32

	dir string
}

// CorpusRulesets lists the real rulesets.
func CorpusRulesets(t testing.TB) []Corpus {
	t.Helper()
	var all []Corpus
	for _, folder := range []string{"tool-output", "nftables-examples"} {
		dir := Path(t, "corpus/nft/"+folder)
		text, err := os.ReadFile(filepath.Join(dir, "index.json"))
		if err != nil {
			t.Fatal(err)
		}
		var index []Corpus
		if err := json.Unmarshal(text, &index); err != nil {
			t.Fatal(err)
		}
		for _, c := range index {
			c.dir = dir
			c.Interfaces = maps.Clone(c.Interfaces)
			if c.Interfaces == nil {
				c.Interfaces = map[string]uint32{}
			}
			c.Interfaces["lo"] = 1
			all = append(all, c)
		}
	}
	return all
}

// Dir is the folder of the ruleset, in which its includes are.
func (c *Corpus) Dir() string { return c.dir }

// Path is where the ruleset lies.
func (c *Corpus) Path() string { return filepath.Join(c.dir, c.File) }

// Recorded is where something that was recorded of it lies: ".list",
// ".bytecode", ".json".
func (c *Corpus) Recorded(ext string) string {
	return filepath.Join(c.dir, strings.TrimSuffix(c.File, ".nft")+ext)
}

// EachFile reads all files below a folder of the external data, in order; name
// is relative to the folder.
func EachFile(t testing.TB, folder string, visit func(name, path string, text []byte)) {
	t.Helper()
	root := Path(t, folder)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(name), path, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
