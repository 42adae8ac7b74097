package expr

// Redir redirects to the host itself.
// Ref: nft_redir.c.
type Redir struct {
	ProtoMin, ProtoMax Reg
	HasProto           bool
	HasProtoMax        bool
	Flags              uint32
}

// Kind is redir.
func (*Redir) Kind() string { return "redir" }

// AppendText appends `redir`, with what applies of proto_min, proto_max and
// flags.
func (e *Redir) AppendText(b []byte) []byte {
	b = appendPorts(append(b, "redir"...), e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	return appendFlags(b, e.Flags)
}

// Check refuses families other than ip, ip6 and inet (ENOENT) and unknown
// flags (EINVAL).
// Ref: nft_redir.c, nft_redir_init.
func (e *Redir) Check(c *Checker) error {
	if err := c.only("redir", familyIP, familyIP6, familyInet); err != nil {
		return err
	}
	if err := checkNATFlags(e.Flags); err != nil {
		return err
	}
	return c.loadPorts(e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
}

// Registers reads the ports that are there.
func (e *Redir) Registers(*Place) (u RegUse) {
	u.addPorts(e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	return u
}

func parseRedir(p *textParser) Expr {
	e := &Redir{}
	e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax = p.ports()
	e.Flags = p.flags()
	return e
}
