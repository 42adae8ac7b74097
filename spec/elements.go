package spec

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"verdict/diag"
	"verdict/nft/ruleset"
)

// elementOps are what a message of elements may do.
var elementOps = map[string]ruleset.Op{
	"add": ruleset.OpAdd, "create": ruleset.OpCreate, "delete": ruleset.OpDelete, "destroy": ruleset.OpDestroy,
}

// parseElements reads messages of elements: a line with what to do and the set
// (SET or FAMILY TABLE SET), then its elements in the form in which nft shows
// them when it debugs netlink, without data.
func parseElements(rs *ruleset.Ruleset, text string) ([]ruleset.Change, error) {
	src := diag.NewSource("elements", []byte(text))
	var batch []ruleset.Change
	offset := 0
	for line := range strings.Lines(text) {
		place := diag.Span{Source: src, Start: int32(offset), End: int32(offset + len(line))}
		offset += len(line)
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] != "element":
			c, err := elementsOf(rs, words)
			if err != nil {
				return nil, err
			}
			c.Place = place
			batch = append(batch, c)
		case len(batch) == 0:
			return nil, fmt.Errorf("%q: of which set", line)
		default:
			el, err := parseElement(words[1:])
			if err != nil {
				return nil, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
			}
			el.Place = place
			c := &batch[len(batch)-1]
			c.Elements = append(c.Elements, el)
		}
	}
	return batch, nil
}

// elementsOf begins a message.
func elementsOf(rs *ruleset.Ruleset, words []string) (ruleset.Change, error) {
	op, ok := elementOps[words[0]]
	if !ok {
		return ruleset.Change{}, fmt.Errorf("%q is nothing to do with elements", words[0])
	}
	name := words[1:]
	for _, t := range rs.Tables {
		for _, s := range t.Sets {
			full := len(name) == 3 && name[0] == t.Family.String() && name[1] == t.Name && name[2] == s.Name
			if full || len(name) == 1 && name[0] == s.Name {
				return ruleset.Change{Op: op, Kind: ruleset.KindElements, Family: t.Family, Table: t.Name, Name: s.Name}, nil
			}
		}
	}
	return ruleset.Change{}, fmt.Errorf("no set %q", strings.Join(name, " "))
}

// parseElement reads KEY [- KEYEND] [flags N]; a key is hexadecimal, in the
// order of memory.
func parseElement(words []string) (el ruleset.Element, err error) {
	key := &el.Key
	for i := 0; i < len(words); i++ {
		switch w := words[i]; w {
		case "-":
			key = &el.KeyEnd
		case "flags":
			if i+2 != len(words) {
				return el, fmt.Errorf("flags are one number, at the end")
			}
			i++
			flags, err := strconv.ParseUint(words[i], 0, 32)
			if err != nil {
				return el, err
			}
			el.Flags = uint32(flags)
		default:
			part, err := hex.DecodeString(w)
			if err != nil {
				return el, err
			}
			*key = append(*key, part...)
		}
	}
	return el, nil
}
