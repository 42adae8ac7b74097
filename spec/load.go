package spec

import (
	"errors"
	"fmt"
	"strings"

	"verdict"
	"verdict/diag"
	"verdict/host"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// load applies the batches of a case in order. A refused batch changes
// nothing; its findings are listed.
func (c *Case) load() (rules *verdict.Ruleset, refused []string, err error) {
	options := verdict.LoadOptions{Now: epoch.UnixNano()}
	if c.Host != "" {
		if options.Host, err = host.Parse("host.json", []byte(c.Host)); err != nil {
			return nil, nil, err
		}
	}
	none, findings := verdict.LoadSources(options)
	if err := findings.Err(); err != nil {
		return nil, nil, err
	}
	rules = none
	for i, b := range c.Batches {
		options.Base = rules
		next, err := b.apply(options)
		var list *diag.ListError
		switch {
		case errors.As(err, &list):
			refused = append(refused, refusals(list)...)
		case err != nil:
			return nil, nil, fmt.Errorf("batch %d: %w", i+1, err)
		default:
			rules = next
		}
	}
	return rules, refused, nil
}

func (b *Batch) apply(options verdict.LoadOptions) (*verdict.Ruleset, error) {
	if !b.Bytecode {
		rules, findings := verdict.LoadSources(options, diag.NewSource("ruleset.nft", []byte(b.Text)))
		return rules, findings.Err()
	}
	batch, err := parseBytecode(options.Base.Rules(), b.Text)
	if err != nil {
		return nil, err
	}
	return options.Base.Apply(batch)
}

// refusals renders findings by line and code; of the kernel's own the code is
// the errno.
func refusals(list *diag.ListError) []string {
	var lines []string
	for _, d := range list.List.All() {
		if d.Severity != diag.Error {
			continue
		}
		code := string(d.Code)
		if errno, ok := strings.CutPrefix(code, "kernel/"); ok {
			code = errno
		} else {
			code += ": " + d.Message
		}
		place := ""
		if d.Span.IsValid() {
			place = fmt.Sprintf(" line %d", d.Span.Pos().Line)
		}
		lines = append(lines, "refused"+place+": "+code)
	}
	return lines
}

// parseBytecode reads rules as expressions.
func parseBytecode(rs *ruleset.Ruleset, text string) ([]ruleset.Change, error) {
	src := diag.NewSource("bytecode", []byte(text))
	var batch []ruleset.Change
	var chain ruleset.Change
	var lines []string
	start, offset := 0, 0
	end := func() error {
		if len(lines) == 0 {
			return nil
		}
		exprs, err := expr.ParseRuleText(strings.Join(lines, ""), expr.TextOptions{})
		if err != nil {
			return fmt.Errorf("rule %d: %w", len(batch)+1, err)
		}
		rule := chain
		rule.RuleDef = &ruleset.RuleDef{Exprs: exprs}
		rule.Place = diag.Span{Source: src, Start: int32(start), End: int32(offset)}
		batch, lines = append(batch, rule), nil
		return nil
	}
	for line := range strings.Lines(text) {
		word := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(word, "["):
			if len(lines) == 0 {
				start = offset
			}
			lines = append(lines, line)
		default:
			if err := end(); err != nil {
				return nil, err
			}
			if word != "" {
				var err error
				if chain, err = chainNamed(rs, word); err != nil {
					return nil, err
				}
			}
		}
		offset += len(line)
	}
	return batch, end()
}

// chainNamed finds the chain that the rules of bytecode belong to.
func chainNamed(rs *ruleset.Ruleset, text string) (ruleset.Change, error) {
	words := strings.Fields(text)
	for _, t := range rs.Tables {
		for _, c := range t.Chains {
			full := len(words) == 3 && words[0] == t.Family.String() && words[1] == t.Name && words[2] == c.Name
			if full || len(words) == 1 && words[0] == c.Name {
				return ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindRule, Family: t.Family, Table: t.Name, Name: c.Name}, nil
			}
		}
	}
	return ruleset.Change{}, fmt.Errorf("no chain %q", text)
}
