package expr

import "syscall"

// MaxRuleSize is what a rule's expressions may take in the kernel's memory,
// in bytes, plus one.
// Ref: nf_tables_api.c, nf_tables_newrule; include/net/netfilter/nf_tables.h,
// struct nft_rule, dlen.
const MaxRuleSize = 1 << 12

// CheckSize refuses rules whose expressions together are too large (EFBIG).
// Sizes are those of a 64-bit kernel (observed on Linux 6.18, where the limit
// meets rules of more than about 64 expressions).
func CheckSize(rule []Expr) error {
	size := 0
	for _, e := range rule {
		size += kernelSize(e)
	}
	if size >= MaxRuleSize {
		return refuse(syscall.EFBIG, "expressions take %d bytes, more than %d", size, MaxRuleSize-1)
	}
	return nil
}

// kernelSize is the size of an expression in the kernel: the pointer to its
// operations and its private data, rounded to 8.
func kernelSize(e Expr) int {
	switch e := e.(type) {
	case *Notrack:
		return 8
	case *Immediate, *Quota, *Log, *Inner:
		return 32
	case *Cmp:
		return e.kernelSize()
	case *Bitwise:
		if e.Op == BitwiseMaskXor && e.Len == 4 {
			return 24 // the fast form
		}
		return 64
	case *Range:
		return 48
	case *Payload:
		if e.Write {
			return 24
		}
	case *Numgen:
		if e.Random {
			return 24
		}
		return 32
	case *Hash, *ConnLimit:
		return 24
	case *Limit:
		if e.Bytes {
			return 48
		}
		return 56
	case *Lookup:
		return 56
	case *Objref:
		if e.IsMap {
			return 56
		}
	case *Dynset:
		return 96
	case *XT:
		return 8 + (len(e.Info)+7)&^7
	}
	return 16
}

// kernelSize tells the forms of cmp apart: up to 4 and up to 16 bytes for
// equality, and one for everything else.
// Ref: nft_cmp.c, nft_cmp_select_ops.
func (e *Cmp) kernelSize() int {
	switch {
	case e.Op > CmpNeq:
		return 32
	case len(e.Value.Bytes) <= 4:
		return 24
	}
	return 48
}
