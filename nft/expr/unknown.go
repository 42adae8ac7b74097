package expr

import (
	"encoding/hex"
	"syscall"
)

// Unknown is an expression that the kernel has and this package has not, or
// one with operands that this package cannot hold. It is kept and shown, but
// cannot be evaluated.
type Unknown struct {
	Name string
	// Data are its netlink attributes as they came.
	Data []byte
}

// Kind is the kernel's name of the expression.
func (e *Unknown) Kind() string { return e.Name }

// AppendText appends `NAME unknown 0x0800...`, with the attributes as
// hexadecimal digits.
func (e *Unknown) AppendText(b []byte) []byte {
	b = append(append(b, e.Name...), " unknown 0x"...)
	return hex.AppendEncode(b, e.Data)
}

// Check refuses it (ENOENT), since nobody knows what it means.
func (e *Unknown) Check(*Checker) error {
	return refuse(syscall.ENOENT, "expression %s is unknown", e.Name)
}

// Registers uses none that are known.
func (*Unknown) Registers(*Place) RegUse { return RegUse{} }
