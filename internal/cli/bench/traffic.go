package bench

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"verdict"
	"verdict/engine"
	"verdict/offload"
	"verdict/packet/build"
	"verdict/tc"
)

// TrafficMode is a way to run filters that live in hardware alone.
type TrafficMode string

// The modes.
const (
	OffByMask   TrafficMode = "off, mask by mask" // as Linux before the bypass
	OffCompiled TrafficMode = "off, compiled"
	FirstBypass TrafficMode = "first"
	Refined     TrafficMode = "refined"
)

// TrafficModes lists the modes in the order of the columns.
var TrafficModes = []TrafficMode{OffByMask, OffCompiled, FirstBypass, Refined}

func (m TrafficMode) config() tc.Config {
	switch m {
	case OffByMask:
		return tc.Config{Bypass: tc.BypassOff, PerMask: true}
	case OffCompiled:
		return tc.Config{Bypass: tc.BypassOff}
	case FirstBypass:
		return tc.Config{Bypass: tc.BypassFirst}
	}
	return tc.Config{Bypass: tc.BypassRefined}
}

// What packets do that pass the filters of a row.
const (
	FallThrough = "fall-through"
	MatchTrap   = "match trap"
	GotoEmpty   = "goto non-chain"
)

// TrafficRow is a row of the table: a set of filters.
type TrafficRow struct {
	Name string `json:"name"`
	// Rules is how many skip_sw filters the packet does not match, Follow what
	// happens behind them; 0 and "" in the rows before.
	Rules  int    `json:"rules,omitempty"`
	Follow string `json:"follow,omitempty"`
	// Time is a packet's processor time by mode, the median of the rounds in
	// nanoseconds.
	Time map[TrafficMode]float64 `json:"ns"`
	// Low is the tenth percentile, which other processes disturb least: for
	// differences of a few percent.
	Low map[TrafficMode]float64 `json:"ns_p10"`
	// Published are the kernel's kpps before and after the bypass.
	Published [2]float64 `json:"published_kpps"`
}

// KPPS is a mode's rate in thousands of packets a second.
func (r *TrafficRow) KPPS(m TrafficMode) float64 { return 1e6 / r.Time[m] }

// publishedTraffic is the table of the patch set (Xeon D-1518, ConnectX-6 Dx).
// Ref: commit 047f340b36fc.
var publishedTraffic = []TrafficRow{
	{Name: "basic forwarding", Published: [2]float64{3589.3, 3587.9}},
	{Name: "switch to eswitch mode", Published: [2]float64{3081.8, 3094.7}},
	{Name: "add ingress qdisc", Published: [2]float64{3042.9, 3063.6}},
	{Name: "tc forward in hw / skip_sw", Published: [2]float64{37024.7, 37028.4}},
	{Name: "tc forward in sw / skip_hw", Published: [2]float64{3245.0, 3245.3}},
	{Rules: 1, Follow: FallThrough, Published: [2]float64{2694.7, 3058.7}},
	{Rules: 1, Follow: MatchTrap, Published: [2]float64{2611.2, 3323.1}},
	{Rules: 1, Follow: GotoEmpty, Published: [2]float64{2886.8, 2945.9}},
	{Rules: 5, Follow: FallThrough, Published: [2]float64{1958.2, 3061.3}},
	{Rules: 5, Follow: MatchTrap, Published: [2]float64{1911.9, 3327.0}},
	{Rules: 5, Follow: GotoEmpty, Published: [2]float64{2883.1, 2947.5}},
	{Rules: 10, Follow: FallThrough, Published: [2]float64{1466.3, 3062.8}},
	{Rules: 10, Follow: MatchTrap, Published: [2]float64{1444.3, 3317.9}},
	{Rules: 10, Follow: GotoEmpty, Published: [2]float64{2883.1, 2939.5}},
	{Rules: 25, Follow: FallThrough, Published: [2]float64{838.5, 3058.9}},
	{Rules: 25, Follow: MatchTrap, Published: [2]float64{824.5, 3323.0}},
	{Rules: 25, Follow: GotoEmpty, Published: [2]float64{2875.8, 2944.7}},
	{Rules: 50, Follow: FallThrough, Published: [2]float64{488.1, 3054.7}},
	{Rules: 50, Follow: MatchTrap, Published: [2]float64{484.9, 3318.5}},
	{Rules: 50, Follow: GotoEmpty, Published: [2]float64{2884.1, 2939.7}},
}

// TrafficReport is the result of `bench tc`.
type TrafficReport struct {
	Machine Machine      `json:"machine"`
	Rows    []TrafficRow `json:"rows"`
	// Shares of the time of 25 filters, mask by mask.
	Shares    []TrafficShare   `json:"shares"`
	Insertion TrafficInsertion `json:"insertion"`
}

// trafficPacket is forwarded by basic rules; no filter but the last of a row
// matches it.
const trafficPacket = "iifname eth0 oifname eth1 ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 53 udp dport 53"

// trafficWorld is a row in one mode.
type trafficWorld struct {
	system *tc.System
	device *tc.Device
	engine *verdict.Engine
	input  engine.Input
	row    *TrafficRow
	packet tc.Packet
	out    engine.Outcome
}

func newTrafficWorld(r *TrafficRow, m TrafficMode) (*trafficWorld, error) {
	rules, err := verdict.Parse("table ip f { chain p { type filter hook prerouting priority raw; notrack; }; }")
	if err != nil {
		return nil, err
	}
	w := &trafficWorld{system: tc.New(m.config()), row: r}
	if w.engine, err = rules.NewEngine(verdict.EngineOptions{}); err != nil {
		return nil, err
	}
	model, err := offload.ModelNamed("eswitch-nic")
	if err != nil {
		return nil, err
	}
	w.device = w.system.AddDevice(tc.Device{Name: "eth0", Hardware: offload.NewDevice(model)})
	w.system.AddDevice(tc.Device{Name: "eth1"})
	p, err := build.Parse(trafficPacket)
	if err != nil {
		return nil, err
	}
	w.input = verdict.PacketInput(p)
	for _, l := range r.commands() {
		if o := w.system.Line(l, tc.Options{}); o.Status != 0 {
			return nil, fmt.Errorf("%s: %s", l, o.Stderr)
		}
	}
	return w, nil
}

// commands make a row's filters, each with a mask of its own.
func (r *TrafficRow) commands() []string {
	const matching = "filter add dev eth0 ingress protocol ip pref 100 flower %s ip_proto udp dst_port 53 action %s"
	if r.Name == "basic forwarding" || r.Name == "switch to eswitch mode" {
		return nil
	}
	list := []string{"qdisc add dev eth0 clsact"}
	switch {
	case strings.HasSuffix(r.Name, "skip_sw"):
		list = append(list, fmt.Sprintf(matching, "skip_sw", "mirred egress redirect dev eth1"))
	case strings.HasSuffix(r.Name, "skip_hw"):
		list = append(list, fmt.Sprintf(matching, "skip_hw", "mirred egress redirect dev eth1"))
	}
	for i := range r.Rules {
		list = append(list, fmt.Sprintf("filter add dev eth0 ingress protocol ip pref %d flower skip_sw dst_ip 192.%d.0.0/%d src_mac 02:00:00:00:00:%02x/%d action drop",
			i+1, i, 10+i%20, i, 20+i/20))
	}
	switch r.Follow {
	case MatchTrap:
		list = append(list, fmt.Sprintf(matching, "skip_sw", "trap"))
	case GotoEmpty:
		list = append(list, fmt.Sprintf(matching, "skip_sw", "goto chain 7"))
	}
	return list
}

// run lets one packet pass: what hardware did to it before is given, but for
// the row in which hardware forwards it.
func (w *trafficWorld) run() {
	p := &w.packet
	if w.row.Name != "basic forwarding" {
		p.Load(w.input.Data, true)
		switch {
		case w.row.Rules > 0 && w.row.Follow == MatchTrap:
			p.Trapped = true
		case w.row.Rules > 0 && w.row.Follow == GotoEmpty:
			p.Resume = tc.Resume{Set: true, Chain: 7}
		case w.row.Rules == 0:
			if w.system.Hardware(w.device, p).Done {
				return
			}
		}
		if r := w.system.Receive(w.device, p); r.Fate == tc.Taken || r.Fate == tc.Dropped {
			return
		}
	}
	w.engine.Worker().Evaluate(&w.input, &w.out)
}

// Traffic measures the table. Rows and modes take turns, round by round.
func Traffic(o *Options) (*TrafficReport, error) {
	report := &TrafficReport{Machine: ThisMachine()}
	report.Rows = append(report.Rows, publishedTraffic...)
	type cell struct {
		world *trafficWorld
		took  samples
	}
	cells := make([][]cell, len(report.Rows))
	for i := range report.Rows {
		r := &report.Rows[i]
		r.Time, r.Low = map[TrafficMode]float64{}, map[TrafficMode]float64{}
		if r.Name == "" {
			r.Name = fmt.Sprintf("%d non-matching, %s", r.Rules, r.Follow)
		}
		for _, m := range TrafficModes {
			w, err := newTrafficWorld(r, m)
			if err != nil {
				return nil, err
			}
			cells[i] = append(cells[i], cell{world: w})
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const packets = 1000
	for round := range o.Rounds + 1 {
		o.tell("tc: round %d of %d", round, o.Rounds)
		for i := range cells {
			for j := range cells[i] {
				c := &cells[i][j]
				took := timed(func() {
					for range packets {
						c.world.run()
					}
				})
				if round > 0 { // the first warms up
					c.took = append(c.took, took/packets)
				}
			}
		}
	}
	for i := range cells {
		for j, m := range TrafficModes {
			took := slices.Sorted(slices.Values(cells[i][j].took))
			report.Rows[i].Time[m], report.Rows[i].Low[m] = took[len(took)/2], took[len(took)/10]
		}
	}
	var err error
	if report.Shares, err = trafficShares(); err != nil {
		return nil, err
	}
	report.Insertion, err = InsertTraffic(o)
	return report, err
}

// Chart draws the times over the number of filters.
func (r *TrafficReport) Chart() *Chart {
	c := &Chart{
		Title: "Filters that live in hardware cost software nothing",
		Value: "time of a packet that no filter matches", Sizes: "filters", Format: duration,
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Follow == FallThrough {
			for _, m := range TrafficModes {
				c.Series = addTo(c.Series, "bypass "+string(m), row.Rules, row.Time[m])
			}
		}
	}
	return c
}

// WriteText writes the report for people.
func (r *TrafficReport) WriteText(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s/%s, %d processors, %s; processor time of one thread, medians\n\n", m.OS, m.Arch, m.CPUs, m.Go)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "kpps\toff, mask by mask\toff, compiled\tfirst\trefined\trefined/off\tpublished: pre\tpost\tratio")
	for i := range r.Rows {
		row := &r.Rows[i]
		fmt.Fprintf(t, "%s", row.Name)
		for _, m := range TrafficModes {
			fmt.Fprintf(t, "\t%.0f", row.KPPS(m))
		}
		fmt.Fprintf(t, "\t%.2f\t%.1f\t%.1f\t%.2f\n", row.KPPS(Refined)/row.KPPS(OffByMask), row.Published[0], row.Published[1], row.Published[1]/row.Published[0])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\n25 filters without bypass, mask by mask: where the time goes")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  \there\tpublished")
	for _, s := range r.Shares {
		fmt.Fprintf(t, "  %s\t%.1f %%\t%.2f %%\n", s.What, s.Share*100, s.Published)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	n := &r.Insertion
	fmt.Fprintf(w, "\nThe rate of tc forward in hw is that of the model of hardware, not of hardware.\n\n%s flower filters inserted (Linux, 16 tc -batch: 50.78 s → 17.72 s):\n", thousands(n.Filters))
	fmt.Fprintf(w, "  one goroutine            %s, %s of it this thread's processor time\n", duration(n.Serial), duration(n.SerialTime))
	fmt.Fprintf(w, "  read ahead by %-10d %s, %s of processor time, %s of it where the filters enter\n", n.Workers, duration(n.Parallel), duration(n.ParallelTime), duration(n.Executor))
	how := "by the wall"
	if n.Busy() {
		how = "by processor time, for the machine was busy"
	}
	fmt.Fprintf(w, "  on two cores             %.2f times faster, %s\n  a packet among them      %s\n", n.Scaling(), how, duration(n.Lookup))
	return r.Chart().WriteText(w)
}
