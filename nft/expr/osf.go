package expr

import "syscall"

// OSF fingerprints the sender's operating system.
// Ref: nft_osf.c.
type OSF struct {
	Dst   Reg
	TTL   uint8  // 0 true, 1 loose, 2 skip; text does not show it
	Flags uint32 // 1: version; text does not show them
}

// Kind is osf.
func (*OSF) Kind() string { return "osf" }

// AppendText appends `osf dreg 1`.
func (e *OSF) AppendText(b []byte) []byte {
	return appendNamed(append(b, "osf"...), "dreg", uint64(e.Dst))
}

// osfLen is the length of a fingerprint's name.
const osfLen = 16

// Check refuses unknown TTL modes and flags (EINVAL).
// Ref: nft_osf.c, nft_osf_init.
func (e *OSF) Check(c *Checker) error {
	if e.TTL > 2 {
		return refuse(syscall.EINVAL, "unknown TTL mode %d", e.TTL)
	}
	if e.Flags&^1 != 0 {
		return refuse(syscall.EINVAL, "unknown flags %#x", e.Flags)
	}
	return c.store(e.Dst, osfLen)
}

// Registers writes Dst.
func (e *OSF) Registers(*Place) RegUse { return writes(e.Dst, osfLen) }

func parseOSF(p *textParser) Expr {
	p.expect("dreg")
	return &OSF{Dst: p.regNumber()}
}
