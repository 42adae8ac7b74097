package cli

import (
	"bufio"
	"io"

	"github.com/spf13/cobra"

	"verdict"
	"verdict/iptables"
	"verdict/nft/decompile"
	"verdict/nft/nftjson"
)

// listFlags are nft's flags for listings.
type listFlags struct {
	stateless, numeric, handles, terse       bool
	priority, protocol, service, users, time bool
	json                                     bool
}

func (f *listFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&f.stateless, "stateless", "s", false, "omit counter values and the like")
	flags.BoolVarP(&f.numeric, "numeric", "n", false, "print numbers instead of names, fully")
	flags.BoolVarP(&f.handles, "handle", "a", false, "print handles")
	flags.BoolVarP(&f.terse, "terse", "t", false, "omit the elements of named sets")
	flags.BoolVarP(&f.priority, "numeric-priority", "y", false, "print chain priorities as numbers")
	flags.BoolVarP(&f.protocol, "numeric-protocol", "p", false, "print protocols as numbers")
	flags.BoolVarP(&f.service, "service", "S", false, "print names of ports")
	flags.BoolVarP(&f.users, "guid", "u", false, "print names of users and groups")
	flags.BoolVarP(&f.json, "json", "j", false, "print JSON, as nft -j does")
	flags.BoolVarP(&f.time, "numeric-time", "T", false, "print times as seconds")
}

// options turns the flags into those of a listing.
func (f *listFlags) options(r *verdict.Ruleset) decompile.Options {
	o := r.ListOptions()
	if f.numeric {
		o = o.Numeric()
	}
	o.Stateless, o.Handles, o.Terse = f.stateless, f.handles, f.terse
	o.NumericPriority = o.NumericPriority || f.priority
	o.NumericProtocol = o.NumericProtocol || f.protocol
	o.NumericTime = o.NumericTime || f.time
	o.ServiceNames, o.UserNames = f.service, f.users
	if f.json {
		o = o.JSON()
	}
	return o
}

// write prints the ruleset as text or as JSON.
func (f *listFlags) write(w io.Writer, r *verdict.Ruleset) error {
	if !f.json {
		return decompile.List(w, r.Rules(), f.options(r))
	}
	_, err := w.Write(nftjson.Append(nil, decompile.Ruleset(r.Rules(), f.options(r)), nftjson.Reference))
	return err
}

func newList(s *Streams) *cobra.Command {
	var rules rulesFlags
	var list listFlags
	cmd := &cobra.Command{
		Use:   "list RULES...",
		Short: "Print the ruleset as nft lists it after loading",
		Long: `Load rulesets and print them as 'nft list ruleset' would: from the bytecode and
the sets, not from the source text.`,
		Example: "  verdict list firewall.nft\n  verdict list -s -a firewall.nft\n  verdict list -j firewall.nft",
		Args:    takes("RULES..."),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := rules.load(s, args...)
			if err != nil {
				return err
			}
			w := bufio.NewWriter(s.plain())
			if p := r.Tables(); p != nil {
				if list.json {
					return failedf("tables of iptables have no form as JSON")
				}
				if _, err := w.Write(iptables.AppendSave(nil, p.Tables, nil)); err != nil {
					return failed(err)
				}
			}
			if err := list.write(w, r); err != nil {
				return failed(err)
			}
			return w.Flush()
		},
	}
	rules.add(cmd)
	list.add(cmd)
	return cmd
}
