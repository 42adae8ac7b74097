package iptables

import (
	"fmt"

	"verdict/diag"
	"verdict/trace"
)

// What a trace says of tables is text, made only while one is wanted.

func (m *Machine) event(kind trace.Kind, label, text string) {
	m.sink.Event(&trace.Event{Kind: kind, Family: m.pkt.Family, Hook: m.pkt.Hook, Label: label, Text: text, Mark: m.pkt.Meta.Mark})
}

func (m *Machine) traceEnter(b *Base) {
	m.event(trace.EnterTable, "", fmt.Sprintf("table %s %s, chain %s (iptables, priority %d, policy %s)", b.Family, b.Table.Name, b.Chain.Name, b.Priority, b.Chain.Policy))
}

func (m *Machine) traceLeave(b *Base, v *Verdict) {
	if v.Policy && !v.Unknown {
		m.event(trace.TablePolicy, "", b.Chain.Policy.String())
	}
}

// place is where a rule stands: file and line.
func place(span diag.Span) string {
	if !span.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s:%d", span.Source.Name, span.Pos().Line)
}

func (m *Machine) traceRule(rule uint32, text string) {
	_, _, r, _ := m.prog.Rule(rule)
	m.event(trace.TableRule, place(r.Place), r.Text())
	m.event(trace.TableDetail, "", text)
}

// traceDone says what a rule that matched does.
func (m *Machine) traceDone(rule uint32, what string) {
	if m.sink != nil {
		m.traceRule(rule, "matches, "+what)
	}
}

func (m *Machine) traceReturn() {
	if m.sink != nil {
		m.event(trace.TableDetail, "", "end of chain, back to the caller")
	}
}

// traceHeader says which test of the header failed.
func (m *Machine) traceHeader(rule uint32) {
	m.traceRule(rule, "no match: "+m.failed(rule))
}

// traceMatch says which extension did not match.
func (m *Machine) traceMatch(x Match, is result) {
	text := "no match: -m " + x.Name() + string(x.appendSave(nil))
	switch is {
	case resultDrop:
		text = "drop: -m " + x.Name() + " cannot look at this packet"
	case resultCut:
		text = "unknown: the capture ends before the bytes that -m " + x.Name() + " needs"
	}
	m.traceRule(m.rule, text)
}

// failed finds the first test of a rule's header that does not hold, by making
// them one by one.
func (m *Machine) failed(rule uint32) string {
	_, _, r, _ := m.prog.Rule(rule)
	h := r.Header
	v := m.pkt.View
	tests := []struct {
		only  Header
		value string
	}{
		{Header{Source: h.Source}, v.SrcAddr().String()},
		{Header{Destination: h.Destination}, v.DstAddr().String()},
		{Header{In: h.In}, m.pkt.Meta.IIF.Name.String()},
		{Header{Out: h.Out}, m.pkt.Meta.OIF.Name.String()},
		{Header{Protocol: h.Protocol, NotProtocol: h.NotProtocol}, protocolName(m.fields.protocol)},
		{Header{Fragment: h.Fragment, NotFragment: h.NotFragment}, ""},
	}
	for _, t := range tests {
		if m.holds(&t.only) {
			continue
		}
		text := string(t.only.appendSave(nil))
		if t.value != "" {
			return text[1:] + ", the packet has " + t.value
		}
		return text[1:]
	}
	return "-p cannot be told: broken extension headers"
}

// holds is the plain form of the header's tests, for explanations and as the
// model that the compiled ones are tested against.
func (m *Machine) holds(h *Header) bool {
	f := &m.fields
	if h.Source.Mask.IsValid() && (maskAddr(m.pkt.View.SrcAddr(), h.Source.Mask) == h.Source.Addr) == h.Source.Not {
		return false
	}
	if h.Destination.Mask.IsValid() && (maskAddr(m.pkt.View.DstAddr(), h.Destination.Mask) == h.Destination.Addr) == h.Destination.Not {
		return false
	}
	if !h.In.holds(m.pkt.Meta.IIF.Name.String()) || !h.Out.holds(m.pkt.Meta.OIF.Name.String()) {
		return false
	}
	if h.Protocol != 0 && (h.Protocol == f.protocol) == h.NotProtocol {
		return false
	}
	return !(h.Fragment && !f.fragment) && !(h.NotFragment && f.fragment)
}

func (i Interface) holds(name string) bool {
	if !i.given() {
		return true
	}
	same := name == i.Name
	if i.Prefix {
		same = len(name) >= len(i.Name) && name[:len(i.Name)] == i.Name
	}
	return same != i.Not
}
