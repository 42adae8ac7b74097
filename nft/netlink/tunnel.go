package netlink

import "verdict/nft/ruleset"

// Numbers of tunnel objects. Ref: nft_tunnel.c.
const (
	tunnelID    = 1
	tunnelIP    = 2
	tunnelIP6   = 3
	tunnelFlags = 4
	tunnelTOS   = 5
	tunnelTTL   = 6
	tunnelSport = 7
	tunnelDport = 8
	tunnelOpts  = 9

	optsVXLAN  = 1
	optsERSPAN = 2
	optsGeneve = 3
)

func (w *builder) tunnel(t *ruleset.Tunnel) {
	w.u32(tunnelID, t.ID)
	if len(t.Src) > 0 || len(t.Dst) > 0 {
		kind := uint16(tunnelIP)
		if len(t.Src) == 16 || len(t.Dst) == 16 {
			kind = tunnelIP6
		}
		mark := w.begin(kind)
		if len(t.Src) > 0 {
			w.bytes(1, t.Src)
		}
		if len(t.Dst) > 0 {
			w.bytes(2, t.Dst)
		}
		w.end(mark)
	}
	if t.TOS != 0 {
		w.u8(tunnelTOS, t.TOS)
	}
	if t.TTL != 0 {
		w.u8(tunnelTTL, t.TTL)
	}
	if t.Sport != 0 {
		w.u16(tunnelSport, t.Sport)
	}
	if t.Dport != 0 {
		w.u16(tunnelDport, t.Dport)
	}
	w.tunnelOptions(t)
}

func (w *builder) tunnelOptions(t *ruleset.Tunnel) {
	if t.Kind == "" {
		return
	}
	mark := w.begin(tunnelOpts)
	switch t.Kind {
	case "vxlan":
		inner := w.begin(optsVXLAN)
		w.u32(1, t.VXLANGBP)
		w.end(inner)
	case "erspan":
		inner := w.begin(optsERSPAN)
		w.u32(1, t.ERSPAN.Version)
		if t.ERSPAN.Version == 1 {
			w.u32(2, t.ERSPAN.Index)
		} else {
			w.u8(3, t.ERSPAN.HardwareID)
			w.u8(4, t.ERSPAN.Direction)
		}
		w.end(inner)
	case "geneve":
		for _, o := range t.Geneve {
			inner := w.begin(optsGeneve)
			w.u16(1, o.Class)
			w.u8(2, o.Type)
			w.bytes(3, o.Data)
			w.end(inner)
		}
	}
	w.end(mark)
}

func (f *fields) readTunnelObject() *ruleset.Tunnel {
	f.small(tunnelFlags, 0)
	t := &ruleset.Tunnel{
		ID: f.u32(tunnelID), TOS: f.u8(tunnelTOS), TTL: f.u8(tunnelTTL),
		Sport: f.u16(tunnelSport), Dport: f.u16(tunnelDport),
	}
	for kind, size := range map[uint16]int{tunnelIP: 4, tunnelIP6: 16} {
		if !f.has(kind) {
			continue
		}
		a := parseFields(f.take(kind))
		t.Src, t.Dst = a.address(1, size), a.address(2, size)
		a.small(3, 0) // flow label
		f.odd = f.odd || !a.whole()
	}
	err := eachAttr(f.take(tunnelOpts), func(a attr) error {
		f.readTunnelOption(t, a)
		return nil
	})
	f.odd = f.odd || err != nil
	return t
}

func (f *fields) address(t uint16, size int) []byte {
	v, _ := f.fixed(t, size)
	return v
}

func (f *fields) readTunnelOption(t *ruleset.Tunnel, a attr) {
	o := parseFields(a.value)
	switch a.typ {
	case optsVXLAN:
		t.Kind, t.VXLANGBP = "vxlan", o.u32(1)
	case optsERSPAN:
		t.Kind = "erspan"
		t.ERSPAN.Version, t.ERSPAN.Index = o.u32(1), o.u32(2)
		t.ERSPAN.HardwareID, t.ERSPAN.Direction = o.u8(3), o.u8(4)
	case optsGeneve:
		t.Kind = "geneve"
		t.Geneve = append(t.Geneve, ruleset.GeneveOption{Class: o.u16(1), Type: o.u8(2), Data: o.take(3)})
	default:
		f.odd = true
	}
	f.odd = f.odd || !o.whole()
}
