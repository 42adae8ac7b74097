package tc

import "encoding/hex"

// showActions writes a list of actions; first is the number of the first.
func (s *System) showActions(o *printer, list []*Action, first int, detached bool) {
	o.array("actions")
	for i, a := range list {
		if i > 0 && !o.Brief {
			o.nl()
		}
		o.object("")
		o.put("order", "\taction order %d: ", first+i)
		s.showAction(o, a, detached)
		o.endObject()
	}
	o.endArray()
}

// showAction writes one action behind its order.
func (s *System) showAction(o *printer, a *Action, detached bool) {
	if o.Brief {
		o.put("kind", "%s ", a.Kind)
		o.nl()
		return
	}
	a.params.show(o, a)
	if o.Stats {
		o.text("\tAction statistics:")
		o.nl()
		o.object("stats")
		showStats(o, "\t", a)
		o.endObject()
		o.nl()
	}
	if len(a.cookie) > 0 {
		o.put("cookie", "\tcookie %s", hex.EncodeToString(a.cookie))
		o.nl()
	}
	a.showFlags(o, detached)
	if a.hwStats != 0 {
		showHWStats(o, "hw_stats", "\thw_stats", a.hwStats)
	}
	if a.usedStats != 0 {
		showHWStats(o, "used_hw_stats", "\tused_hw_stats", a.usedStats)
	}
}

// showFlags writes the flags; where an action stands alone also its place in
// hardware.
func (a *Action) showFlags(o *printer, detached bool) {
	line := false
	flag := func(name string) {
		if o.JSON {
			o.member(name, true)
			return
		}
		o.text("\t%s", name)
		line = true
	}
	if a.noPercpu {
		flag("no_percpu")
	}
	if detached && a.skipHW {
		flag("skip_hw")
	}
	if detached && a.skipSW {
		flag("skip_sw")
	}
	if detached && a.binds == 0 || detached && !a.bound {
		if a.inHW > 0 {
			flag("in_hw")
			o.put("in_hw_count", " in_hw_count %d", a.inHW)
		} else {
			flag("not_in_hw")
		}
	}
	if line {
		o.nl()
	}
}

var hwStatsNames = []string{"immediate", "delayed"}

func showHWStats(o *printer, key, format string, bits uint8) {
	o.array(key)
	o.text("%s", format)
	if bits == hwStatsDisabled {
		o.element("disabled", " %s")
	} else {
		for i, n := range hwStatsNames {
			if bits>>i&1 != 0 {
				o.element(n, " %s")
			}
		}
	}
	o.endArray()
	o.nl()
}

// element writes a member of an array.
func (o *printer) element(value, format string) {
	if o.JSON {
		o.value(value)
		return
	}
	o.text(format, value)
}

const (
	hwStatsImmediate = 1
	hwStatsDelayed   = 2
	hwStatsDisabled  = 8
)

// showStats writes the counters.
func showStats(o *printer, prefix string, a *Action) {
	o.put("bytes", prefix+"Sent %d bytes", a.Bytes+a.HWBytes)
	o.put("packets", " %d pkt", a.Packets+a.HWPackets)
	o.put("drops", " (dropped %d, ", a.Drops)
	o.put("overlimits", "overlimits %d ", a.Overlimits)
	o.put("requeues", "requeues %d) ", 0)
	if a.HWPackets != 0 {
		o.nl()
		o.put("sw_bytes", prefix+"Sent software %d bytes", a.Bytes)
		o.put("sw_packets", " %d pkt", a.Packets)
		o.nl()
		o.put("hw_bytes", prefix+"Sent hardware %d bytes", a.HWBytes)
		o.put("hw_packets", " %d pkt", a.HWPackets)
	}
	o.nl()
	if !o.JSON {
		o.text("%sbacklog 0b 0p requeues 0", prefix)
		return
	}
	o.member("backlog", 0)
	o.member("qlen", 0)
}

// showIndex writes the last line of most bodies.
func (a *Action) showIndex(o *printer, prefix string) {
	o.nl()
	o.put("index", prefix+"index %d", a.Index)
	o.put("ref", " ref %d", a.refs)
	o.put("bind", " bind %d", a.binds)
	a.showTimes(o)
	o.nl()
}

// showTimes writes the ages, with -s.
func (a *Action) showTimes(o *printer) {
	if !o.Stats {
		return
	}
	now := o.nowNano
	age := func(key, format string, at int64) {
		if sec := (now - at) / 1e9; at != 0 && sec != 0 {
			o.put(key, format, sec)
		}
	}
	age("installed", " installed %d sec", a.installed)
	age("last_used", " used %d sec", max(a.lastUsed, a.installed))
	age("first_used", " firstused %d sec", a.firstUsed)
}

// showControl writes a control.
func showControl(o *printer, prefix string, c Code, suffix string) {
	if !o.JSON {
		o.text("%s%s%s", prefix, c, suffix)
		return
	}
	o.object("control_action")
	switch c.op() {
	case GotoChain:
		o.member("type", "goto")
		o.member("chain", c.number())
	case Jump:
		o.member("type", "jump")
		o.member("jump", c.number())
	default:
		o.member("type", c.String())
	}
	o.endObject()
}
