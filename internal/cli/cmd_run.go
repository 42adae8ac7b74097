package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verdict"
	"verdict/capture"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/host"
)

// runFlags are the flags of the verbs that run packets.
type runFlags struct {
	hook    string
	local   []string
	iface   string
	seed    uint64
	routes  bool
	account bool
	replies bool
	linux   string
	engine  string
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.hook, "hook", "", "send every packet through this hook alone: "+strings.Join(engine.Hooks(), ", "))
	flags.StringSliceVar(&f.local, "local", nil, "the host's own addresses, `ADDR,...`")
	flags.StringVar(&f.iface, "interface", "", "interface of packets whose capture names none (default eth0)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything random: numgen random, meta random, symhash")
	flags.BoolVar(&f.routes, "known-routes", false, "the host file's routes are complete: packets without route are lost")
	flags.BoolVar(&f.replies, "replies", false, "the host answers as Linux with no socket open: rejects, resets, ICMP errors, echo and ARP replies, clones, fragments; needs --host with addresses, routes and neighbours")
	flags.StringVar(&f.linux, "linux", "", "follow this `VERSION` of Linux where versions differ (default 7.1), such as 6.18 or \"$(uname -r)\"; see docs/kernel-differences.md")
	f.addEngine(cmd)
	flags.BoolVar(&f.account, "accounting", false, "count packets and bytes per connection (nf_conntrack_acct=1)")
}

// addEngine adds the choice of the executor alone.
func (f *runFlags) addEngine(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.engine, "engine", chain.Auto.String(), "how chains run, with the same result: vm (rule by rule), classify (compiled) or auto")
}

// assumedInterface is the interface of packets whose origin is not known.
const assumedInterface = "eth0"

func (f *runFlags) options() (verdict.EngineOptions, error) {
	local, err := parseAddresses(f.local)
	if err != nil {
		return verdict.EngineOptions{}, err
	}
	mode, ok := chain.ParseMode(f.engine)
	if !ok {
		return verdict.EngineOptions{}, failedf("--engine %s: the engine is %s", f.engine, strings.Join(chain.Modes(), ", "))
	}
	before71, err := olderThan71(f.linux)
	if err != nil {
		return verdict.EngineOptions{}, err
	}
	if f.replies && f.hook != "" {
		return verdict.EngineOptions{}, failedf("--replies takes packets the whole way through the host; --hook %s takes them through one hook alone", f.hook)
	}
	o := verdict.EngineOptions{
		Executor: mode, Hook: f.hook, Local: local, Interface: f.iface, Seed: f.seed,
		KnownRoutes: f.routes, Replies: f.replies, Before71: before71, Accounting: f.account,
	}
	if o.Interface == "" {
		o.Interface = assumedInterface
	}
	return o, nil
}

func newRun(s *Streams) *cobra.Command {
	c := &runCommand{s: s}
	cmd := &cobra.Command{
		Use:   "run RULES CAPTURE...",
		Short: "Replay captures through a ruleset: verdicts, hits per rule, rate",
		Long: `Replay packet captures (pcap, pcapng, also gzip-compressed; - is standard input)
through a ruleset, as if the host had received and sent them under it, and show
what happened: verdicts per hook, hits per rule, rules that nothing hit.

Which packets are the host's own is taken from the capture's directions, from
--local or the host file, or guessed; what was assumed is printed.
-w writes what gets through as it leaves: addresses and ports translated, fields
rewritten, the time to live counted down. With --replies it also holds what the
host sends because of a packet, each frame with its interface (pcapng) and a
comment that says why.
Exit status: 0 done, 1 the ruleset has mistakes, 2 a file is unreadable or
damaged, or the run was interrupted (what was run is still reported).`,
		Example: `  verdict run firewall.nft capture.pcap
  verdict run --hook input firewall.nft capture.pcap
  verdict run -o json firewall.nft capture.pcap | jq '.rules[] | select(.packets==0)'
  verdict run --host host.json --replies -w leaving.pcapng firewall.nft capture.pcapng
  verdict run -w passed.pcapng --write-dropped dropped.pcapng firewall.nft capture.pcap
  verdict run --tc offload.tc firewall.nft capture.pcap
  tcpdump -w - -c 1000 | verdict run firewall.nft -`,
		Args: takes("RULES", "CAPTURE..."),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args[0], args[1:]) },
	}
	c.rules.add(cmd)
	c.packets.add(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&c.output, "output", "o", "text", "form of the report: text or json (docs/json.md)")
	flags.StringVarP(&c.accepted, "write", "w", "", "write accepted packets, as they leave, to this capture `FILE` (.pcap or .pcapng; - is standard output, the report then goes to standard error)")
	flags.StringVar(&c.dropped, "write-dropped", "", "write all other packets to this capture `FILE`")
	flags.IntVarP(&c.jobs, "jobs", "j", 0, "workers at most, `N`; several work where the order of packets of different connections cannot matter (default as many as are useful)")
	flags.BoolVar(&c.quiet, "no-rules", false, "leave out the table of rules")
	return cmd
}

type runCommand struct {
	s                 *Streams
	rules             rulesFlags
	packets           runFlags
	output            string
	accepted, dropped string
	quiet             bool
	jobs              int
}

func (c *runCommand) run(rulesName string, captures []string) error {
	if c.output != "text" && c.output != "json" {
		return failedf("-o %s: the report is text or json", c.output)
	}
	if c.jobs < 0 {
		return failedf("-j %d: the number of workers is at least 1", c.jobs)
	}
	rules, err := c.rules.load(c.s, rulesName)
	if err != nil {
		return err
	}
	if err := c.packets.hostKnown(&c.rules); err != nil {
		return err
	}
	r, err := c.prepare(rules, captures)
	if err != nil {
		return err
	}
	if err := c.openSinks(r, append([]string{rulesName, c.rules.hostFile}, captures...)); err != nil {
		return err
	}
	err = c.replayAll(r, captures)
	r.collect()
	if closeErr := r.closeSinks(); err == nil && closeErr != nil {
		err = failed(closeErr)
	}
	if err != nil {
		return err
	}
	if c.output == "json" {
		err = writeJSON(c.reportStreams().Out, r.report())
	} else {
		err = c.text(r)
	}
	if err != nil {
		return failed(err)
	}
	if why := r.inOrder(); why != "" {
		fmt.Fprintf(c.s.Err, "note: %s\n", why)
	}
	if r.damaged != nil {
		return failed(r.damaged)
	}
	return nil
}

// prepare makes the engine, guessing the host's addresses from the first
// capture where nobody named them.
func (c *runCommand) prepare(rules *verdict.Ruleset, captures []string) (*replay, error) {
	options, err := c.packets.options()
	if err != nil {
		return nil, err
	}
	options.Forwarded = c.accepted != ""
	var assumption string
	if c.mustGuess(options) {
		guess, err := c.guess(captures[0])
		if err != nil {
			return nil, err
		}
		options.Local, assumption = explain(guess)
	}
	c.rules.takeTraffic(&options)
	r, err := newReplay(rules, options)
	if err != nil {
		return nil, err
	}
	r.jobs = c.jobs
	r.interfaceAssumed = c.packets.iface == ""
	if assumption != "" {
		r.assumptions = append(r.assumptions, assumption)
	}
	return r, nil
}

// mustGuess tells whether the host's own addresses are unknown and matter.
func (c *runCommand) mustGuess(o verdict.EngineOptions) bool {
	return o.Hook == "" && len(o.Local) == 0 && c.rules.hostFile == ""
}

// guess looks at the first frames of a capture. Those of standard input, and of
// other pipes, are kept for the replay, since they cannot be read again.
func (c *runCommand) guess(name string) (host.Identity, error) {
	src, _, err := openCapture(c.s, name)
	if err != nil {
		return host.Identity{}, err
	}
	ahead := readAhead(src)
	guess := host.Guess(ahead.sightings())
	if !rereadable(name) {
		ahead.name = name
		c.s.readAhead = ahead
		return guess, nil
	}
	return guess, src.Close()
}

func (c *runCommand) replayAll(r *replay, captures []string) error {
	interrupts := catchInterrupts()
	defer interrupts.release()
	for _, name := range captures {
		src, size, err := c.open(name)
		if err != nil {
			return err
		}
		bar := newBar(c.s, filepath.Base(name), size)
		err = r.capture(&interruptible{src, interrupts}, bar)
		bar.done()
		src.Close()
		if err != nil {
			return failed(err)
		}
		if r.damaged != nil {
			r.damaged = fmt.Errorf("%s: %w", name, r.damaged)
			return nil
		}
	}
	return nil
}

func (c *runCommand) open(name string) (capture.Source, int64, error) {
	if src := c.s.readAhead; src != nil && src.name == name {
		c.s.readAhead = nil
		return src, 0, nil
	}
	return openCapture(c.s, name)
}

// rereadable tells whether a file gives the same bytes when it is opened again.
func rereadable(name string) bool {
	info, err := os.Stat(name)
	return name != "-" && err == nil && info.Mode().IsRegular()
}

// rate is the number of packets per second.
func (r *replay) rate() float64 {
	if r.seconds <= 0 {
		return 0
	}
	return float64(r.packets) / r.seconds
}

func duration(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Microsecond).String()
}
