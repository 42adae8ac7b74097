package expr

import (
	"strings"
	"syscall"

	"verdict/catalog"
)

// Immediate puts a value or verdict into a register.
// Ref: nft_immediate.c.
type Immediate struct {
	Dst  Reg
	Data Data
}

// Kind is immediate.
func (*Immediate) Kind() string { return "immediate" }

// AppendText appends `immediate reg 1 0x00000001` or `immediate reg 0 accept`.
func (e *Immediate) AppendText(b []byte) []byte {
	b = append(b, "immediate "...)
	b = append(appendReg(b, e.Dst), ' ')
	if v := e.Data.Verdict; v != nil {
		return AppendVerdict(b, *v)
	}
	return AppendValue(b, e.Data.Value)
}

// Check refuses constants that are empty (EINVAL) or longer than 16 bytes
// (EOVERFLOW), and verdicts as CheckVerdict does.
// Ref: nft_immediate.c, nft_immediate_init.
func (e *Immediate) Check(c *Checker) error {
	if v := e.Data.Verdict; v != nil {
		if err := c.Place.CheckVerdict(*v); err != nil {
			return err
		}
		return c.storeVerdict(e.Dst)
	}
	if err := value("constant", e.Data.Value, 0); err != nil {
		return err
	}
	return c.store(e.Dst, uint32(len(e.Data.Value.Bytes)))
}

// CheckVerdict checks a verdict of an immediate or of a map: kinds other than
// accept, drop, continue, break, return, jump and goto are refused (EINVAL),
// and so are jumps without target (EINVAL), to a chain that does not exist
// (ENOENT) or to a base chain (EOPNOTSUPP).
// Ref: nf_tables_api.c, nft_verdict_init.
func (p *Place) CheckVerdict(v Verdict) error {
	switch v.Kind {
	case catalog.VerdictAccept, catalog.VerdictDrop, catalog.VerdictContinue, catalog.VerdictBreak, catalog.VerdictReturn:
		return nil
	case catalog.VerdictJump, catalog.VerdictGoto:
	default:
		return refuse(syscall.EINVAL, "verdict %s (%d) cannot be given by a rule", v.Kind, int32(v.Kind))
	}
	if v.Chain == "" {
		return refuse(syscall.EINVAL, "%s without a chain", v.Kind)
	}
	if p.ChainExists == nil {
		return refuse(syscall.ENOENT, "%s to chain %q, which does not exist", v.Kind, v.Chain)
	}
	switch exists, base := p.ChainExists(v.Chain); {
	case !exists:
		return refuse(syscall.ENOENT, "%s to chain %q, which does not exist", v.Kind, v.Chain)
	case base:
		return refuse(syscall.EOPNOTSUPP, "%s to chain %q, which is a base chain", v.Kind, v.Chain)
	}
	return nil
}

// Registers writes Dst.
func (e *Immediate) Registers(*Place) RegUse {
	if e.Data.Verdict != nil {
		return writes(RegVerdict, 0)
	}
	return writes(e.Dst, uint32(len(e.Data.Value.Bytes)))
}

func parseImmediate(p *textParser) Expr {
	e := &Immediate{Dst: p.reg()}
	if strings.HasPrefix(p.peek(), "0x") || e.Dst != RegVerdict {
		e.Data.Value = p.value()
		return e
	}
	v := p.verdict()
	e.Data.Verdict = &v
	return e
}

var verdictKinds = []catalog.VerdictKind{
	catalog.VerdictAccept, catalog.VerdictDrop, catalog.VerdictContinue, catalog.VerdictBreak,
	catalog.VerdictReturn, catalog.VerdictJump, catalog.VerdictGoto, catalog.VerdictQueue, catalog.VerdictStolen,
}

// verdict reads accept, or jump -> chain.
func (p *textParser) verdict() (v Verdict) {
	start := p.space()
	w := p.word()
	for _, k := range verdictKinds {
		if k.String() != w {
			continue
		}
		v.Kind = k
		if k == catalog.VerdictJump || k == catalog.VerdictGoto {
			p.expect("->")
			v.Chain = p.name("a chain")
		}
		return v
	}
	p.failAt(start, "unknown verdict %s", found(w))
	return v
}
