package cli

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"verdict/diag"
	"verdict/iptables"
)

func newTranslate(s *Streams) *cobra.Command {
	c := &translateCommand{s: s}
	cmd := &cobra.Command{
		Use:   "translate FILE...",
		Short: "Translate what iptables-save writes into nft commands",
		Long: `Print the nft commands that mean the same as a file of iptables-save or
ip6tables-save, in the form of iptables-restore-translate. A rule that nft
cannot express is printed as a comment, and named on stderr with the reason.

Where iptables-restore-translate changes the meaning of a rule, this prints
what the rule means; --reference prints what that tool prints, with its
mistakes.
Exit status: 0 all translated, 1 mistakes in the file, or rules without nft form.`,
		Example: `  iptables-save | verdict translate - > rules.nft
  verdict translate --ipv6 rules.v6
  verdict translate --reference rules.v4 | diff - <(iptables-restore-translate -f rules.v4)`,
		Args: takes("FILE..."),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if err := c.file(name); err != nil {
					return err
				}
			}
			if c.left > 0 {
				return answerNo()
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.rules.ipv6, "ipv6", false, "the files are of IPv6 (found out from their text by default)")
	flags.BoolVar(&c.rules.ipv4, "ipv4", false, "the files are of IPv4")
	flags.BoolVar(&c.reference, "reference", false, "print exactly what iptables-restore-translate prints")
	return cmd
}

type translateCommand struct {
	s         *Streams
	rules     rulesFlags
	reference bool
	left      int // rules without nft form
}

func (c *translateCommand) file(name string) error {
	src, err := readSource(c.s, name)
	if err != nil {
		return err
	}
	if !iptables.Is(src.Text) {
		return failedf("%s: this is no file of iptables-save; it would start with a line such as *filter", name)
	}
	file, found := iptables.Parse(src, iptables.Options{Family: c.rules.family()})
	if err := c.s.report(found); err != nil {
		return err
	}
	w := bufio.NewWriter(c.s.plain())
	lines := iptables.Translate(file, iptables.TranslateOptions{Reference: c.reference})
	if _, err := w.Write(iptables.AppendTranslation(nil, lines)); err != nil {
		return failed(err)
	}
	if err := w.Flush(); err != nil {
		return failed(err)
	}
	return c.untranslated(lines)
}

// untranslated names the rules that nft cannot express.
func (c *translateCommand) untranslated(lines []iptables.Line) error {
	var list diag.List
	for _, l := range lines {
		if !l.Comment || l.Rule == nil {
			continue
		}
		c.left++
		list.Warnf(l.Rule.Place, "iptables/untranslated", "%s", reasonOr(l.Why, "nft has no form for this rule"))
	}
	if err := (diag.Renderer{Color: c.s.color(c.s.ErrTerminal)}).Render(c.s.Err, &list); err != nil {
		return failed(err)
	}
	if c.left > 0 {
		fmt.Fprintf(c.s.Err, "%s not translated\n", count(c.left, "rule"))
	}
	return nil
}

func reasonOr(reason, otherwise string) string {
	if reason == "" {
		return otherwise
	}
	return "not translated: " + reason
}
