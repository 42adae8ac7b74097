package spec

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// File is a file of cases.
type File struct {
	Name    string
	Comment string
	Cases   []*Case

	archive *txtar.Archive
}

// Case is one case: what is loaded, what is sent, what must come out.
type Case struct {
	Name    string
	Comment string
	Steps   []Step
	Host    string // JSON, "" for none
	Options []string
	Expect  string

	usual []Packet // the head's, for cases without packets of their own

	expect int // section of the expectations in the archive, -1 if none
	last   int // the case's last section
}

// Step is what happens next: a batch is loaded, or packets come.
type Step struct {
	Batch   *Batch // nil where packets come
	Packets []Packet
}

// Batch is a text that is loaded as one batch.
type Batch struct {
	Form Form
	Text string
}

// Form is how the text of a batch is written.
type Form string

// The forms, which are the names of their sections.
const (
	Language Form = "ruleset.nft"
	Bytecode Form = "bytecode"
	Elements Form = "elements"
)

// Packets are all packets of a case, in order.
func (c *Case) Packets() []Packet {
	var list []Packet
	for _, s := range c.Steps {
		list = append(list, s.Packets...)
	}
	return list
}

const caseTitle = "case:"

// Parse reads a file of cases.
func Parse(name string, text []byte) (*File, error) {
	archive := txtar.Parse(text)
	f := &File{Name: name, Comment: string(archive.Comment), archive: archive}
	shared := &Case{expect: -1}
	current := shared
	for i, section := range archive.Files {
		if title, ok := strings.CutPrefix(section.Name, caseTitle); ok {
			current = shared.derive(strings.TrimSpace(title), string(section.Data))
			f.Cases = append(f.Cases, current)
		} else if err := current.section(section, i, current == shared); err != nil {
			return nil, fmt.Errorf("%s: case %q: section %q: %w", name, current.Name, section.Name, err)
		}
		current.last = i
	}
	if len(f.Cases) == 0 {
		return nil, fmt.Errorf("%s: no section \"case: NAME\"", name)
	}
	for _, c := range f.Cases {
		if len(c.Packets()) == 0 && len(c.usual) > 0 {
			c.Steps = append(c.Steps, Step{Packets: c.usual})
		}
	}
	return f, nil
}

// derive starts a case with what the file's head gives to all.
func (c *Case) derive(name, comment string) *Case {
	own := *c
	own.Name, own.Comment = name, comment
	own.Steps = slices.Clone(c.Steps)
	return &own
}

func (c *Case) section(s txtar.File, index int, shared bool) error {
	text := string(s.Data)
	kind, rest, _ := strings.Cut(s.Name, " ")
	switch kind {
	case string(Language), string(Bytecode), string(Elements):
		c.Steps = append(c.Steps, Step{Batch: &Batch{Form: Form(kind), Text: text}})
	case "host.json":
		c.Host = text
	case "options":
		c.Options = nil
		for line := range strings.Lines(text) {
			c.Options = append(c.Options, strings.TrimSpace(line))
		}
	case "packets":
		packets, err := parsePackets(text, rest)
		if err != nil {
			return err
		}
		if shared {
			c.usual = packets
		} else {
			c.Steps = append(c.Steps, Step{Packets: packets})
		}
	case "expect":
		if shared {
			return fmt.Errorf("expectations stand before the first case")
		}
		c.Expect, c.expect = text, index
	default:
		return fmt.Errorf("unknown section")
	}
	return nil
}

// Update gives the text of the file with the expectations replaced by what
// came out, by name of the case.
func (f *File) Update(results map[string]string) []byte {
	a := &txtar.Archive{Comment: f.archive.Comment}
	at := 0
	for _, c := range f.Cases {
		for ; at <= c.last; at++ {
			section := f.archive.Files[at]
			if at == c.expect {
				section.Data = []byte(results[c.Name])
			}
			a.Files = append(a.Files, section)
		}
		if c.expect < 0 {
			a.Files = append(a.Files, txtar.File{Name: "expect", Data: []byte(results[c.Name])})
		}
	}
	return txtar.Format(a)
}
