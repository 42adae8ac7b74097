package expr

import "syscall"

// Reject types. Ref: enum nft_reject_types.
const (
	RejectICMP  uint32 = 0
	RejectTCP   uint32 = 1
	RejectICMPX uint32 = 2
)

// Reject answers and drops.
// Ref: nft_reject.c.
type Reject struct {
	Type uint32
	Code uint8
}

// Kind is reject.
func (*Reject) Kind() string { return "reject" }

// AppendText appends `reject type 0 code 3`.
func (e *Reject) AppendText(b []byte) []byte {
	b = appendNamed(append(b, "reject"...), "type", uint64(e.Type))
	return appendNamed(b, "code", uint64(e.Code))
}

// maxICMPXCode is the last code that stands for one of both protocols.
const maxICMPXCode = 3

// Check refuses arp tables (ENOENT), unknown types and unknown icmpx codes
// (EINVAL). icmpx is taken in ip and ip6 tables too, where it only drops.
// Ref: nft_reject.c, nft_reject_init; nft_reject_inet.c.
func (e *Reject) Check(c *Checker) error {
	if err := c.only("reject", familyIP, familyIP6, familyInet, familyBridge, familyNetdev); err != nil {
		return err
	}
	switch e.Type {
	case RejectICMP, RejectTCP:
		return nil
	case RejectICMPX:
		if e.Code > maxICMPXCode {
			return refuse(syscall.EINVAL, "unknown icmpx code %d", e.Code)
		}
		return nil
	}
	return refuse(syscall.EINVAL, "unknown type %d", e.Type)
}

// Registers uses none.
func (*Reject) Registers(*Place) RegUse { return RegUse{} }

func parseReject(p *textParser) Expr {
	e := &Reject{}
	p.expect("type")
	e.Type = uint32(p.uint(32))
	p.expect("code")
	e.Code = uint8(p.uint(8))
	return e
}
