package expr

import (
	"math"
	"syscall"
)

// Quota matches until, or from, a number of bytes.
// Ref: nft_quota.c.
type Quota struct {
	Bytes, Consumed uint64
	Over            bool
}

// Kind is quota.
func (*Quota) Kind() string { return "quota" }

// AppendText appends `quota bytes 1024 consumed 0 flags 0`.
func (e *Quota) AppendText(b []byte) []byte {
	b = appendNamed(append(b, "quota"...), "bytes", e.Bytes)
	b = appendNamed(b, "consumed", e.Consumed)
	return appendNamed(b, "flags", e.flags())
}

// AppendObjectText appends the text of a quota object:
// `quota bytes 1024 flags 0`.
func (e *Quota) AppendObjectText(b []byte) []byte {
	b = appendNamed(append(b, "quota"...), "bytes", e.Bytes)
	return appendNamed(b, "flags", e.flags())
}

func (e *Quota) flags() uint64 {
	if e.Over {
		return 1
	}
	return 0
}

// Check refuses more than 2^63-1 bytes (EOVERFLOW) and more consumed than the
// quota has (EINVAL).
// Ref: nft_quota.c, nft_quota_do_init.
func (e *Quota) Check(*Checker) error {
	if e.Bytes > math.MaxInt64 {
		return refuse(syscall.EOVERFLOW, "quota of %d bytes", e.Bytes)
	}
	if e.Consumed > e.Bytes {
		return refuse(syscall.EINVAL, "%d bytes consumed of %d", e.Consumed, e.Bytes)
	}
	return nil
}

// Registers uses none.
func (*Quota) Registers(*Place) RegUse { return RegUse{} }

func parseQuota(p *textParser) Expr {
	e := &Quota{}
	p.expect("bytes")
	e.Bytes = p.uint(64)
	p.expect("consumed")
	e.Consumed = p.uint(64)
	e.Over = p.invertFlag()
	return e
}
