package tc

import (
	"syscall"

	"verdict/offload"
)

const eopnotsupp = syscall.EOPNOTSUPP

// police measures packets against a rate; those that exceed it get the
// action's control, others the second.
type police struct {
	rate, avrate, peakrate uint64 // bytes a second
	burst, mtu, overhead   uint32
	pktRate, pktBurst      uint64
	conform                Code
	hasConform             bool
	mpu                    uint16

	tokens, packetTokens int64 // nanoseconds of sending
	last                 int64
}

var kindPolice = &actionKind{name: "police", parse: parsePolice, check: checkPolice}

func parsePolice(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "police"); err != nil {
		return nil, err
	}
	return parsePoliceWords(w)
}

func parsePoliceWords(w *words) (*actionRequest, *ToolError) {
	p := &police{}
	r := &actionRequest{params: p, control: Reclassify}
	ok := false
	for w.more() {
		known, err := p.word(w, r)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
		ok = true
	}
	switch {
	case !ok:
		return nil, tool("police: a rate is missing")
	case p.rate == 0 && p.avrate == 0 && r.index == 0 && p.mtu == 0 && p.pktRate == 0:
		return nil, tool("'rate' or 'avrate' or 'mtu' or 'pkts_rate' MUST be specified.")
	case p.rate != 0 && p.burst == 0 && p.avrate == 0:
		return nil, tool("'burst' requires 'rate'.")
	case p.peakrate != 0 && (p.rate == 0 || p.mtu == 0):
		return nil, tool("'peakrate' requires 'rate' and 'mtu'.")
	}
	r.lookup = p.rate == 0 && p.avrate == 0 && p.mtu == 0 && p.pktRate == 0
	if p.rate != 0 {
		p.burst = roundBurst(p.rate, p.burst)
	}
	if p.mtu == 0 && p.rate != 0 {
		p.mtu = 2047
	}
	return r, nil
}

// word reads one parameter.
func (p *police) word(w *words, r *actionRequest) (bool, *ToolError) {
	name := w.peek()
	if _, _, ok := controlWord(name); ok && !w.matches("rate", "peakrate", "pkts_rate") {
		c, err := parseControl(w)
		r.control = c
		return true, err
	}
	if w.matches("conform-exceed", "conform_exceed") && len(name) > 3 {
		w.skip()
		return true, p.parseExceed(w, r)
	}
	target, kind := p.parameter(name)
	if kind == "" {
		return false, nil
	}
	text, err := w.value()
	if err != nil {
		return false, err
	}
	ok := true
	switch kind {
	case "index":
		r.index, ok = number32(text, 10)
	case "rate":
		*target.(*uint64), ok = rate(text)
	case "count":
		*target.(*uint64), ok = number(text, 10, 64)
	case "size":
		*target.(*uint32), ok = size(text)
	case "burst":
		n, cell, _ := cutSlash(text)
		*target.(*uint32), ok = size(n)
		if cell != "" {
			_, good := number32(cell, 0)
			ok = ok && good
		}
	case "mpu":
		n, good := size(text)
		p.mpu, ok = uint16(n), good
	case "linklayer":
		ok = text == "ethernet" || text == "adsl" || text == "atm"
	}
	if !ok {
		return false, tool("Illegal %q", kind)
	}
	return true, nil
}

func cutSlash(s string) (a, b string, found bool) {
	for i := range s {
		if s[i] == '/' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// parameter finds where a word's value goes and how it reads.
func (p *police) parameter(name string) (any, string) {
	for _, known := range []struct {
		word string
		to   any
		kind string
	}{
		{"index", nil, "index"}, {"burst", &p.burst, "burst"}, {"buffer", &p.burst, "burst"}, {"maxburst", &p.burst, "burst"},
		{"mtu", &p.mtu, "burst"}, {"minburst", &p.mtu, "burst"}, {"mpu", nil, "mpu"}, {"rate", &p.rate, "rate"},
		{"avrate", &p.avrate, "rate"}, {"peakrate", &p.peakrate, "rate"}, {"pkts_rate", &p.pktRate, "count"},
		{"pkts_burst", &p.pktBurst, "count"}, {"overhead", &p.overhead, "size"}, {"linklayer", nil, "linklayer"},
	} {
		if name == known.word || len(name) > 2 && prefix(name, known.word) {
			return known.to, known.kind
		}
	}
	return nil, ""
}

// parseExceed reads EXCEED[/CONFORM].
func (p *police) parseExceed(w *words, r *actionRequest) *ToolError {
	text, err := w.take()
	if err != nil {
		return err
	}
	first, second, both := cutSlash(text)
	inner := &words{list: append([]string{first}, w.list[w.at:]...)}
	if r.control, err = parseControl(inner); err != nil {
		return err
	}
	w.at += inner.at - 1
	if !both {
		return nil
	}
	inner = &words{list: append([]string{second}, w.list[w.at:]...)}
	if p.conform, err = parseControl(inner); err != nil {
		return err
	}
	w.at += inner.at - 1
	p.hasConform = true
	return nil
}

// ticksPerMicro is the kernel's clock of rates, 15.625 ticks a microsecond, as
// a fraction.
const ticksNum, ticksDen = 1000, 64

// roundBurst is what is left of a burst once it was a number of ticks.
func roundBurst(rate uint64, burst uint32) uint32 {
	micro := uint32(1e6 * (float64(burst) / float64(rate)))
	ticks := uint32(float64(micro) * ticksNum / ticksDen)
	back := uint32(float64(ticks) * ticksDen / ticksNum)
	return uint32(float64(rate) * float64(back) / 1e6)
}

// checkPolice makes the checks of rates.
//
// Ref: act_police.c, tcf_police_init
func checkPolice(_ *System, r *actionRequest, _ *Block) *KernelError {
	p := r.params.(*police)
	if p.hasConform && p.conform.op() == GotoChain {
		return refuse(syscall.EINVAL, "goto chain not allowed on fallback")
	}
	if p.rate != 0 && p.mtu < 256 {
		return errno(syscall.ENOMEM)
	}
	if (p.pktRate == 0) != (p.pktBurst == 0) || p.pktRate != 0 && p.rate != 0 {
		return refuse(syscall.EINVAL, "packet-per-second and byte-per-second rate limits not allowed in same action")
	}
	p.tokens, p.packetTokens = p.time(uint64(p.burst)), p.packetTime(p.pktBurst)
	return nil
}

// time is how long a number of bytes takes, in nanoseconds.
func (p *police) time(bytes uint64) int64 {
	if p.rate == 0 {
		return 0
	}
	return int64(float64(bytes) * 1e9 / float64(p.rate))
}

func (p *police) packetTime(n uint64) int64 {
	if p.pktRate == 0 {
		return 0
	}
	return int64(n * 1e9 / p.pktRate)
}

// run measures the packet with its link header.
//
// Ref: act_police.c, tcf_police_act
func (p *police) run(s *System, pk *Packet, a *Action) Code {
	a.count(pk)
	length := pk.pktLen
	if pk.Ingress {
		length += pk.macLen
	}
	if p.mtu == 0 || length <= int(p.mtu) {
		if p.rate == 0 && p.pktRate == 0 {
			return p.conform
		}
		if p.takeTokens(pk) {
			return p.verdict(a, p.conform)
		}
	}
	a.Overlimits++
	return p.verdict(a, a.Control)
}

func (p *police) verdict(a *Action, c Code) Code {
	if c == Shot {
		a.Drops++
	}
	return c
}

// takeTokens takes what the packet costs, if it is there.
func (p *police) takeTokens(pk *Packet) bool {
	elapsed := max(pk.Now-p.last, 0)
	if p.rate != 0 {
		tokens := min(elapsed, p.time(uint64(p.burst))) + p.tokens
		tokens = min(tokens, p.time(uint64(p.burst))) - p.time(uint64(pk.pktLen))
		if tokens < 0 {
			return false
		}
		p.tokens, p.last = tokens, pk.Now
		return true
	}
	tokens := min(min(elapsed, p.packetTime(p.pktBurst))+p.packetTokens, p.packetTime(p.pktBurst)) - p.packetTime(1)
	if tokens < 0 {
		return false
	}
	p.packetTokens, p.last = tokens, pk.Now
	return true
}

func (p *police) show(o *printer, a *Action) {
	o.put("kind", " %s", "police")
	o.put("index", " 0x%x ", a.Index)
	if p.rate != 0 {
		o.text("rate %s ", rateText(p.rate))
		o.text("burst %s ", sizeText(p.burst))
	}
	if p.mtu != 0 {
		o.text("mtu %s ", sizeText(p.mtu))
	}
	if p.peakrate != 0 {
		o.text("peakrate %s ", rateText(p.peakrate))
	}
	if p.avrate != 0 {
		o.text("avrate %s ", rateText(p.avrate))
	}
	if p.pktRate != 0 {
		o.put("pkts_rate", "pkts_rate %d ", p.pktRate)
		o.put("pkts_burst", "pkts_burst %d ", p.pktBurst)
	}
	showControl(o, "action ", a.Control, "")
	if p.hasConform && (!o.JSON || p.conform != OK) {
		if p.conform != OK {
			showControl(o, "/", p.conform, "")
		}
	}
	o.text(" ")
	o.put("overhead", "overhead %s ", overhead(o, p.overhead))
	o.nl()
	o.put("ref", "\tref %d", a.refs)
	o.put("bind", " bind %d ", a.binds)
	a.showTimes(o)
	o.nl()
}

func overhead(o *printer, n uint32) any {
	if o.JSON {
		return n
	}
	return sizeText(n)
}

// flow translates a rate.
//
// Ref: act_police.c, tcf_police_offload_act_setup
func (p *police) flow(a *Action) ([]offload.Action, error) {
	return []offload.Action{{ID: offload.ActPolice, Rate: p.rate}}, nil
}
