package tc

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"syscall"

	"verdict/offload"
)

// tunnelKey sets or takes away tunnel metadata.
type tunnelKey struct {
	release bool
	tunnel  Tunnel
	src     netip.Addr
	dst     netip.Addr
	noCsum  bool
	noFrag  bool
	options string
	kind    string // of the options
	hasPort bool
}

var kindTunnelKey = &actionKind{name: "tunnel_key", parse: parseTunnelKey, check: checkTunnelKey}

func parseTunnelKey(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "tunnel_key"); err != nil {
		return nil, err
	}
	t := &tunnelKey{}
	r := &actionRequest{params: t}
	set, unset := false, false
	for w.more() {
		switch {
		case w.matches("unset"):
			unset, t.release = true, true
			w.skip()
			continue
		case w.matches("set"):
			set = true
			w.skip()
			continue
		}
		known, err := t.word(w)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
	}
	if err := r.finish(w, "tunnel_key", Pipe); err != nil {
		return nil, err
	}
	switch {
	case set && unset:
		return nil, tool("tunnel_key: set and unset")
	case set && (!t.src.IsValid() || !t.dst.IsValid()):
		return nil, tool("set needs tunnel_key parameters")
	case !set && !unset:
		r.lookup = true
		if r.index == 0 {
			return nil, tool("tunnel_key: set or unset is missing")
		}
	}
	t.fill()
	return r, nil
}

// fill makes the metadata.
func (t *tunnelKey) fill() {
	t.tunnel.Set = true
	t.tunnel.IPv6 = t.src.Is6()
	if t.src.IsValid() {
		copy(t.tunnel.Src[:], t.src.AsSlice())
		copy(t.tunnel.Dst[:], t.dst.AsSlice())
	}
}

func (t *tunnelKey) word(w *words) (bool, *ToolError) {
	switch {
	case w.matches("csum"):
		t.noCsum = false
		w.skip()
		return true, nil
	case w.matches("nocsum"):
		t.noCsum = true
		w.skip()
		return true, nil
	case w.matches("nofrag"):
		t.noFrag = true
		w.skip()
		return true, nil
	}
	name := w.peek()
	switch name {
	case "src_ip", "dst_ip", "id", "dst_port", "geneve_opts", "vxlan_opts", "erspan_opts", "tos", "ttl":
	default:
		return false, nil
	}
	text, err := w.value()
	if err != nil {
		return false, err
	}
	if !t.set(name, text) {
		return false, tool("Illegal %q", name)
	}
	return true, nil
}

func (t *tunnelKey) set(name, text string) (ok bool) {
	switch name {
	case "src_ip":
		t.src, ok = anyAddress(text)
	case "dst_ip":
		t.dst, ok = anyAddress(text)
	case "id":
		t.tunnel.KeyID, ok = number32(text, 10)
		t.tunnel.HasKeyID = true
	case "dst_port":
		t.tunnel.DstPort, ok = number16(text, 10)
		t.hasPort = true
	case "tos":
		t.tunnel.TOS, ok = number8(text, 10)
	case "ttl":
		t.tunnel.TTL, ok = number8(text, 10)
	default:
		t.kind, t.options = strings.TrimSuffix(name, "_opts"), text
		t.tunnel.OptionKind, t.tunnel.Options, ok = tunnelOptions(t.kind, text)
	}
	return ok
}

// Flags of the kernel's tunnel options.
//
// Ref: include/uapi/linux/if_tunnel.h
const (
	optGeneve = 0x0800
	optVXLAN  = 0x1000
	optERSPAN = 0x4000
	optGTP    = 0x8000
)

// tunnelOptions reads options as text and returns their kind and bytes.
func tunnelOptions(kind, text string) (uint16, []byte, bool) {
	switch kind {
	case "geneve":
		b, ok := geneveOptions(text)
		return optGeneve, b, ok
	case "vxlan":
		n, ok := number32(text, 0)
		return optVXLAN, []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, ok
	case "erspan":
		b, ok := erspanOptions(text)
		return optERSPAN, b, ok
	}
	return 0, nil, false
}

// geneveOptions reads CLASS:TYPE:DATA[,...] in hexadecimal.
func geneveOptions(text string) (out []byte, ok bool) {
	for _, o := range strings.Split(text, ",") {
		f := strings.Split(o, ":")
		if len(f) != 3 {
			return nil, false
		}
		class, okClass := number16(f[0], 16)
		typ, okType := number8(f[1], 16)
		data, err := hex.DecodeString(f[2])
		if !okClass || !okType || err != nil || len(data)%4 != 0 || len(data) > 127 {
			return nil, false
		}
		out = append(out, byte(class>>8), byte(class), typ, byte(len(data)/4))
		out = append(out, data...)
	}
	return out, len(out) <= offload.MaxEncOpts
}

// erspanOptions reads VERSION:INDEX:DIRECTION:HWID.
func erspanOptions(text string) ([]byte, bool) {
	f := strings.Split(text, ":")
	if len(f) != 4 {
		return nil, false
	}
	var n [4]uint32
	for i := range f {
		v, ok := uint32(0), true
		if f[i] != "" {
			v, ok = number32(f[i], 0)
		}
		if !ok {
			return nil, false
		}
		n[i] = v
	}
	return []byte{byte(n[0]), byte(n[1] >> 24), byte(n[1] >> 16), byte(n[1] >> 8), byte(n[1]), byte(n[2]), byte(n[3])}, n[0] == 1 || n[0] == 2
}

func anyAddress(s string) (netip.Addr, bool) {
	if a, ok := address4(s); ok {
		return a, true
	}
	a, err := netip.ParseAddr(s)
	return a, err == nil
}

// checkTunnelKey wants addresses of one family.
//
// Ref: act_tunnel_key.c, tunnel_key_init
func checkTunnelKey(_ *System, r *actionRequest, _ *Block) *KernelError {
	t := r.params.(*tunnelKey)
	if !t.release && t.src.Is4() != t.dst.Is4() {
		return refuse(syscall.EINVAL, "Missing either ipv4 or ipv6 src and dst")
	}
	return nil
}

func (t *tunnelKey) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	p.void()
	if t.release {
		p.Tunnel = Tunnel{}
	} else {
		p.Tunnel = t.tunnel
	}
	return a.Control
}

func (t *tunnelKey) show(o *printer, a *Action) {
	o.put("kind", "%s ", "tunnel_key")
	if t.release {
		o.put("mode", " %s", "unset")
	} else {
		o.put("mode", " %s", "set")
		t.showSet(o)
	}
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t ")
}

func (t *tunnelKey) showSet(o *printer) {
	line := func(key, format string, v any) {
		o.nl()
		o.put(key, "\t"+format, v)
	}
	line("src_ip", "src_ip %s", t.src.String())
	line("dst_ip", "dst_ip %s", t.dst.String())
	if t.tunnel.HasKeyID {
		line("key_id", "key_id %d", t.tunnel.KeyID)
	}
	if t.hasPort {
		line("dst_port", "dst_port %d", t.tunnel.DstPort)
	}
	if t.options != "" {
		line(t.kind+"_opts", t.kind+"_opts %s", t.options)
	}
	csum := "csum"
	if t.noCsum {
		csum = "nocsum"
	}
	line("flag", "%s", csum)
	if t.noFrag {
		line("flag", "%s", "nofrag")
	}
	if t.tunnel.TOS != 0 {
		line("tos", "tos 0x%x", t.tunnel.TOS)
	}
	if t.tunnel.TTL != 0 {
		line("ttl", "ttl %d", t.tunnel.TTL)
	}
}

func (t *tunnelKey) flow(*Action) ([]offload.Action, error) {
	if t.release {
		return one(offload.ActTunnelDecap), nil
	}
	return one(offload.ActTunnelEncap), nil
}
