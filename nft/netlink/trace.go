package netlink

import (
	"fmt"

	"verdict/catalog"
)

// TraceKind says what a trace event is about.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_trace_types.
type TraceKind uint32

// The kinds of trace events.
const (
	TracePolicy TraceKind = 1
	TraceReturn TraceKind = 2
	TraceRule   TraceKind = 3
)

// Trace is an event of a traced packet as the kernel reports it.
type Trace struct {
	Family catalog.Family
	Table  string
	Chain  string
	Handle uint64 // of the rule, 0 at the end of a chain
	Kind   TraceKind
	// Verdict is the rule's verdict or the policy, Target its chain.
	Verdict catalog.VerdictKind
	Target  string
	ID      uint32 // the same for all events of a packet in memory
	NFProto uint32
	Mark    uint32
	IIF     uint32
	OIF     uint32
}

// Numbers of the attributes of trace events.
const (
	traceTable   = 1
	traceChain   = 2
	traceHandle  = 3
	traceType    = 4
	traceVerdict = 5
	traceID      = 6
	traceIIF     = 10
	traceOIF     = 12
	traceMark    = 14
	traceNFProto = 15
	tracePolicy  = 16
)

// ReadTrace reads a message of type TraceEvent. Attributes that repeat the
// packet are read over. Ref: nf_tables_trace.c, nft_trace_notify.
func ReadTrace(m *Message) (Trace, error) {
	f := parseFields(m.Attrs)
	if f.err != nil {
		return Trace{}, f.err
	}
	t := Trace{
		Family: m.Family, Table: f.str(traceTable), Chain: f.str(traceChain), Handle: f.u64(traceHandle),
		Kind: TraceKind(f.u32(traceType)), ID: f.u32(traceID), NFProto: f.u32(traceNFProto), Mark: f.u32(traceMark),
		IIF: f.u32(traceIIF), OIF: f.u32(traceOIF),
	}
	if f.has(traceVerdict) {
		v := parseFields(f.take(traceVerdict))
		t.Verdict, t.Target = verdictOf(v.u32(verdictCode)), v.str(verdictChain)
	}
	if f.has(tracePolicy) {
		t.Verdict = verdictOf(f.u32(tracePolicy))
	}
	if t.Table == "" {
		return t, fmt.Errorf("trace event without a table: %w", errAttr)
	}
	return t, nil
}

// verdictOf cuts the queue number off.
func verdictOf(code uint32) catalog.VerdictKind {
	if v := int32(code); v < 0 {
		return catalog.VerdictKind(v)
	}
	return catalog.VerdictKind(code & 0xff)
}
