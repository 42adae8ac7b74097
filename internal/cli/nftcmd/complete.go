package nftcmd

import (
	"slices"
	"strings"

	"verdict/catalog"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// complete offers words for the one before the cursor: verbs at the start,
// then what the ruleset holds, then the words of the language.
func (n *session) complete(line string, pos int) (head string, words []string, tail string) {
	pos = min(pos, len(line))
	start := pos
	for start > 0 && !strings.ContainsRune(" \t{},;", rune(line[start-1])) {
		start--
	}
	prefix := line[start:pos]
	var candidates []string
	if before := strings.Fields(line[:start]); len(before) == 0 {
		candidates = verbs()
	} else {
		candidates = append(n.namesOf(before), languageWords()...)
	}
	for _, c := range candidates {
		if strings.HasPrefix(c, prefix) && !slices.Contains(words, c) {
			words = append(words, c)
		}
	}
	return line[:start], words, line[pos:]
}

func verbs() []string {
	var list []string
	for v := syntax.VerbAdd; v <= syntax.VerbImport; v++ {
		list = append(list, v.String()+" ")
	}
	return append(list, "quit")
}

// namesOf gives the names that may come next: of tables, or of what is in a
// table that was named before, sets also as references.
func (n *session) namesOf(before []string) []string {
	state, err := n.store.Read()
	if err != nil {
		return nil // completion is silent
	}
	var names []string
	for _, t := range state.Rules.Tables {
		if !slices.Contains(before, t.Name) {
			names = append(names, t.Name)
			continue
		}
		for _, c := range t.Chains {
			if !c.Binding {
				names = append(names, c.Name)
			}
		}
		for _, s := range t.Sets {
			if s.Flags&ruleset.SetAnonymous == 0 {
				names = append(names, s.Name, "@"+s.Name)
			}
		}
		for _, o := range t.Objects {
			names = append(names, o.Name)
		}
		for _, f := range t.Flowtables {
			names = append(names, f.Name, "@"+f.Name)
		}
	}
	return names
}

// languageWords are the words of the language that people type most.
func languageWords() []string {
	words := []string{"ip", "ip6", "inet", "arp", "bridge", "netdev", "handle", "index", "type", "hook", "priority", "policy",
		"accept", "drop", "jump", "goto", "return", "counter", "log", "limit", "reject", "ct", "meta", "comment", "elements"}
	for o := syntax.ObjTable; o <= syntax.ObjHooks; o++ {
		words = append(words, o.String())
	}
	for _, p := range catalog.Protocols {
		words = append(words, p.Name)
		for i := range p.Fields {
			words = append(words, p.Fields[i].Name)
		}
	}
	for _, k := range catalog.MetaKeys {
		words = append(words, k.Name)
	}
	for _, k := range catalog.CTKeys {
		words = append(words, k.Name)
	}
	return words
}
