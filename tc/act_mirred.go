package tc

import (
	"fmt"
	"syscall"

	"verdict/offload"
)

// mirred sends the packet or a copy to a device, or copies to all devices of a
// block.
type mirred struct {
	device   *Device
	block    uint32
	ingress  bool
	redirect bool
}

var kindMirred = &actionKind{name: "mirred", parse: parseMirred, check: checkMirred}

func parseMirred(w *words, s *System) (*actionRequest, *ToolError) {
	if err := expect(w, "mirred"); err != nil {
		return nil, err
	}
	if !w.more() {
		return nil, incomplete()
	}
	if !w.matches("egress", "ingress", "index") {
		return nil, tool("mirred option not supported %s", w.peek())
	}
	m := &mirred{}
	r := &actionRequest{params: m, control: Pipe}
	direction, action, name, err := m.words(w, r)
	if err != nil {
		return nil, err
	}
	if !direction {
		r.lookup, r.params = true, nil
		return r, nil
	}
	if !action {
		return nil, tool("mirred: mirror or redirect is missing")
	}
	if name != "" {
		if m.device, err = s.device(name); err != nil {
			return nil, err
		}
	}
	if m.redirect {
		r.control = Stolen
	} else if r.control, err = parseControlOr(w, Pipe); err != nil {
		return nil, err
	}
	if r.index != 0 && w.matches("index") {
		return nil, tool("mirred: Illegal double index")
	}
	index, err := parseIndex(w, "mirred")
	r.index = max(r.index, index)
	return r, err
}

// words reads direction, action and target.
func (m *mirred) words(w *words, r *actionRequest) (direction, action bool, name string, err *ToolError) {
	for w.more() {
		switch {
		case !direction && w.matches("egress"), !direction && w.matches("ingress"):
			m.ingress, direction = w.matches("ingress"), true
			if w.matches("egress") {
				m.ingress = false
			}
			w.skip()
			continue
		case w.matches("index"):
			if r.index, err = parseIndex(w, "mirred"); err != nil {
				return
			}
			if !direction {
				return
			}
			continue
		case !direction:
			return false, false, "", tool("was expecting egress or ingress (%s)", w.peek())
		case !action && w.matches("mirror"):
			action = true
		case !action && w.matches("redirect"):
			action, m.redirect = true, true
		case action && w.matches("blockid"):
			text, e := w.value()
			if e != nil {
				return false, false, "", e
			}
			n, ok := number32(text, 0)
			if !ok || n == 0 {
				return false, false, "", wrong(text, "invalid block ID")
			}
			m.block = n
			if w.matches("dev") {
				return false, false, "", tool("Mustn't specify blockid and dev simultaneously")
			}
			return
		case action && w.matches("dev"):
			name, err = w.value()
			return
		default:
			return
		}
		w.skip()
	}
	return
}

// checkMirred wants a target.
//
// Ref: act_mirred.c, tcf_mirred_init
func checkMirred(_ *System, r *actionRequest, _ *Block) *KernelError {
	m := r.params.(*mirred)
	if m.device == nil && m.block == 0 {
		return refuse(syscall.EINVAL, "Must specify device or block")
	}
	return nil
}

// mirredNesting is how deep redirections may nest where Config does not say.
//
// Ref: act_mirred.c, MIRRED_NEST_LIMIT
const mirredNesting = 3

func (m *mirred) run(s *System, p *Packet, a *Action) Code {
	s.path.depth++
	defer func() { s.path.depth-- }()
	if s.path.depth > s.config.Nesting {
		return Shot
	}
	a.count(p)
	if m.block != 0 {
		return m.blockcast(s, p, a)
	}
	if s.byIndex[m.device.Index] != m.device {
		a.Overlimits++
		return a.Control
	}
	return m.send(s, p, a, m.device, a.Control)
}

// send hands the packet or a copy to a device. At ingress a redirected packet
// goes itself; elsewhere a copy goes and the control is returned.
//
// Ref: act_mirred.c, tcf_mirred_to_dev
func (m *mirred) send(s *System, p *Packet, a *Action, to *Device, control Code) Code {
	if to.Down {
		if m.redirect {
			return Shot
		}
		return control
	}
	copied := s.path.packet()
	p.clone(copied)
	copied.IIF = p.Device.Index
	copied.Device = to
	copied.redirected = m.redirect
	failed := s.forward(copied, p.Ingress, m.ingress)
	if failed {
		a.Overlimits++
	}
	if m.redirect && p.Ingress {
		return Consumed
	}
	return control
}

// blockcast copies to all ports of a block but the one that the packet came
// in by.
//
// Ref: act_mirred.c, tcf_blockcast
func (m *mirred) blockcast(s *System, p *Packet, a *Action) Code {
	b := s.blocks[m.block]
	if b == nil {
		a.Overlimits++
		return Shot
	}
	for _, d := range b.devices() {
		if d.Index == p.IIF || d == p.Device {
			continue
		}
		mirror := *m
		mirror.redirect = false
		mirror.send(s, p, a, d, a.Control)
	}
	if m.redirect {
		return Shot.redirected(p)
	}
	return a.Control
}

// redirected is the code of a blockcast that redirects: the original goes.
func (Code) redirected(p *Packet) Code {
	if p.Ingress {
		return Consumed
	}
	return Stolen
}

func (m *mirred) show(o *printer, a *Action) {
	o.put("kind", "%s ", "mirred")
	direction, action := "Egress", "Mirror"
	if m.ingress {
		direction = "Ingress"
	}
	if m.redirect {
		action = "Redirect"
	}
	if o.JSON {
		o.member("mirred_action", lower(action))
		o.member("direction", lower(direction))
		if m.block != 0 {
			o.member("to_blockid", m.block)
		} else {
			o.member("to_dev", m.device.Name)
		}
	} else {
		target := fmt.Sprintf("blockid %d", m.block)
		if m.block == 0 {
			target = "device " + m.device.Name
		}
		o.text("(%s %s to %s)", direction, action, target)
	}
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t")
}

// flow translates to the four actions of mirred.
//
// Ref: act_mirred.c, tcf_mirred_offload_act_setup
func (m *mirred) flow(*Action) ([]offload.Action, error) {
	if m.device == nil {
		return nil, refuse(syscall.EOPNOTSUPP, "act_mirred: Unsupported mirred offload")
	}
	id := offload.ActMirror
	switch {
	case m.redirect && m.ingress:
		id = offload.ActRedirectIngress
	case m.redirect:
		id = offload.ActRedirect
	case m.ingress:
		id = offload.ActMirrorIngress
	}
	return []offload.Action{{ID: id, Device: m.device.Name}}, nil
}
