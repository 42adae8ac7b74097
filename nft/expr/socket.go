package expr

import (
	"syscall"

	"verdict/catalog"
)

// Socket loads a property of the socket that would take the packet.
// Ref: nft_socket.c.
type Socket struct {
	Key   *catalog.Key // transparent, mark, wildcard, cgroupv2
	Level uint32       // cgroupv2: the ancestor's depth; text does not show it
	Dst   Reg
}

// Kind is socket.
func (*Socket) Kind() string { return "socket" }

// AppendText appends `socket load mark => reg 1`.
func (e *Socket) AppendText(b []byte) []byte {
	return appendKey(append(b, "socket "...), e.Key, false, 0, e.Dst)
}

// Check refuses levels above 255 (ERANGE), families other than ip, ip6 and
// inet and unknown keys (EOPNOTSUPP).
// Ref: nft_socket.c, nft_socket_init.
func (e *Socket) Check(c *Checker) error {
	if e.Level > 255 {
		return refuse(syscall.ERANGE, "cgroup level %d is larger than 255", e.Level)
	}
	switch c.Place.Family {
	case familyIP, familyIP6, familyInet:
	default:
		return refuse(syscall.EOPNOTSUPP, "socket exists in ip, ip6 and inet tables only")
	}
	if e.Key == nil {
		return refuse(syscall.EOPNOTSUPP, "unknown socket key")
	}
	return c.store(e.Dst, keyLen(e.Key))
}

// Registers writes Dst.
func (e *Socket) Registers(*Place) RegUse { return writes(e.Dst, keyLen(e.Key)) }

func parseSocket(p *textParser) Expr {
	p.expect("load")
	e := &Socket{Key: p.key("socket key", catalog.SocketKeys)}
	_, e.Dst = p.keyRegister(false)
	return e
}
