package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verdict"
	"verdict/catalog"
	"verdict/diag"
	"verdict/host"
	"verdict/internal/cli/bench"
	"verdict/internal/cli/nftcmd"
	"verdict/internal/cli/tccmd"
	"verdict/iptables"
	"verdict/nft/ruleset"
	"verdict/tc"
)

// rulesFlags are the flags of every verb that loads rulesets.
type rulesFlags struct {
	hostFile string
	defines  []string
	include  []string
	strict   bool
	zone     string
	ipv6     bool
	ipv4     bool
	tc       string
	bypass   string

	system *tc.System // what --tc names, once loaded
}

func (f *rulesFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.hostFile, "host", "", "file that describes the host: interfaces, addresses, routes, users (docs/host.md)")
	flags.StringArrayVarP(&f.defines, "define", "D", nil, "set a variable, `NAME=VALUE`")
	flags.StringArrayVarP(&f.include, "includepath", "I", nil, "`DIR` in which included files are looked up")
	flags.BoolVar(&f.strict, "strict", false, "refuse interfaces that the host file does not have")
	flags.BoolVar(&f.ipv6, "ipv6", false, "iptables-save files are of IPv6 (found out from their text by default)")
	flags.BoolVar(&f.ipv4, "ipv4", false, "iptables-save files are of IPv4")
	flags.StringVar(&f.tc, "tc", "", "`FILE` with tc commands or a state of \"verdict tc\": hardware, and filters that packets pass ahead of the rules and behind them (docs/tc.md)")
	flags.StringVar(&f.bypass, "tc-bypass", tc.BypassRefined.String(), "when software passes over tc filters: off, first or refined")
	flags.StringVar(&f.zone, "timezone", "", "time zone of dates and hours in rules, such as Europe/Rome (default UTC)")
}

// maxRules bounds a ruleset file. Sets of a million elements take about 60 MB.
const maxRules = 256 << 20

// headSize is how much of a file tells whether it is a ruleset at all.
const headSize = 8192

// load reads and loads rulesets, printing every finding. On errors it returns
// answerNo.
func (f *rulesFlags) load(s *Streams, names ...string) (*verdict.Ruleset, error) {
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	if err := f.traffic(s, &options); err != nil {
		return nil, err
	}
	shown := newLoading(s)
	shown.reading(names)
	options.Batch = func(_ *ruleset.Ruleset, batch []ruleset.Change) { shown.applying(batch) }
	rules, findings, err := loadSources(s, options, names)
	shown.done()
	if err != nil {
		return nil, err
	}
	if err := s.report(findings); err != nil {
		return nil, err
	}
	return rules, nil
}

// traffic loads what --tc names, for the host that the rules are loaded for.
func (f *rulesFlags) traffic(s *Streams, o *verdict.LoadOptions) error {
	if f.tc == "" {
		return nil
	}
	mode, ok := tc.ParseBypass(f.bypass)
	if !ok {
		return failedf("--tc-bypass %s: it is off, first or refined", f.bypass)
	}
	text, err := readAll(s, f.tc)
	if err != nil {
		return err
	}
	if o.Host == nil {
		if o.Host, err = host.New(host.Config{}); err != nil {
			return failed(err)
		}
		o.HostAssumed = true
	}
	if f.system, err = tccmd.Load(f.tc, text, o.Host, s.Now().UnixNano(), tc.Config{Bypass: mode}); err != nil {
		return failed(err)
	}
	o.TC = f.system
	return nil
}

// takeTraffic gives what --tc named to an engine.
func (f *rulesFlags) takeTraffic(o *verdict.EngineOptions) {
	if f.system != nil {
		f.system.Reseed(o.Seed)
		o.TC = f.system
	}
}

func loadSources(s *Streams, options verdict.LoadOptions, names []string) (*verdict.Ruleset, *diag.List, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(bench.LoadPercent))
	var sources []*diag.Source
	for _, name := range names {
		src, err := readSource(s, name)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, src)
	}
	rules, findings := verdict.LoadSources(options, sources...)
	return rules, findings, nil
}

func (f *rulesFlags) options() (verdict.LoadOptions, error) {
	o := verdict.LoadOptions{Strict: f.strict, Files: osFiles{f.include}, Now: time.Now().UnixNano()}
	o.TablesFamily = f.family()
	if f.hostFile != "" {
		h, err := host.LoadFile(f.hostFile)
		if err != nil {
			return o, failed(err)
		}
		o.Host = h
	}
	if f.zone != "" {
		zone, err := time.LoadLocation(f.zone)
		if err != nil {
			return o, failedf("time zone %q: %w", f.zone, err)
		}
		o.Zone = zone
	}
	for _, d := range f.defines {
		name, value, ok := strings.Cut(d, "=")
		if !ok || name == "" {
			return o, failedf("-D %s: write NAME=VALUE", d)
		}
		if o.Defines == nil {
			o.Defines = map[string]string{}
		}
		o.Defines[name] = value
	}
	return o, nil
}

// family is the family of iptables-save files that the flags say.
func (f *rulesFlags) family() catalog.Family {
	switch {
	case f.ipv6:
		return catalog.FamilyIP6
	case f.ipv4:
		return catalog.FamilyIP
	}
	return catalog.FamilyUnspec
}

// mostFindings is how many findings a person is shown.
const mostFindings = 100

// report prints findings and returns answerNo if they hold an error.
func (s *Streams) report(findings *diag.List) error {
	r := diag.Renderer{Color: s.color(s.ErrTerminal), Most: mostFindings}
	if err := r.Render(s.Err, findings); err != nil {
		return failed(err)
	}
	if n := findings.Errors(); n > 0 {
		fmt.Fprintf(s.Err, "%s\n", count(n, "error"))
		return answerNo()
	}
	return nil
}

// readSource reads a ruleset; "-" is standard input.
func readSource(s *Streams, name string) (*diag.Source, error) {
	text, err := readAll(s, name)
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = "stdin"
	}
	return diag.NewSource(name, text), nil
}

func readAll(s *Streams, name string) ([]byte, error) {
	in := s.In
	var room bytes.Buffer
	if name != "-" {
		info, err := os.Stat(name)
		if err != nil {
			return nil, failed(readable(err))
		}
		if info.IsDir() {
			return nil, failedf("%s is a directory; name the ruleset files in it", name)
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, failed(readable(err))
		}
		defer file.Close()
		in = file
		room.Grow(int(min(info.Size(), maxRules)) + bytes.MinRead) // for one pass without copies
	} else {
		name = "stdin"
	}
	if _, err := room.ReadFrom(io.LimitReader(in, headSize)); err != nil {
		return nil, failedf("%s: %w", name, err)
	}
	if what := foreign(room.Bytes()); what != "" { // said before reading on: the rest may not end
		return nil, failedf("%s: %s", name, what)
	}
	if _, err := room.ReadFrom(io.LimitReader(in, maxRules+1-headSize)); err != nil {
		return nil, failedf("%s: %w", name, err)
	}
	text := room.Bytes()
	if len(text) > maxRules {
		return nil, failedf("%s: more than %d MB are not read", name, maxRules>>20)
	}
	return text, nil
}

// readable shortens the error of a missing file to what a person needs.
func readable(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return fmt.Errorf("%s: %w", pathError.Path, pathError.Err)
	}
	return err
}

// foreign recognises files that are no nft rulesets and names them.
func foreign(text []byte) string {
	head := bytes.TrimLeft(text[:min(len(text), 4096)], " \t\r\n")
	for len(head) > 0 && head[0] == '#' && !bytes.HasPrefix(head, []byte("#!")) {
		_, rest, _ := bytes.Cut(head, []byte("\n"))
		head = bytes.TrimLeft(rest, " \t\r\n")
	}
	switch {
	case iptables.Is(text) && iptables.IsEbtables(text):
		return "this is a dump of ebtables, which is not supported; only those of iptables-save and ip6tables-save are"
	case isCapture(text):
		return "this is a packet capture, no ruleset; `verdict run RULES CAPTURE` takes both, in this order"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return "this is text in UTF-16; save it as UTF-8"
	case bytes.IndexByte(text[:min(len(text), headSize)], 0) >= 0:
		return "this is binary data, no text"
	}
	return ""
}

// captureMagics are the first bytes of pcap (both byte orders, micro- and
// nanoseconds) and pcapng.
var captureMagics = []string{"\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x0a\x0d\x0d\x0a"}

func isCapture(text []byte) bool {
	for _, magic := range captureMagics {
		if bytes.HasPrefix(text, []byte(magic)) {
			return true
		}
	}
	return false
}

// osFiles finds included files as nft does: absolute, or relative to the
// working directory, the include path, and the including file.
type osFiles struct{ dirs []string }

func (f osFiles) Open(pattern string, from *diag.Source) ([]*diag.Source, error) {
	return nftcmd.Included(pattern, f.candidates(pattern, from))
}

func (f osFiles) candidates(pattern string, from *diag.Source) []string {
	if filepath.IsAbs(pattern) {
		return []string{pattern}
	}
	list := []string{pattern}
	for _, dir := range f.dirs {
		list = append(list, filepath.Join(dir, pattern))
	}
	return append(list, filepath.Join(filepath.Dir(from.Name), pattern))
}

// count prints a number with its noun: 1 error, 5 errors.
func count(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
