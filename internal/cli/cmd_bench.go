package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"verdict/internal/cli/bench"
)

// benchFlags are the flags of all measurements.
type benchFlags struct {
	output string
	json   bool
	rounds int
}

func (f *benchFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "form of the output: text or json")
	cmd.Flags().BoolVarP(&f.json, "json", "j", false, "the same as -o json")
	cmd.Flags().IntVar(&f.rounds, "rounds", 21, "rounds of each measurement; figures are medians")
}

func newBench(s *Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure sets, loads, decoding and evaluation on this machine",
		Long: `Measure on this machine what verdict is fast at. Each figure is the median over
rounds, with its quartiles; figures that are promised print their bound. With
--peers the Linux kernel is measured in the same rounds, by turns, and each
figure has its ratio.`,
		Example: `  # sets of concatenated ranges with 1,000, 30,000 and 800,000 elements
  verdict bench set

  # one shape, against the kernel, with a chart
  make peers
  sudo verdict bench set --shape disjoint --elements 1k,30k,800k --peers bin/peers --svg lookup.svg

  # one to 100,000 rules: rule by rule, as legacy iptables, compiled; beside the kernel
  sudo verdict bench rules --peers bin/peers

  # access lists, firewalls and mixtures of up to 500,000 rules; beside rte_acl
  verdict bench classify --peers bin/peers

  # your own ruleset: how long it loads, how long a packet takes
  verdict bench load firewall.nft
  verdict bench eval firewall.nft capture.pcap
  verdict bench decode capture.pcap

  # tc filters that live in hardware: the table of the kernel's patch set
  verdict bench tc`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchSet(s), newBenchRules(s), newBenchClassify(s), newBenchLoad(s), newBenchEval(s), newBenchDecode(s), newBenchTc(s))
	return cmd
}

// benchSetFlags are the flags of `bench set`.
type benchSetFlags struct {
	benchFlags
	shapes, elements, parts []string
	peers, svg              string
	history                 []string
}

// measure takes the figures of each file and prints them all.
func (f *benchFlags) measure(s *Streams, names []string, each func(name string, options *bench.Options) ([]bench.Figure, error)) error {
	options, done, err := f.options(s)
	if err != nil {
		return err
	}
	defer done()
	var figures []bench.Figure
	for _, name := range names {
		list, err := each(name, options)
		if err != nil {
			return err // without a status of its own it counts as failed
		}
		figures = append(figures, list...)
	}
	done()
	return f.print(s, figures)
}

func newBenchSet(s *Streams) *cobra.Command {
	var f benchSetFlags
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Measure sets: load, lookup, change, readers beside a writer, expiry, memory",
		Long: `Measure sets of generated elements: how long they load from memory and from
text, what a lookup costs that hits and that misses (single, each dependent on
the one before, in bursts of 64), what adding and deleting one element costs,
what four readers lose meanwhile, what 100,000 elements that expire at once
cost, and how much memory an element takes.

Shapes: ` + strings.Join(shapeNames(), " ") + `
"kernel" stands for the seven shapes of the kernel's own script, "all" for all.`,
		Example: `  verdict bench set --shape disjoint --elements 800k
  verdict bench set --shape kernel --elements 1k,30k --part lookup
  verdict bench set --shape addresses --elements 1M -o json
  verdict bench set --history 50k,100k --part none
  verdict bench set --elements 1k,10k,30k,100k,800k,1M --part load,lookup --svg lookup.svg`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.shapes, "shape", []string{"disjoint", "shared"}, "shapes of the sets")
	flags.StringSliceVar(&f.elements, "elements", []string{"1k", "30k", "800k"}, "sizes of the sets")
	flags.StringSliceVar(&f.parts, "part", nil, "measure only these parts: "+strings.Join(bench.Parts, ", ")+"; none")
	flags.StringVar(&f.peers, "peers", "", "`DIR` with the programs built from bench/: measure the kernel too (needs root)")
	flags.StringVar(&f.svg, "svg", "", "draw the lookups over the number of elements into `FILE`")
	flags.StringSliceVar(&f.history, "history", nil, "load `SIZES` in the ways of the kernel's patch sets")
	return cmd
}

func shapeNames() []string {
	var names []string
	for _, s := range bench.Shapes() {
		names = append(names, strings.ReplaceAll(s.Name, ",", "."))
	}
	return names
}

// setFigures is what `bench set -o json` prints.
type setFigures struct {
	bench.Report
	History []bench.Step `json:"history,omitempty"`
}

func (f *benchSetFlags) run(s *Streams) error {
	shapes, err := f.chosenShapes()
	if err != nil {
		return err
	}
	sizes, err := parseSizes("--elements", f.elements)
	if err != nil {
		return err
	}
	history, err := parseSizes("--history", f.history)
	if err != nil {
		return err
	}
	for _, p := range f.parts {
		if !slices.Contains(bench.Parts, p) && p != "none" {
			return failedf("--part %s: the parts are %s", p, strings.Join(bench.Parts, ", "))
		}
	}
	options, done, err := f.options(s)
	if err != nil {
		return err
	}
	defer done()
	options.Only = f.parts
	if f.peers != "" {
		if options.Peer, err = bench.StartPeer(f.peers); err != nil {
			return failed(err)
		}
		defer options.Peer.Close()
	}
	report := setFigures{Report: bench.Report{Machine: bench.ThisMachine()}}
	for _, shape := range shapes {
		for _, n := range sizes {
			if n > shape.Most() || slices.Equal(f.parts, []string{"none"}) {
				continue
			}
			figures, err := bench.Set(shape, n, options)
			if err != nil {
				return failed(err)
			}
			report.Figures = append(report.Figures, figures...)
		}
	}
	for _, n := range history {
		steps, err := bench.History(n, options)
		if err != nil {
			return failed(err)
		}
		report.History = append(report.History, steps...)
	}
	done()
	return f.write(s, &report)
}

func (f *benchSetFlags) chosenShapes() ([]*bench.Shape, error) {
	var list []*bench.Shape
	for _, name := range f.shapes {
		found := false
		for _, s := range bench.Shapes() {
			if name == "all" || strings.ReplaceAll(s.Name, ",", ".") == name || name == "kernel" && s.OfKernel() {
				list = append(list, s)
				found = true
			}
		}
		if !found {
			return nil, failedf("--shape %s: the shapes are %s, kernel, all", name, strings.Join(shapeNames(), ", "))
		}
	}
	return list, nil
}

func (f *benchSetFlags) write(s *Streams, r *setFigures) error {
	if f.svg != "" {
		if err := writeSVG(f.svg, bench.LookupChart(r.Figures)); err != nil {
			return failed(err)
		}
	}
	if f.output == "json" {
		return writeJSON(s.Out, r)
	}
	if err := r.WriteText(s.Out); err != nil {
		return failed(err)
	}
	for rest := r.History; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(step bench.Step) bool { return step.Elements != rest[0].Elements })
		if n < 0 {
			n = len(rest)
		}
		if err := bench.WriteHistory(s.Out, rest[:n]); err != nil {
			return failed(err)
		}
		rest = rest[n:]
	}
	return bench.LookupChart(r.Figures).WriteText(s.Out)
}

// ruleSizes reads numbers of rules. A chart that would have one of them alone is
// refused before anything is measured.
func ruleSizes(texts []string, svg string) ([]int, error) {
	sizes, err := parseSizes("--rules", texts)
	if err == nil && svg != "" && slices.Min(sizes) == slices.Max(sizes) {
		err = failedf("--svg %s: a chart needs at least two numbers of rules", svg)
	}
	return sizes, err
}

// drawn is writeSVG after all else was printed.
func drawn(name string, chart *bench.Chart) error {
	if err := writeSVG(name, chart); err != nil {
		return failed(err)
	}
	return nil
}

func writeSVG(name string, chart *bench.Chart) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := chart.WriteSVG(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// parseSizes reads numbers of elements or rules: 30000, 30k, 1M.
func parseSizes(flag string, list []string) ([]int, error) {
	var sizes []int
	for _, text := range list {
		digits, unit := strings.TrimRight(text, "kM"), 1
		switch {
		case strings.HasSuffix(text, "k"):
			unit = 1000
		case strings.HasSuffix(text, "M"):
			unit = 1_000_000
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n <= 0 || n > 100_000_000/unit {
			return nil, failedf("%s %s: write a number of %s such as 30000, 30k or 1M", flag, text, strings.TrimPrefix(flag, "--"))
		}
		sizes = append(sizes, n*unit)
	}
	return sizes, nil
}

// options are those of all measurements; done wipes the progress line.
func (f *benchFlags) options(s *Streams) (o *bench.Options, done func(), err error) {
	if f.rounds < 1 {
		return nil, nil, failedf("--rounds %d: at least one", f.rounds)
	}
	if f.json {
		f.output = "json"
	}
	if f.output != "text" && f.output != "json" {
		return nil, nil, failedf("-o %s: text or json", f.output)
	}
	o = &bench.Options{Rounds: f.rounds}
	done = func() {}
	if s.ErrTerminal {
		o.Progress = func(what string) { fmt.Fprintf(s.Err, "\r\x1b[K%s", what) }
		done = func() { fmt.Fprint(s.Err, "\r\x1b[K") }
	}
	return o, done, nil
}

// print writes a report.
func (f *benchFlags) print(s *Streams, figures []bench.Figure) error {
	r := bench.Report{Machine: bench.ThisMachine(), Figures: figures}
	if f.output == "json" {
		return writeJSON(s.Out, &r)
	}
	return r.WriteText(s.Out)
}
