package nftcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"verdict/diag"
	"verdict/host"
	"verdict/internal/store"
	"verdict/nft/nftjson"
)

// Streams is the outside world of a call.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal tells whether input and output are a terminal, where lines can
	// be edited.
	Terminal bool
	Env      func(string) string
	Now      func() time.Time
	Zone     *time.Location
}

// The exit statuses of nft.
const (
	succeeded = 0
	failed    = 1
)

// Run executes a command line; program is how the user calls the command, and
// args are the words behind that. It returns the exit status.
func Run(program string, args []string, s *Streams) int {
	o, err := parseOptions(args)
	if err != nil {
		complain(program, s, err)
		return failed
	}
	switch {
	case o.help:
		io.WriteString(s.Out, helpText(program))
		return succeeded
	case o.version, o.verbose:
		fmt.Fprintf(s.Out, "nftables v%s (%s)\n", nftjson.Reference.Version, nftjson.Reference.Release)
		if o.verbose {
			fmt.Fprintf(s.Out, "  by:\t\tverdict, over a state file\n  cli:\t\tyes\n  json:\t\tyes\n  minigmp:\tno\n  libxtables:\tno\n")
		}
		return succeeded
	case o.optimize:
		fmt.Fprintf(s.Err, "%s: -o is not supported: merging rules could change what the ruleset means; load it without -o\n", program)
		return failed
	}
	session, err := newSession(program, o, s)
	if err != nil {
		complain(program, s, err)
		return failed
	}
	return session.run()
}

// complain prints an error of the command itself.
func complain(program string, s *Streams, err error) {
	text := err.Error()
	var place *optionPlaceError
	if errors.As(err, &place) {
		fmt.Fprintln(s.Err, text)
		return
	}
	fmt.Fprintf(s.Err, "%s: %s\n", program, text)
}

// session is a call of the command.
type session struct {
	*Streams
	program string
	options *options
	store   *store.Store
	host    *host.Host // given, else nil
	owner   string     // of tables with the owner flag
	pid     int
}

func newSession(program string, o *options, s *Streams) (*session, error) {
	n := &session{Streams: s, program: program, options: o, pid: os.Getpid()}
	n.owner = "nft"
	path := o.state
	if path == "" {
		path = s.Env("VERDICT_STATE")
	}
	if path == "" {
		var err error
		if path, err = store.DefaultPath(s.Env); err != nil {
			return nil, err
		}
	}
	n.store = store.Open(path, store.Options{Now: n.clock})
	if o.host != "" {
		h, err := host.LoadFile(o.host)
		if err != nil {
			return nil, err
		}
		n.host = h
	}
	return n, nil
}

// clock is the time of elements, in nanoseconds since the epoch.
func (n *session) clock() int64 { return n.Now().UnixNano() }

// run does what the command line asks for. Words win over a file, a file over
// the interactive mode.
func (n *session) run() int {
	o := n.options
	switch {
	case len(o.words) > 0:
		src := diag.NewSource("", []byte(strings.Join(o.words, " ")+"\n"))
		src.CommandLine = true
		return n.status(n.execute(src))
	case o.hasFile:
		src, err := n.readFile(o.file)
		if err != nil {
			n.unreadable(o.file, err)
			return failed
		}
		return n.status(n.execute(src))
	case o.interactive:
		return n.interactive()
	}
	fmt.Fprintf(n.Err, "%s: no command specified\n", n.program)
	return failed
}

// status prints an error that stopped a batch and gives the exit status.
func (n *session) status(err error) int {
	var findings *diag.ListError
	switch {
	case err == nil:
		return succeeded
	case errors.As(err, &findings):
		if err := (diag.NftRenderer{}).Render(n.Err, findings.List); err != nil {
			return failed
		}
	default:
		fmt.Fprintf(n.Err, "Error: %v\n", err)
	}
	return failed
}

// maxSource bounds a ruleset text.
const maxSource = 256 << 20

var errTooLarge = fmt.Errorf("more than %d MB", maxSource>>20)

// readFile reads the file of -f.
func (n *session) readFile(name string) (*diag.Source, error) {
	var text []byte
	var err error
	if name == "-" || name == "/dev/stdin" {
		name = "/dev/stdin"
		text, err = io.ReadAll(io.LimitReader(n.In, maxSource+1))
	} else {
		text, err = readLimited(name)
	}
	if err == nil && len(text) > maxSource {
		err = errTooLarge
	}
	return diag.NewSource(name, text), err
}

func readLimited(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &notRegularError{}
	}
	text := make([]byte, 0, min(info.Size()+1, maxSource+1))
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		k, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+k]
		if len(text) > maxSource {
			return nil, errTooLarge
		}
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// unreadable says that a file cannot be opened, as nft does.
func (n *session) unreadable(name string, err error) {
	reason := err.Error()
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		reason = "Permission denied"
	case errors.As(err, &path):
		reason = path.Err.Error()
	}
	fmt.Fprintf(n.Err, "internal:0:0-0: Error: Could not open file \"%s\": %s\n\n\n", name, reason)
}
