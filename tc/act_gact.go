package tc

import (
	"syscall"

	"verdict/offload"
)

// gact is a plain control, with a second one taken at random or every nth time.
type gact struct {
	random  uint8
	second  Code
	every   uint16
	packets uint32
}

const (
	gactNone = iota
	gactNetrand
	gactDeterm
)

var gactRandom = []string{"none", "netrand", "determ"}

var kindGact = &actionKind{name: "gact", parse: parseGact, check: checkGact}

const gactUsage = "Usage: ... gact <ACTION> [RAND] [INDEX]"

func parseGact(w *words, _ *System) (*actionRequest, *ToolError) {
	g := &gact{}
	r := &actionRequest{params: g}
	if w.matches("gact") {
		w.skip()
		if w.matches("index") {
			index, err := parseIndex(w, "gact")
			r.index, r.lookup = index, true
			return r, err
		}
	}
	var err *ToolError
	if r.control, err = parseControl(w); err != nil {
		if err.Ends {
			return nil, err
		}
		return nil, usage("%s\n%s", err.Text, gactUsage)
	}
	if w.matches("random") {
		if err := g.parseRandom(w); err != nil {
			return nil, err
		}
	}
	r.index, err = parseIndex(w, "gact")
	return r, err
}

func (g *gact) parseRandom(w *words) *ToolError {
	kind, err := w.value()
	if err != nil {
		return err
	}
	switch {
	case prefix(kind, "netrand"):
		g.random = gactNetrand
	case prefix(kind, "determ"):
		g.random = gactDeterm
	default:
		return tool(`Illegal "random type"`)
	}
	if g.second, err = parseControl(w); err != nil {
		return usage("%s\n%s", err.Text, gactUsage)
	}
	text, err := w.take()
	if err != nil {
		return err
	}
	n, ok := number16(text, 10)
	if !ok || n > 10000 {
		return tool("Illegal probability val 0x%x", n)
	}
	g.every = n
	return nil
}

// checkGact refuses goto as second control.
//
// Ref: act_gact.c, tcf_gact_init
func checkGact(_ *System, r *actionRequest, _ *Block) *KernelError {
	g := r.params.(*gact)
	if g.random == gactNone {
		return nil
	}
	if g.second.op() == GotoChain {
		return refuse(syscall.EINVAL, "goto chain not allowed on fallback")
	}
	if g.every == 0 {
		g.every = 1
	}
	return nil
}

func (g *gact) run(s *System, p *Packet, a *Action) Code {
	code := a.Control
	switch g.random {
	case gactNetrand:
		if s.random.IntN(int(g.every)) == 0 {
			code = g.second
		}
	case gactDeterm:
		if g.packets++; g.packets%uint32(g.every) == 0 {
			code = g.second
		}
	}
	a.count(p)
	if code == Shot {
		a.Drops++
	}
	return code
}

func (g *gact) show(o *printer, a *Action) {
	o.put("kind", "%s ", "gact")
	showControl(o, "action ", a.Control, "")
	o.nl()
	o.object("prob")
	o.put("random_type", "\t random type %s", gactRandom[g.random])
	showControl(o, " ", g.second, "")
	o.put("val", " val %d", g.every)
	o.endObject()
	a.showIndex(o, "\t ")
}

// flow translates the first control; a second one does not matter to the
// kernel.
//
// Ref: act_gact.c, tcf_gact_offload_act_setup
func (g *gact) flow(a *Action) ([]offload.Action, error) {
	switch a.Control.op() {
	case OK:
		return one(offload.ActAccept), nil
	case Shot:
		return one(offload.ActDrop), nil
	case Trap:
		return one(offload.ActTrap), nil
	case GotoChain:
		return []offload.Action{{ID: offload.ActGoto, Chain: a.Control.number()}}, nil
	case Unspec, Reclassify, Pipe:
		return nil, refuse(syscall.EOPNOTSUPP, "act_gact: Offload of \"%s\" action is not supported", a.Control)
	}
	return nil, refuse(syscall.EOPNOTSUPP, "act_gact: Unsupported generic action offload")
}

func one(id offload.ActionID) []offload.Action { return []offload.Action{{ID: id}} }
