package tc

import (
	"syscall"

	"verdict/offload"
)

// simple prints a text with each packet's number, and nothing else.
type simple struct{ text string }

var kindSimple = &actionKind{name: "simple", parse: parseSimple, check: checkSimple}

const maxSimple = 32

func parseSimple(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "simple"); err != nil {
		return nil, err
	}
	v := &simple{}
	r := &actionRequest{params: v}
	if w.matches("sdata") {
		text, err := w.value()
		if err != nil {
			return nil, err
		}
		if len(text) >= maxSimple {
			return nil, tool("simple: Illegal string len %d <%s>", len(text)+1, text)
		}
		v.text = text
	}
	if err := r.finish(w, "simple", Pipe); err != nil {
		return nil, err
	}
	r.lookup = v.text == "" && r.index != 0
	return r, nil
}

func checkSimple(_ *System, r *actionRequest, _ *Block) *KernelError {
	if r.params.(*simple).text == "" {
		return errno(syscall.EINVAL)
	}
	return nil
}

func (v *simple) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	return a.Control
}

func (v *simple) show(o *printer, a *Action) {
	if o.JSON {
		o.member("kind", "simple")
		o.member("sdata", v.text)
	} else {
		o.text("Simple <%s>", v.text)
	}
	a.showIndex(o, "\t ")
}

func (v *simple) flow(*Action) ([]offload.Action, error) {
	return nil, refuse(syscall.EOPNOTSUPP, "Action does not support offload")
}
