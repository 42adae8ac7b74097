package expr

import "syscall"

// CmpOp is the relation of a Cmp. Ref: enum nft_cmp_ops.
type CmpOp uint8

// The relations.
const (
	CmpEq CmpOp = iota
	CmpNeq
	CmpLt
	CmpLte
	CmpGt
	CmpGte
)

var cmpOps = [...]string{"eq", "neq", "lt", "lte", "gt", "gte"}

func (op CmpOp) String() string {
	if int(op) < len(cmpOps) {
		return cmpOps[op]
	}
	return "unknown"
}

// Cmp compares a register with a constant, bytewise unsigned.
// Ref: nft_cmp.c.
type Cmp struct {
	Src   Reg
	Op    CmpOp
	Value Value
}

// Kind is cmp.
func (*Cmp) Kind() string { return "cmp" }

// AppendText appends `cmp eq reg 1 0x0016`.
func (e *Cmp) AppendText(b []byte) []byte {
	b = append(append(append(b, "cmp "...), e.Op.String()...), ' ')
	b = append(appendReg(b, e.Src), ' ')
	return AppendValue(b, e.Value)
}

// Check refuses unknown relations (EINVAL) and constants that are empty
// (EINVAL) or longer than 16 bytes (EOVERFLOW).
// Ref: nft_cmp.c, nft_cmp_select_ops, nft_cmp_init.
func (e *Cmp) Check(c *Checker) error {
	if e.Op > CmpGte {
		return refuse(syscall.EINVAL, "unknown relation %d", e.Op)
	}
	if err := value("constant", e.Value, 0); err != nil {
		return err
	}
	return c.load(e.Src, uint32(len(e.Value.Bytes)))
}

// Registers reads Src.
func (e *Cmp) Registers(*Place) RegUse { return reads(e.Src, uint32(len(e.Value.Bytes))) }

func parseCmp(p *textParser) Expr {
	e := &Cmp{Op: CmpOp(p.oneOf("relation", cmpOps[:]))}
	e.Src, e.Value = p.reg(), p.value()
	return e
}

// oneOf reads one of the words and gives its index.
func (p *textParser) oneOf(what string, words []string) int {
	start := p.space()
	w := p.word()
	for i, s := range words {
		if s == w {
			return i
		}
	}
	p.failAt(start, "unknown %s %s", what, found(w))
	return 0
}
