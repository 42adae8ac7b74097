package tc

import (
	"syscall"

	"verdict/offload"
)

// sample copies one packet in rate to a group of listeners, which the packet
// does not notice.
type sample struct {
	rate, group, trunc uint32
	hasTrunc           bool
}

var kindSample = &actionKind{name: "sample", parse: parseSample, check: checkSample}

func parseSample(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "sample"); err != nil {
		return nil, err
	}
	v := &sample{}
	r := &actionRequest{params: v}
	hasRate, hasGroup := false, false
	for w.matches("rate", "group", "trunc") {
		name := w.peek()
		text, err := w.value()
		if err != nil {
			return nil, err
		}
		n, ok := number32(text, 10)
		if !ok {
			return nil, tool("Illegal %s", name)
		}
		switch {
		case prefix(name, "rate"):
			v.rate, hasRate = n, true
		case prefix(name, "group"):
			v.group, hasGroup = n, true
		default:
			v.trunc, v.hasTrunc = n, true
		}
	}
	if err := r.finish(w, "sample", Pipe); err != nil {
		return nil, err
	}
	r.lookup = !hasRate && !hasGroup && r.index != 0
	if !r.lookup && !(hasRate && hasGroup) {
		return nil, tool("param \"rate\" or \"group\" not set")
	}
	return r, nil
}

// checkSample wants a rate.
//
// Ref: act_sample.c, tcf_sample_init
func checkSample(_ *System, r *actionRequest, _ *Block) *KernelError {
	if r.params.(*sample).rate == 0 {
		return refuse(syscall.EINVAL, "invalid sample rate")
	}
	return nil
}

func (v *sample) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	return a.Control
}

func (v *sample) show(o *printer, a *Action) {
	o.put("kind", "%s ", "sample")
	o.put("rate", "rate 1/%d ", v.rate)
	o.put("group", "group %d", v.group)
	if v.hasTrunc {
		o.put("trunc_size", " trunc_size %d", v.trunc)
	}
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t ")
}

func (v *sample) flow(*Action) ([]offload.Action, error) {
	return []offload.Action{{ID: offload.ActSample, Rate: uint64(v.rate)}}, nil
}
