package tc

import (
	"strings"
	"syscall"

	"verdict/offload"
	"verdict/packet"
)

// skbedit changes the packet's metadata.
type skbedit struct {
	priority, mark, maskValue   uint32
	queue                       uint16
	ptype                       packet.PktType
	hasPriority, hasMark        bool
	hasMask, hasPType, hasQueue bool
	byHash, inherit             bool
}

var kindSkbedit = &actionKind{name: "skbedit", parse: parseSkbedit, check: checkSkbedit}

var ptypes = []struct {
	name string
	typ  packet.PktType
}{
	{"host", packet.PktHost}, {"broadcast", packet.PktBroadcast}, {"multicast", packet.PktMulticast}, {"otherhost", packet.PktOtherHost},
}

func parseSkbedit(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "skbedit"); err != nil {
		return nil, err
	}
	e := &skbedit{maskValue: 0xffffffff}
	r := &actionRequest{params: e}
	ok := false
	for w.more() {
		known, err := e.word(w)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
		ok = true
	}
	if err := r.finish(w, "skbedit", Pipe); err != nil {
		return nil, err
	}
	if !ok {
		if r.index == 0 {
			return nil, tool("skbedit: nothing to edit")
		}
		r.lookup = true
	}
	return r, nil
}

// word reads one edit.
func (e *skbedit) word(w *words) (known bool, err *ToolError) {
	var text string
	switch {
	case w.matches("inheritdsfield"):
		e.inherit = true
		w.skip()
		return true, nil
	case w.matches("queue_mapping", "priority", "mark", "ptype"):
		name := w.peek()
		if text, err = w.value(); err != nil {
			return false, err
		}
		return true, e.set(name, text)
	}
	return false, nil
}

func (e *skbedit) set(name, text string) *ToolError {
	ok := true
	switch {
	case prefix(name, "queue_mapping"):
		e.hasQueue = true
		if text == "skbhash" {
			e.byHash = true
			return nil
		}
		if e.queue, ok = number16(text, 10); !ok {
			return tool(`Illegal "queue_mapping"`)
		}
	case prefix(name, "priority"):
		e.hasPriority = true
		if e.priority, ok = classID(text); !ok {
			return tool(`Illegal "priority"`)
		}
	case prefix(name, "mark"):
		v, m, ok := masked(text, 32)
		if !ok {
			return tool(`Illegal "mark"`)
		}
		e.hasMark, e.mark = true, uint32(v)
		if strings.Contains(text, "/") {
			e.hasMask, e.maskValue = true, uint32(m)
		}
	case prefix(name, "ptype"):
		e.hasPType = true
		for _, p := range ptypes {
			if prefix(text, p.name) {
				e.ptype = p.typ
				return nil
			}
		}
		return tool(`Illegal ptype (%s)`, text)
	}
	return nil
}

// checkSkbedit refuses to choose a receive queue in software.
//
// Ref: act_skbedit.c, tcf_skbedit_init
func checkSkbedit(_ *System, r *actionRequest, b *Block) *KernelError {
	e := r.params.(*skbedit)
	if e.hasQueue && b != nil && b.atIngress() && !b.requestSkipSW {
		return refuse(syscall.EOPNOTSUPP, `act_skbedit: "queue_mapping" option on receive side is hardware only, use skip_sw`)
	}
	return nil
}

func (e *skbedit) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	if e.hasPriority {
		p.Priority = e.priority
	}
	if e.inherit && !e.inheritDS(p) {
		return a.drop()
	}
	if e.hasQueue {
		p.Queue = e.queue
	}
	if e.hasMark {
		p.Mark = p.Mark&^e.maskValue | e.mark&e.maskValue
	}
	if e.hasPType {
		p.PktType = e.ptype
	}
	return a.Control
}

// inheritDS takes the priority from the IP header.
func (e *skbedit) inheritDS(p *Packet) bool {
	switch p.inner() {
	case packet.TypeIPv4:
		if !p.has(p.net, 20) {
			return false
		}
		p.Priority = uint32(p.buf[p.net+1] >> 2)
	case packet.TypeIPv6:
		if !p.has(p.net, 40) {
			return false
		}
		p.Priority = uint32((p.buf[p.net]<<4 | p.buf[p.net+1]>>4) >> 2)
	}
	return true
}

func (e *skbedit) show(o *printer, a *Action) {
	o.put("kind", "%s ", "skbedit")
	if e.hasQueue {
		if e.byHash {
			o.put("queue_mapping", " queue_mapping %s", "skbhash")
		} else {
			o.put("queue_mapping", " queue_mapping %d", e.queue)
		}
	}
	if e.hasPriority {
		o.put("priority", " priority %s", classText(e.priority))
	}
	if e.hasMark {
		o.put("mark", " mark %d", e.mark)
	}
	if e.hasMask {
		o.put("mask", "/%s", hexText(e.maskValue, o))
	}
	if e.hasPType {
		for _, p := range ptypes {
			if p.typ == e.ptype {
				o.put("ptype", " ptype %s", p.name)
			}
		}
	}
	if e.inherit {
		o.put("inheritdsfield", " inheritdsfield", nil)
	}
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t ")
}

// flow translates what hardware can be asked for: one edit.
//
// Ref: act_skbedit.c, tcf_skbedit_offload_act_setup
func (e *skbedit) flow(*Action) ([]offload.Action, error) {
	n := 0
	for _, has := range []bool{e.hasPriority, e.hasMark, e.hasPType, e.hasQueue, e.inherit} {
		if has {
			n++
		}
	}
	switch {
	case n == 1 && e.hasMark && !e.hasMask:
		return []offload.Action{{ID: offload.ActMark, Mark: e.mark}}, nil
	case n == 1 && e.hasPType:
		return one(offload.ActPType), nil
	case n == 1 && e.hasPriority:
		return one(offload.ActPriority), nil
	case n == 1 && e.hasQueue && !e.byHash:
		return one(offload.ActRxQueue), nil
	case e.inherit:
		return nil, refuse(syscall.EOPNOTSUPP, `act_skbedit: Offload not supported when "inheritdsfield" option is used`)
	case e.hasQueue:
		return nil, refuse(syscall.EOPNOTSUPP, `act_skbedit: Offload not supported when "queue_mapping" option is used`)
	}
	return nil, refuse(syscall.EOPNOTSUPP, "act_skbedit: Unsupported skbedit option offload")
}
