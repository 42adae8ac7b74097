package tc

import (
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/packet"
	"verdict/packet/rewrite"
)

// track does the work between the checks and the result.
func (s *System) track(c *ctAction, p *Packet, family catalog.Family) conntrack.Result {
	cached := c.cached(s, p)
	link := packet.LinkIPv4
	if family == catalog.FamilyIP6 {
		link = packet.LinkIPv6
	}
	c.buffer.Start()
	c.view.Decode(link, p.buf[p.net:p.tail], p.tail-p.net)
	q := conntrack.Packet{View: &c.view, Attachment: &p.CT, Family: family, Prerouting: true, Now: p.Now, Buffer: &c.buffer}
	if !cached {
		if c.zone != 0 {
			p.CT.Reset()
			p.CT.HasTemplate, p.CT.TemplateZone = true, conntrack.Zone{ID: c.zone}
		}
		if p.CT.Info != conntrack.InfoUntracked || p.CT.HasTemplate {
			if s.ct.Track(&q) != conntrack.Accept {
				return conntrack.Drop
			}
		}
	}
	if p.CT.Conn == nil {
		return conntrack.Accept
	}
	if c.nat && s.translate(c, p, &q) != conntrack.Accept {
		return conntrack.Drop
	}
	p.adopt(&c.buffer, &c.view)
	if c.commit {
		conn := p.CT.Conn
		if c.hasMark {
			conn.Mark = conn.Mark&^c.markMask | c.mark&c.markMask
		}
		if c.hasLabel {
			conn.HasLabels = true
			for i := range conn.Labels {
				// labels count from the least significant byte
				m, v := c.labelMask[15-i], c.label[15-i]
				conn.Labels[i] = conn.Labels[i]&^m | v&m
			}
		}
		if c.helper != "" {
			if h, err := conntrack.HelperByName(c.helper, conn.Protocol()); err == nil {
				s.ct.AssignHelper(conn, h)
			}
		}
		if s.ct.Confirm(&q) != conntrack.Accept {
			return conntrack.Drop
		}
		p.adopt(&c.buffer, &c.view)
	}
	return conntrack.Accept
}

// adopt takes over what tracking wrote.
func (p *Packet) adopt(b *rewrite.Buffer, v *packet.View) {
	if !b.Changed() {
		return
	}
	p.touch()
	data := v.Data
	if grown := p.net + len(data); grown > len(p.buf) {
		p.buf = append(p.buf, make([]byte, grown-len(p.buf))...)
		p.own = p.buf
	}
	p.tail = p.net + len(data)
	p.buf = p.buf[:p.tail]
	copy(p.buf[p.net:], data)
}

// cached tells whether the packet's connection serves as it is; if not, the
// packet lets go of it.
//
// Ref: act_ct.c, tcf_ct_skb_nfct_cached
func (c *ctAction) cached(s *System, p *Packet) bool {
	conn := p.CT.Conn
	if conn == nil {
		return false
	}
	if conn.Zone.ID != c.zone || c.force && p.CT.Info.Direction() != conntrack.Original {
		if conn.Zone.ID == c.zone && conn.Confirmed() {
			s.ct.Delete(conn)
		}
		p.CT.Reset()
		p.CT.Info = conntrack.InfoUntracked
		return false
	}
	return true
}

// translate sets a translation up and carries out those of the connection.
//
// Ref: nf_nat_ovs.c, nf_ct_nat
func (s *System) translate(c *ctAction, p *Packet, q *conntrack.Packet) conntrack.Result {
	conn, info := p.CT.Conn, p.CT.Info
	has := conn.Status & (conntrack.StatusSrcNAT | conntrack.StatusDstNAT)
	var m conntrack.Manip
	switch {
	case info != conntrack.InfoNew && has != 0 && (info != conntrack.InfoRelated || c.commit):
		m = conntrack.DestinationManip
		if (has&conntrack.StatusSrcNAT != 0) == (info.Direction() == conntrack.Original) {
			m = conntrack.SourceManip
		}
	case c.natSrc:
		m = conntrack.SourceManip
	case c.natDst:
		m = conntrack.DestinationManip
	default:
		return conntrack.Accept
	}
	r := c.natRange()
	if s.natStep(q, m, r) != conntrack.Accept {
		return conntrack.Drop
	}
	if conn.Status&conntrack.StatusDstNAT == 0 {
		return conntrack.Accept
	}
	if conn.Status&conntrack.StatusSrcNAT != 0 {
		return s.natStep(q, 1-m, r)
	}
	if info.Direction() == conntrack.Original {
		return s.natStep(q, conntrack.SourceManip, nil)
	}
	return conntrack.Accept
}

func (s *System) natStep(q *conntrack.Packet, m conntrack.Manip, r *conntrack.NATRange) conntrack.Result {
	if s.ct.NATUndecided(q, m) {
		if s.ct.SetupNAT(q, m, r) != conntrack.Accept {
			return conntrack.Drop
		}
	}
	return s.ct.Translate(q, m, m == conntrack.DestinationManip, q.Buffer)
}

func (c *ctAction) natRange() *conntrack.NATRange {
	if !c.low.IsValid() {
		return nil
	}
	r := &conntrack.NATRange{HasAddr: true, HasPort: c.lowPort != 0, MinPort: c.lowPort, MaxPort: c.highPort}
	copy(r.MinAddr[:], c.low.AsSlice())
	copy(r.MaxAddr[:], c.high.AsSlice())
	return r
}
