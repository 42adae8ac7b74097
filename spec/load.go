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

// run is a case on its way: what has been loaded so far, and the engine as soon
// as packets come.
type run struct {
	rules  *verdict.Ruleset
	host   *host.Host
	sender sender
	lines  []string
}

// start begins with an empty ruleset.
func (c *Case) start() (*run, error) {
	r := &run{sender: sender{now: epoch}}
	var err error
	if c.Host != "" {
		if r.host, err = host.Parse("host.json", []byte(c.Host)); err != nil {
			return nil, err
		}
	}
	var findings *diag.List
	r.rules, findings = verdict.LoadSources(r.options())
	return r, findings.Err()
}

func (r *run) options() verdict.LoadOptions {
	return verdict.LoadOptions{Base: r.rules, Host: r.host, Now: r.sender.now.UnixNano()}
}

// load applies a batch and makes its result the one that packets meet. A
// refused batch changes nothing; its findings are listed.
func (r *run) load(b *Batch) error {
	next, err := b.apply(r.options())
	var list *diag.ListError
	switch {
	case errors.As(err, &list):
		r.lines = append(r.lines, refusals(list)...)
		return nil
	case err != nil:
		return err
	}
	r.rules = next
	if r.sender.engine != nil {
		return r.sender.engine.Update(next)
	}
	return nil
}

func (b *Batch) apply(options verdict.LoadOptions) (*verdict.Ruleset, error) {
	var batch []ruleset.Change
	var err error
	switch b.Form {
	case Language:
		rules, findings := verdict.LoadSources(options, diag.NewSource("ruleset.nft", []byte(b.Text)))
		return rules, findings.Err()
	case Elements:
		batch, err = parseElements(options.Base.Rules(), b.Text)
	default:
		batch, err = parseBytecode(options.Base.Rules(), b.Text)
	}
	if err != nil {
		return nil, err
	}
	return options.Base.ApplyAt(batch, options.Now)
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
