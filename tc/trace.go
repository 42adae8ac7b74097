package tc

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"verdict/offload"
	"verdict/trace"
)

// Trace sends the steps of the following packets to a sink; nil switches
// tracing off. Traced packets are shown to every filter in turn, with the same
// result.
func (s *System) Trace(sink trace.Sink) { s.sink = sink }

func (s *System) event(kind trace.Kind, label, format string, args ...any) {
	s.sink.Event(&trace.Event{Kind: kind, Label: label, Text: fmt.Sprintf(format, args...)})
}

// traceHook tells of a hook whose filters are asked, or why they are not.
func (s *System) traceHook(q *Qdisc, b *Block, p *Packet) {
	if s.sink == nil || b == nil {
		return
	}
	where := "tc ingress"
	if !p.Ingress {
		where = "tc egress"
	}
	shared := ""
	if b.index != 0 {
		shared = fmt.Sprintf(", block %d", b.index)
	}
	s.sink.Event(&trace.Event{Kind: trace.EnterTC, Device: q.Dev.Name, Text: where + " of " + q.Dev.Name + " (software)" + shared})
	switch {
	case s.bypassed(b):
		s.event(trace.TCDetail, "", "no filter is asked: none of the block needs software (%s bypass)", s.Bypass)
	case b.chain0 == nil && !p.Resume.Set:
		s.event(trace.TCDetail, "", "chain 0 has no filter")
	case p.Resume.Set:
		s.event(trace.TCDetail, "", "goes on at chain %d, where hardware had no match", p.Resume.Chain)
	}
}

// traceLeave tells what the hook decided.
func (s *System) traceLeave(c Code) {
	if s.sink == nil {
		return
	}
	text := "no filter decided: the packet goes on"
	switch {
	case c == Unspec:
	case fateOf(c) == Passed:
		text = c.String() + ": the packet goes on"
	default:
		text = c.String()
	}
	s.event(trace.LeaveTC, "", "%s", text)
}

// place is where a filter stands.
func (f FilterRef) place() string {
	return fmt.Sprintf("chain %d pref %d handle 0x%x", f.Chain, f.Priority, f.Handle)
}

// filterText is a filter as listings show it, on one line, without its actions.
func (s *System) filterText(i *Instance, handle uint32) string {
	o := &filterPrinter{printer: printer{nowNano: s.Now}, hideChain: true, hidePriority: true}
	i.classifier.show(s, o, handle)
	text := strings.Join(strings.Fields(o.finish()), " ")
	text, _, _ = strings.Cut(text, " action order 1:")
	return strings.TrimPrefix(text, "filter ")
}

// traceInstance shows the filters of an instance that the packet does not
// match, where their kind can tell why.
func (s *System) traceInstance(i *Instance, p *Packet) {
	s.traced = false
	if c, ok := i.classifier.(*flower); ok {
		c.traceMisses(s, p)
	}
}

// traceAnswer completes what traceInstance began.
func (s *System) traceAnswer(i *Instance, c Code) {
	if _, ok := i.classifier.(*flower); ok || s.traced || c >= 0 {
		return
	}
	for _, f := range i.bases() {
		ref := f.base.ref()
		s.event(trace.TCFilter, ref.place(), "%s", s.filterText(i, ref.Handle))
		if f.base.flags&flagSkipSW != 0 {
			s.event(trace.TCDetail, ref.place(), "skip_sw: passed over")
		} else {
			s.event(trace.TCDetail, ref.place(), "no match")
		}
	}
}

// traceMatch tells of a filter whose actions run.
func (s *System) traceMatch(f *filterBase) {
	s.traced = true
	ref := f.ref()
	s.event(trace.TCFilter, ref.place(), "%s", s.filterText(f.instance, ref.Handle))
	text := "matches"
	if len(f.actions) == 0 {
		text = "matches, and has no actions: pass"
	}
	s.event(trace.TCDetail, ref.place(), "%s", text)
}

// traceAction tells what an action said.
func (s *System) traceAction(a *Action, c Code) {
	o := &printer{nowNano: s.Now}
	a.params.show(o, a)
	line, _, _ := strings.Cut(o.finish(), "\n")
	s.event(trace.TCDetail, "", "%s: %s", strings.Join(strings.Fields(line), " "), c)
}

// tracedFilters bounds how many filters of a mask are shown one by one.
const tracedFilters = 32

// traceMisses shows why the filters before the one that decides do not match,
// in the order of their masks.
func (c *flower) traceMisses(s *System, p *Packet) {
	k := p.dissected()
	for _, m := range c.masks {
		found := m.lookup(k, s.config.Linear)
		var list []*flowerFilter
		for _, h := range c.order.sorted() {
			if f := c.byHandle.get(h); f.mask == m && f != found {
				list = append(list, f)
			}
		}
		if len(list) > tracedFilters {
			s.event(trace.TCFilter, "", "flower: %d filters with one mask", len(list))
			s.event(trace.TCDetail, "", "no match")
			list = nil
		}
		for _, f := range list {
			f.traceMiss(s, k)
		}
		if found != nil && found.flags&flagSkipSW == 0 {
			return
		}
		if found != nil {
			s.event(trace.TCFilter, found.ref().place(), "%s", s.filterText(c.instance, found.handle))
			s.event(trace.TCDetail, found.ref().place(), "matches, but is skip_sw: the next mask is tried")
		}
	}
}

// traceMiss names the first field that differs, with what the packet has.
func (f *flowerFilter) traceMiss(s *System, k *offload.Key) {
	key, place := f.key(), f.ref().place()
	s.event(trace.TCFilter, place, "%s", s.filterText(f.instance, f.handle))
	for _, field := range offload.Fields() {
		mask, want, got := f.mask.mask.Get(field), key.Get(field), k.Get(field)
		same := true
		for i := range mask {
			same = same && (want[i]^got[i])&mask[i] == 0
		}
		if !same && !ranged(field) {
			s.event(trace.TCDetail, place, "no match: %s, the packet has %s", field.Name, fieldText(field, got))
			return
		}
	}
	s.event(trace.TCDetail, place, "no match: a port is outside its range")
}

// ranged tells the fields that hold bounds.
func ranged(f offload.Field) bool {
	return slices.Contains([]offload.Field{
		offload.FieldRangeSrc, offload.FieldRangeDst, offload.FieldRangeSrcMin, offload.FieldRangeSrcMax,
		offload.FieldRangeDstMin, offload.FieldRangeDstMax,
	}, f)
}

// fieldText writes a value of the packet.
func fieldText(f offload.Field, b []byte) string {
	switch {
	case f == offload.FieldSrc || f == offload.FieldDst:
		if slices.Max(b[4:]) == 0 {
			return netip.AddrFrom4([4]byte(b[:4])).String()
		}
		return netip.AddrFrom16([16]byte(b)).String()
	case f == offload.FieldSrcPort || f == offload.FieldDstPort:
		return fmt.Sprint(binary.BigEndian.Uint16(b))
	case f == offload.FieldEthDst || f == offload.FieldEthSrc:
		return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
	case len(b) == 1:
		return fmt.Sprint(b[0])
	}
	return fmt.Sprintf("0x%x", b)
}
