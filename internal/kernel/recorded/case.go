package recorded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// Case is one ruleset with packets and what the kernel did with them.
type Case struct {
	ID       string
	Features []string
	Ruleset  []byte
	Packets  []byte // a capture
	Host     HostFile
	Truth    Truth
}

// HostFile says on which host the packets ran, and where each came in.
type HostFile struct {
	Host     string   `json:"host"`
	Topology string   `json:"topology"`
	Inject   []string `json:"inject"` // receiving interface, or "local"
	Start    int64    `json:"start"`
}

// Truth is what the kernel did.
type Truth struct {
	Packets []PacketTruth `json:"packets"`
	After   After         `json:"after"`
}

// PacketTruth is the way of one packet: the injected buffer first, then what
// the host made of it.
type PacketTruth struct {
	N       int      `json:"n"`
	Buffers []Buffer `json:"buffers"`
	Out     []Frame  `json:"out"`
	Errno   int      `json:"errno"` // of the send call, for packets of the host itself
}

// Buffer is the way of one socket buffer.
type Buffer struct {
	Path []Visit `json:"path"`
}

// Visit is one hook on a packet's way.
type Visit struct {
	Hook      string      `json:"hook"`
	Family    string      `json:"family"`
	Device    string      `json:"device"`
	Verdict   string      `json:"verdict"`
	Mark      uint32      `json:"mark"`
	MarkAfter uint32      `json:"mark_after"`
	Chains    []ChainWalk `json:"chains"`
}

// ChainWalk is one base chain at a hook. Each step is chain, rule index (or
// "policy"), verdict.
type ChainWalk struct {
	Family, Table, Chain string
	Priority             int32   `json:"priority"`
	Verdict              string  `json:"verdict"`
	Steps                [][]any `json:"steps"`
	CTState              *uint32 `json:"ct_state"`
	CTStatus             *uint32 `json:"ct_status"`
	CTDirection          *uint32 `json:"ct_direction"`
	Mark                 uint32  `json:"mark"`
}

// Frame is a frame that left the host. The byte ranges of Any are free.
type Frame struct {
	If  string   `json:"if"`
	Hex string   `json:"hex"`
	Any [][2]int `json:"any"`
}

// After is the state at the end of a case.
type After struct {
	Rules     []RuleState `json:"rules"`
	Objects   []Object    `json:"objects"`
	Sets      []Object    `json:"sets"`
	Conntrack []string    `json:"conntrack"`
}

// RuleState holds a rule's counters (packets, bytes) and quotas (used, unit) in
// order.
type RuleState struct {
	Family, Table, Chain string
	Index                int
	Counter              [][2]uint64 `json:"counter"`
	Quota                [][2]any    `json:"quota"`
}

// Object is a named counter or quota, or a set with its elements, as the JSON
// listing has it.
type Object = map[string]any

// Cases reads all cases of a folder of archives, in order, calling f for each
// until it returns an error.
func Cases(dir string, f func(*Case) error) error {
	features, err := readIndex(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "cases-*.tar.gz"))
	if err != nil {
		return err
	}
	sort.Strings(archives)
	for _, name := range archives {
		if err := readArchive(name, features, f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func readIndex(name string) (map[string][]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	features := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		var row struct {
			ID       string   `json:"id"`
			Features []string `json:"features"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, err
		}
		features[row.ID] = row.Features
	}
	return features, nil
}

func readArchive(name string, features map[string][]string, f func(*Case) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	cases := map[string]*Case{}
	var order []string
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		id := path.Base(path.Dir(header.Name))
		c := cases[id]
		if c == nil {
			c = &Case{ID: id, Features: features[id]}
			cases[id] = c
			order = append(order, id)
		}
		if err := c.read(path.Base(header.Name), archive); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	for _, id := range order {
		if err := f(cases[id]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Case) read(name string, r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch name {
	case "ruleset.nft":
		c.Ruleset = content
	case "packets.pcap":
		c.Packets = content
	case "host.json":
		return json.Unmarshal(content, &c.Host)
	case "truth.json":
		return json.NewDecoder(bytes.NewReader(content)).Decode(&c.Truth)
	}
	return nil
}
