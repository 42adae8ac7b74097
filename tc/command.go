package tc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Outcome is what a command printed and its exit status.
type Outcome struct {
	Status int
	Stdout string
	Stderr string
	// Ends says that tc itself would have exited, even in a batch with -force.
	Ends bool
}

// session is one command line with its options.
type session struct {
	s      *System
	o      Options
	batch  string
	isBat  bool
	out    strings.Builder
	errs   strings.Builder
	status int
	ends   bool
	// changed is told the commands that may have changed something.
	changed func(words []string)
}

// Observe is Run, and tells each command that was executed and may have changed
// something: also one that failed, since a failed command may leave a trace in
// what is numbered next.
func (s *System) Observe(args []string, open func(name string) (io.ReadCloser, error), changed func(words []string)) Outcome {
	c := &session{s: s, changed: changed}
	rest, err := c.options(args)
	if err != nil {
		return c.failed(err)
	}
	if c.isBat {
		return c.runBatch(open)
	}
	return c.execute(rest)
}

// Run executes the words behind the name tc. Batches are read from open, which
// gets "-" for standard input.
func (s *System) Run(args []string, open func(name string) (io.ReadCloser, error)) Outcome {
	return s.Observe(args, open, nil)
}

// Line executes one command given as a line, without the name tc.
func (s *System) Line(line string, o Options) Outcome {
	list, ok := splitLine(line)
	if !ok {
		return Outcome{Status: exitTool, Stderr: "Unterminated quoted string\n"}
	}
	c := &session{s: s, o: o}
	rest, err := c.options(list)
	if err != nil {
		return c.failed(err)
	}
	return c.execute(rest)
}

func (c *session) failed(err error) Outcome {
	c.fail(err)
	return c.outcome()
}

func (c *session) outcome() Outcome {
	return Outcome{Status: c.status, Stdout: c.out.String(), Stderr: c.errs.String(), Ends: c.ends}
}

// fail prints an error and takes its status over.
func (c *session) fail(err error) {
	var t *ToolError
	if errors.As(err, &t) {
		if t.Text != "" {
			fmt.Fprintln(&c.errs, t.Text)
		}
		c.status, c.ends = t.Status, t.Ends
		return
	}
	fmt.Fprintln(&c.errs, err.Error())
	c.status = exitKernel
}

// kernel reports what the kernel answered, with tc's second line.
func (c *session) kernel(err *KernelError, second bool) {
	if err == nil {
		return
	}
	fmt.Fprintln(&c.errs, err.Error())
	if err.Warning {
		return
	}
	if second {
		fmt.Fprintln(&c.errs, "We have an error talking to the kernel")
	}
	c.status = exitKernel
}

// options reads what stands before the object.
func (c *session) options(args []string) ([]string, error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		word := strings.TrimPrefix(args[0], "-")
		word = strings.TrimPrefix(word, "-")
		args = args[1:]
		name, takes := c.option(word)
		switch {
		case name == "help":
			return nil, &ToolError{Status: 0, Text: topUsage, Ends: true}
		case name == "Version":
			fmt.Fprintln(&c.out, "tc utility, iproute2-6.1.0")
			return nil, &ToolError{Status: 0, Ends: true}
		case name == "":
			return nil, usage("Option \"-%s\" is unknown, try \"tc -help\".", word)
		case !takes:
			continue
		case len(args) == 0:
			return nil, &ToolError{Status: 0, Text: topUsage, Ends: true}
		}
		if name == "batch" {
			c.batch, c.isBat = args[0], true
		}
		args = args[1:]
	}
	return args, nil
}

const topUsage = "Usage: tc [ OPTIONS ] OBJECT { COMMAND | help }\n" +
	"where  OBJECT := { qdisc | class | filter | chain | action }"

// option sets one option and tells whether it takes a word.
func (c *session) option(word string) (name string, takes bool) {
	for _, o := range []struct {
		name  string
		min   int
		set   *bool
		takes bool
	}{
		{"stats", 1, &c.o.Stats, false}, {"statistics", 1, &c.o.Stats, false}, {"details", 1, &c.o.Details, false},
		{"raw", 1, &c.o.Raw, false}, {"pretty", 1, &c.o.Pretty, false}, {"json", 1, &c.o.JSON, false},
		{"oneline", 1, &c.o.OneLine, false}, {"brief", 2, &c.o.Brief, false}, {"batch", 1, nil, true},
		{"force", 1, &c.o.Force, false}, {"Numeric", 1, &c.o.Numeric, false}, {"echo", 1, &c.o.Echo, false},
		{"netns", 1, nil, true}, {"names", 2, nil, false}, {"nm", 2, nil, false}, {"cf", 2, nil, true}, {"conf", 2, nil, true},
		{"iec", 1, nil, false}, {"graph", 1, nil, false}, {"color", 1, nil, false}, {"timestamp", 1, nil, false}, {"ts", 2, nil, false},
		{"help", 1, nil, false}, {"Version", 1, nil, false},
	} {
		if len(word) < o.min || !strings.HasPrefix(o.name, word) && !(o.name == "color" && strings.HasPrefix(word, "color=")) {
			continue
		}
		if o.set != nil {
			*o.set = true
		}
		return o.name, o.takes
	}
	return "", false
}

// execute runs one command and adds what it printed.
func (c *session) execute(args []string) Outcome {
	c.run(args)
	return c.outcome()
}

func (c *session) run(args []string) {
	w := &words{list: args}
	c.s.old, c.s.notes = c.o.Old, nil
	defer func() {
		for _, n := range c.s.notes {
			fmt.Fprintln(&c.errs, n)
		}
	}()
	if !w.more() {
		fmt.Fprintln(&c.errs, topUsage)
		return
	}
	var err error
	switch {
	case w.matches("qdisc"):
		err = c.qdisc(w)
	case w.matches("class"):
		err = c.class(w)
	case w.matches("filter"):
		err = c.filter(w)
	case w.matches("chain"):
		err = c.chain(w)
	case w.matches("actions"):
		err = c.actions(w)
	case w.matches("help"):
		fmt.Fprintln(&c.errs, topUsage)
	default:
		err = usageOnly("Object %q is unknown, try \"tc help\".", w.peek())
	}
	if err != nil {
		c.fail(err)
	}
	if c.changed != nil && changes(args) {
		c.changed(args)
	}
}

// changes tells commands that do not only show something.
func changes(args []string) bool {
	if len(args) < 2 {
		return false
	}
	for _, verb := range []string{"show", "list", "lst", "get", "help"} {
		if prefix(args[1], verb) {
			return false
		}
	}
	return true
}

// usageOnly is an error with status 255 that does not end a batch.
func usageOnly(format string, args ...any) *ToolError {
	return &ToolError{Status: exitUsage, Text: fmt.Sprintf(format, args...)}
}

// unknown is tc's answer to a command that an object does not have.
func unknown(word, object string) error {
	return usageOnly("Command %q is unknown, try \"tc %s help\".", word, object)
}

// printer makes a printer with the session's options.
func (c *session) printer() printer { return printer{Options: c.o, nowNano: c.s.Now} }

// runBatch executes the lines of a file.
func (c *session) runBatch(open func(string) (io.ReadCloser, error)) Outcome {
	name := c.batch
	r, err := open(name)
	if err != nil {
		var reason = "No such file or directory"
		return c.failed(tool("Cannot open file %q for reading: %s", name, reason))
	}
	defer r.Close()
	c.Batch(name, r)
	return c.outcome()
}

// Batch executes the lines of a reader; name stands in messages.
func (c *session) Batch(name string, r io.Reader) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 1<<24)
	number := 0
	failed := false
	for sc.Scan() {
		number++
		line := sc.Text()
		for strings.HasSuffix(line, "\\") && sc.Scan() {
			number++
			line = strings.TrimSuffix(line, "\\") + sc.Text()
		}
		list, ok := splitLine(line)
		if !ok {
			fmt.Fprintln(&c.errs, "Unterminated quoted string")
			c.status = exitTool
			return
		}
		if len(list) == 0 {
			continue
		}
		c.status, c.ends = 0, false
		c.run(list)
		if c.ends {
			return
		}
		if c.status != 0 {
			fmt.Fprintf(&c.errs, "Command failed %s:%d\n", name, number)
			failed = true
			if !c.o.Force {
				break
			}
		}
	}
	c.status = 0
	if failed {
		c.status = exitTool
	}
}

// Batch executes the lines of a reader as tc -batch does.
func (s *System) Batch(name string, r io.Reader, o Options) Outcome {
	c := &session{s: s, o: o}
	c.Batch(name, r)
	return c.outcome()
}

// maxWords is tc's bound on the words of a line.
const maxWords = 512

// splitLine splits at blanks; quotes keep them, # begins a comment.
func splitLine(line string) ([]string, bool) { return splitWords(make([]string, 0, 24), line) }

// splitWords appends the words to out.
func splitWords(out []string, line string) ([]string, bool) {
	for i := 0; i < len(line) && len(out) < maxWords; {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		case c == '#':
			return out, true
		case c == '"' || c == '\'':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, false
			}
			out = append(out, line[i+1:i+1+end])
			i += end + 2
		default:
			end := i + 1
			for end < len(line) && line[end] != ' ' && line[end] != '\t' && line[end] != '\r' && line[end] != '\n' {
				end++
			}
			out = append(out, line[i:end])
			i = end
		}
	}
	return out, true
}

func bracketed(p uint16) string { return fmt.Sprintf("[%d]", p) }
