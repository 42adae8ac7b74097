package conntrack

// Attachment is what conntrack hangs on a packet. A copy of an attachment that
// lives on beside the original must come from Clone, because a connection
// counts those that hold it.
type Attachment struct {
	Conn *Conn // nil where the packet has none
	Info Info
	// HasTemplate says that a rule set a zone before tracking.
	HasTemplate  bool
	TemplateZone Zone
}

// Reset detaches everything. A connection that was not confirmed ends when its
// last packet lets go of it.
func (a *Attachment) Reset() {
	if a.Conn != nil {
		a.Conn.release()
	}
	*a = Attachment{Info: InfoNone}
}

// Clone returns an attachment for another packet, which must be Reset too.
func (a *Attachment) Clone() Attachment {
	if a.Conn != nil {
		a.Conn.refs++
	}
	return *a
}

// Answer returns the attachment of a packet that the host sends back because
// of this one, such as a reject: related, in the other direction. It must be
// Reset too.
// Ref: nf_conntrack_core.c, nf_conntrack_attach.
func (a *Attachment) Answer() Attachment {
	answer := a.Clone()
	switch {
	case a.HasTemplate:
		answer.Info = InfoRelatedReply
	case a.Conn == nil:
		answer.Info = InfoNone
	case a.Info.Direction() == Original:
		answer.Info = InfoRelatedReply
	default:
		answer.Info = InfoRelated
	}
	return answer
}

// Untrack marks the packet as one that is not to be tracked; it does nothing
// once the packet has a connection, a template or that mark.
// Ref: nft_ct.c, nft_notrack_eval.
func (a *Attachment) Untrack() {
	if a.Conn == nil && !a.HasTemplate {
		a.Info = InfoUntracked
	}
}

// Unknown reports whether tracking could not tell the packet's connection,
// because the capture holds too little of it. Nothing that depends on ct can
// be told then, State and the other keys included.
func (a *Attachment) Unknown() bool { return a.Conn == nil && a.Info == InfoUnknown }

// State gives the bit that `ct state` sees.
// Ref: nft_ct.c, nft_ct_get_eval.
func (a *Attachment) State() uint32 {
	switch {
	case a.Conn != nil:
		return 1 << (a.Info%3 + 1)
	case a.Info == InfoUntracked:
		return StateUntracked
	case a.HasTemplate && a.Info == InfoRelatedReply:
		return StateRelated
	case a.HasTemplate:
		return StateNew
	}
	return StateInvalid
}

// attach gives the packet a connection, which the caller already counted.
func (a *Attachment) attach(c *Conn, info Info) { a.Conn, a.Info = c, info }

// detach lets go of the connection; why is InfoNone or another value without
// connection.
func (a *Attachment) detach(why Info) {
	a.Reset()
	a.Info = why
}
