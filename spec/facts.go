package spec

import (
	"fmt"
	"slices"
	"strings"

	"verdict"
	"verdict/catalog"
	"verdict/engine"
	"verdict/nft/expr"
	"verdict/packet"
	"verdict/packet/build"
)

// facts renders what the rules did to a packet besides its fate.
func facts(e *verdict.Engine, in *engine.Input, o *verdict.Outcome) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, ", "+format, args...) }
	w := e.Worker()
	if o.Fate == engine.Queued {
		add("queue=%d", o.Verdict.Queue)
		if o.Verdict.Bypass {
			add("bypass")
		}
	}
	meta := w.Meta()
	if meta.Mark != in.Facts.Mark {
		add("mark=%#x", meta.Mark)
	}
	if meta.Priority != in.Facts.Priority {
		add("priority=%#x", meta.Priority)
	}
	if meta.NFTrace {
		add("nftrace")
	}
	connection(e, add)
	for _, effect := range w.Machine().Effects.List {
		switch effect.Expr.(type) {
		case *expr.Log, *expr.Dup, *expr.Fwd, *expr.Reject, *expr.Synproxy:
			add("%s", effect.Expr.Kind())
		}
	}
	for i := range o.Made {
		var made packet.View
		made.Decode(packet.LinkEthernet, o.Made[i].Data, len(o.Made[i].Data))
		add("%s: %s", o.Made[i].Kind, build.Text(&made))
	}
	if o.Changed {
		b.WriteString(" → " + changedFields(in, o, w.View()))
	}
	return b.String()
}

// connection renders the packet's connection where connections are followed.
func connection(e *verdict.Engine, add func(string, ...any)) {
	p := e.Engine().Program()
	if !p.NeedsCT && !p.NeedsCT6 {
		return
	}
	at := e.Worker().Attachment()
	for _, symbol := range catalog.CTState.Symbols {
		if uint64(at.State()) == symbol.Value {
			add("ct=%s", symbol.Name)
		}
	}
	if at.Conn != nil && at.Conn.Mark != 0 {
		add("ctmark=%#x", at.Conn.Mark)
	}
}

// changedFields gives the fields that differ from the packet as it came, in
// the text of package packet/build; the whole text where fields only vanished.
func changedFields(in *engine.Input, o *verdict.Outcome, now *packet.View) string {
	var before packet.View
	before.Decode(in.LinkType, in.Data, in.OrigLen)
	was := splitFields(build.Text(&before))
	text := build.Text(now)
	var changed []string
	for _, field := range splitFields(text) {
		if i := slices.Index(was, field); i >= 0 {
			was = slices.Delete(was, i, i+1)
			continue
		}
		changed = append(changed, field)
	}
	if len(changed) == 0 {
		return text
	}
	return strings.Join(changed, " ")
}

// splitFields splits a packet's text before each word that names a header,
// unless it is the value of a field: `ip protocol tcp`, `arp daddr ip 10.0.0.1`.
func splitFields(text string) []string {
	var fields []string
	var current []string
	for _, w := range strings.Fields(text) {
		starts := catalog.ProtocolByName(w) != nil || w == "payload" || w == "length"
		if starts && len(current) != 2 && len(current) > 0 || len(current) == 2 && current[0] == "payload" {
			fields, current = append(fields, strings.Join(current, " ")), nil
		}
		current = append(current, w)
	}
	return append(fields, strings.Join(current, " "))
}
