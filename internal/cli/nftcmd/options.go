package nftcmd

import (
	"fmt"
	"slices"
	"strings"
)

// options are what the command line says.
type options struct {
	file                      string
	hasFile                   bool
	defines                   map[string]string
	include                   []string
	interactive, check        bool
	handles, stateless, terse bool
	services, names, users    bool
	numeric                   bool
	priority, protocol, time  bool
	echo, json, debug         bool
	help, version, verbose    bool
	optimize                  bool

	// Of our own.
	state, host string

	words []string // the command
}

// option is one that the command line can have.
type option struct {
	short byte // 0: none
	long  string
	arg   string // what its argument is called in the help, "" if it has none
	help  string
	set   func(o *options, arg string) error
}

func setFlag(where func(*options) *bool) func(*options, string) error {
	return func(o *options, _ string) error {
		*where(o) = true
		return nil
	}
}

// table lists all options in the order of the help.
var table = []option{
	{'h', "help", "", "show this help", setFlag(func(o *options) *bool { return &o.help })},
	{'v', "version", "", "show the version", setFlag(func(o *options) *bool { return &o.version })},
	{'V', "", "", "show the version in detail", setFlag(func(o *options) *bool { return &o.verbose })},
	{'f', "file", "FILE", "read commands from FILE; - is standard input", func(o *options, arg string) error {
		o.file, o.hasFile = arg, true
		return nil
	}},
	{'D', "define", "NAME=VALUE", "define a variable", func(o *options, arg string) error {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return fmt.Errorf("-D %s: write NAME=VALUE", arg)
		}
		if o.defines == nil {
			o.defines = map[string]string{}
		}
		o.defines[name] = value
		return nil
	}},
	{'i', "interactive", "", "read commands from the terminal", setFlag(func(o *options) *bool { return &o.interactive })},
	{'I', "includepath", "DIR", "look for included files in DIR too", func(o *options, arg string) error {
		o.include = append(o.include, arg)
		return nil
	}},
	{'c', "check", "", "check the commands without applying them", setFlag(func(o *options) *bool { return &o.check })},
	{'o', "optimize", "", "refused: rules are not merged yet", setFlag(func(o *options) *bool { return &o.optimize })},
	{'a', "handle", "", "show handles", setFlag(func(o *options) *bool { return &o.handles })},
	{'s', "stateless", "", "leave out counts and the like", setFlag(func(o *options) *bool { return &o.stateless })},
	{'t', "terse", "", "leave out the elements of named sets", setFlag(func(o *options) *bool { return &o.terse })},
	{'S', "service", "", "show names of ports", setFlag(func(o *options) *bool { return &o.services })},
	{'N', "reversedns", "", "show names of addresses", setFlag(func(o *options) *bool { return &o.names })},
	{'u', "guid", "", "show names of users and groups", setFlag(func(o *options) *bool { return &o.users })},
	{'n', "numeric", "", "show numbers instead of names", setFlag(func(o *options) *bool { return &o.numeric })},
	{'y', "numeric-priority", "", "show priorities as numbers", setFlag(func(o *options) *bool { return &o.priority })},
	{'p', "numeric-protocol", "", "show protocols as numbers", setFlag(func(o *options) *bool { return &o.protocol })},
	{'T', "numeric-time", "", "show times as seconds", setFlag(func(o *options) *bool { return &o.time })},
	{'e', "echo", "", "show what was added", setFlag(func(o *options) *bool { return &o.echo })},
	{'j', "json", "", "read and write JSON", setFlag(func(o *options) *bool { return &o.json })},
	{'d', "debug", "LEVEL[,LEVEL...]", "netlink shows the bytecode", setDebug},
	{0, "state", "FILE", "keep the ruleset in FILE (default $VERDICT_STATE, or one per user)", func(o *options, arg string) error {
		o.state = arg
		return nil
	}},
	{0, "host", "FILE", "the host's interfaces and users; unknown interfaces are refused", func(o *options, arg string) error {
		o.host = arg
		return nil
	}},
}

var debugLevels = []string{"scanner", "parser", "eval", "netlink", "mnl", "proto-ctx", "segtree", "all"}

func setDebug(o *options, arg string) error {
	for level := range strings.SplitSeq(arg, ",") {
		if !slices.Contains(debugLevels, level) {
			return fmt.Errorf("invalid debug level `%s'", level)
		}
		o.debug = o.debug || level == "netlink" || level == "all"
	}
	return nil
}

// usageError is a mistake in the options; program is how nft introduces it.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// parseOptions reads a command line without the program's name. Options end at
// the first word that is none; -- ends them too.
func parseOptions(args []string) (*options, error) {
	if err := optionsFirst(args); err != nil {
		return nil, err
	}
	o := &options{}
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "--":
			o.words = args[1:]
			return o, nil
		case strings.HasPrefix(word, "--"):
			rest, err := o.long(word[2:], args[1:])
			if err != nil {
				return nil, err
			}
			args = rest
		case len(word) > 1 && word[0] == '-':
			rest, err := o.shorts(word[1:], args[1:])
			if err != nil {
				return nil, err
			}
			args = rest
		default:
			o.words = args
			return o, nil
		}
	}
	return o, nil
}

// long takes one long option; its name may be shortened where that is clear.
func (o *options) long(word string, rest []string) ([]string, error) {
	name, arg, given := strings.Cut(word, "=")
	var found []*option
	for i := range table {
		if table[i].long == name && name != "" {
			found = []*option{&table[i]}
			break
		}
		if name != "" && strings.HasPrefix(table[i].long, name) {
			found = append(found, &table[i])
		}
	}
	switch {
	case len(found) == 0:
		return nil, &usageError{fmt.Sprintf("unrecognized option '--%s'", name)}
	case len(found) > 1:
		return nil, &usageError{fmt.Sprintf("option '--%s' is ambiguous", name)}
	case found[0].arg == "" && given:
		return nil, &usageError{fmt.Sprintf("option '--%s' doesn't allow an argument", found[0].long)}
	case found[0].arg != "" && !given:
		if len(rest) == 0 {
			return nil, &usageError{fmt.Sprintf("option '--%s' requires an argument", found[0].long)}
		}
		arg, rest = rest[0], rest[1:]
	}
	return rest, found[0].set(o, arg)
}

// shorts takes a word of short options; the argument of the last may be the
// rest of the word.
func (o *options) shorts(word string, rest []string) ([]string, error) {
	for i := 0; i < len(word); i++ {
		x := shortOption(word[i])
		if x == nil {
			return nil, &usageError{fmt.Sprintf("invalid option -- '%c'", word[i])}
		}
		if x.arg == "" {
			if err := x.set(o, ""); err != nil {
				return nil, err
			}
			continue
		}
		if i+1 < len(word) {
			return rest, x.set(o, word[i+1:])
		}
		if len(rest) == 0 {
			return nil, &usageError{fmt.Sprintf("option requires an argument -- '%c'", word[i])}
		}
		return rest[1:], x.set(o, rest[0])
	}
	return rest, nil
}

func shortOption(c byte) *option {
	for i := range table {
		if table[i].short == c {
			return &table[i]
		}
	}
	return nil
}

// optionsFirst refuses options behind the command, which nft does not take
// either: they would be read as part of it. A word that begins a block ends
// the search, since numbers in it may be negative.
func optionsFirst(args []string) error {
	command := false
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case strings.HasPrefix(word, "{") || word == "--":
			return nil
		case len(word) < 2 || word[0] != '-':
			command = true
		case command && !isNumber(word[1:]):
			return &optionPlaceError{words: args, at: i}
		case !command && takesNext(word):
			i++
		}
	}
	return nil
}

// isNumber tells whether a word goes on like a negative number.
func isNumber(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// takesNext tells whether an option's argument is the next word.
func takesNext(word string) bool {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		i := slices.IndexFunc(table, func(x option) bool { return x.long != "" && x.long == long })
		return i >= 0 && table[i].arg != ""
	}
	for i := 1; i < len(word); i++ {
		if x := shortOption(word[i]); x != nil && x.arg != "" {
			return i+1 == len(word)
		}
	}
	return false
}

// optionPlaceError shows an option that stands behind the command.
type optionPlaceError struct {
	words []string
	at    int
}

func (e *optionPlaceError) Error() string {
	line := "nft " + strings.Join(e.words, " ")
	before := len("nft " + strings.Join(e.words[:e.at], " "))
	if e.at > 0 {
		before++
	}
	return fmt.Sprintf("Error: syntax error, options must be specified before commands\n%s\n%s%s",
		line, strings.Repeat(" ", before), strings.Repeat("^", len(e.words[e.at])))
}

// helpText explains the options.
func helpText(program string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `Usage: %s [OPTIONS] [COMMAND...]

A drop-in for the nft command: the same options, commands, output and exit
status, over a state file instead of the kernel. Without --host, interfaces
that rules name are taken to exist.

`, program)
	for _, x := range table {
		name := "    "
		if x.short != 0 {
			name = "-" + string(x.short)
			if x.long != "" {
				name += ", "
			}
		}
		if x.long != "" {
			name += "--" + x.long
		}
		if x.arg != "" {
			name += " " + x.arg
		}
		fmt.Fprintf(&b, "  %-30s %s\n", name, x.help)
	}
	fmt.Fprintf(&b, `
Examples:
  %[1]s add table inet filter
  %[1]s -f /etc/nftables.conf
  %[1]s -a list ruleset
  %[1]s --state site.state -c -f change.nft
`, program)
	return b.String()
}
