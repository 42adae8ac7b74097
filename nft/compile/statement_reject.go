package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// reject evaluates a reject statement. Tests that it needs go to the head of
// the rule, so that no statement before it acts on packets that would not be
// rejected.
func (r *rule) reject(s *syntax.Reject) {
	out := &expr.Reject{}
	network := r.ctx.layers[catalog.BaseNetwork].proto
	mixed := r.family == catalog.FamilyInet || r.family == catalog.FamilyBridge || r.family == catalog.FamilyNetdev
	if r.family == catalog.FamilyARP {
		r.errorf(s.Span, "compile/family", "reject is not supported in family arp")
		return
	}
	if network == catalog.ARP && s.With.Text != "icmp" && s.With.Text != "icmpv6" {
		r.errorf(s.Span, "compile/reject", "cannot reject this network family")
		return
	}
	switch s.With.Text {
	case "":
		r.defaultReject(out, network, mixed)
	case "tcp":
		out.Type = expr.RejectTCP
		l := r.ctx.layers[catalog.BaseTransport]
		switch {
		case l.proto == nil:
			r.prepended(func() bool { return r.depend(r.ctx, catalog.TCP, s.Span) })
		case l.proto != catalog.TCP || len(l.also) > 0:
			r.errorf(firstWord(s.Span), "compile/reject", "you cannot use tcp reset with this protocol").Related = []diag.Span{l.at}
			return
		}
	case "icmpx":
		if !mixed {
			r.errorf(s.Span, "compile/reject", "abstracted ICMP unreachable not supported")
			return
		}
		out.Type = expr.RejectICMPX
		if !r.rejectCode(s, catalog.ICMPXCode, out) {
			return
		}
	default:
		want, typ := catalog.IP, catalog.ICMPCode
		if s.With.Text == "icmpv6" {
			want, typ = catalog.IP6, catalog.ICMPv6Code
		}
		if network == nil && mixed {
			r.prepended(func() bool { return r.depend(r.ctx, want, s.Span) })
		} else if network != want {
			at := s.Span
			if s.Code != nil {
				at = s.Code.Place()
			}
			d := r.errorf(at, "compile/conflicting-protocols", "conflicting protocols specified: ip vs ip6")
			if l := r.ctx.layers[catalog.BaseNetwork]; l.at.IsValid() {
				d.Related = []diag.Span{l.at}
			} else {
				d.Related = []diag.Span{firstWord(s.Span)}
			}
			return
		}
		if !r.rejectCode(s, typ, out) {
			return
		}
	}
	r.ended = true
	r.insert(emitted{out})
}

// Codes of the default rejection.
const (
	icmpPortUnreachable   = 3
	icmpv6PortUnreachable = 4
	icmpxPortUnreachable  = 1
)

func (r *rule) defaultReject(out *expr.Reject, network *catalog.Protocol, mixed bool) {
	switch {
	case network == catalog.IP:
		out.Code = icmpPortUnreachable
	case network == catalog.IP6:
		out.Code = icmpv6PortUnreachable
	case mixed:
		out.Type, out.Code = expr.RejectICMPX, icmpxPortUnreachable
	}
}

func (r *rule) rejectCode(s *syntax.Reject, t *catalog.Type, out *expr.Reject) bool {
	if s.Code == nil {
		r.errorf(s.Span, "compile/reject", "an icmp code is needed")
		return false
	}
	code := *t
	code.Description = "reject " + t.Description
	n, ok := r.scalar(s.Code, typeOf(&code))
	out.Code = uint8(n.lo)
	return ok
}

// prepended runs f and moves the statements that it adds to the head.
func (r *rule) prepended(f func() bool) bool {
	n := len(r.stmts)
	ok := f()
	added := append([]statement(nil), r.stmts[n:]...)
	copy(r.stmts[len(added):], r.stmts[:n])
	copy(r.stmts, added)
	return ok
}
