package expr

// Masq translates the source to the address of the outgoing interface.
// Ref: nft_masq.c.
type Masq struct {
	ProtoMin, ProtoMax Reg
	HasProto           bool
	HasProtoMax        bool
	Flags              uint32
}

// Kind is masq.
func (*Masq) Kind() string { return "masq" }

// AppendText appends `masq`, with what applies of proto_min, proto_max and
// flags.
func (e *Masq) AppendText(b []byte) []byte {
	b = appendPorts(append(b, "masq"...), e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	return appendFlags(b, e.Flags)
}

// Check refuses families other than ip, ip6 and inet (ENOENT) and unknown
// flags (EINVAL).
// Ref: nft_masq.c, nft_masq_init.
func (e *Masq) Check(c *Checker) error {
	if err := c.only("masq", familyIP, familyIP6, familyInet); err != nil {
		return err
	}
	if err := checkNATFlags(e.Flags); err != nil {
		return err
	}
	return c.loadPorts(e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
}

// Registers reads the ports that are there.
func (e *Masq) Registers(*Place) (u RegUse) {
	u.addPorts(e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	return u
}

func parseMasq(p *textParser) Expr {
	e := &Masq{}
	e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax = p.ports()
	e.Flags = p.flags()
	return e
}
