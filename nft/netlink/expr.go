package netlink

import (
	"fmt"

	"verdict/nft/expr"
)

// Numbers of the lists that hold expressions.
const (
	listElem = 1
	exprName = 1
	exprData = 2
)

// encoder writes expressions; it knows what the batch gave numbers to.
type encoder struct {
	builder
	// chainID gives the number of an anonymous chain within the batch, 0 for
	// chains that are found by name.
	chainID func(chain string) uint32
}

// expression appends name and data of an expression.
func (w *encoder) expression(e expr.Expr) error {
	w.str(exprName, e.Kind())
	if u, ok := e.(*expr.Unknown); ok {
		if len(u.Data) > 0 {
			w.bytes(exprData|attrNested, u.Data)
		}
		return w.err
	}
	mark := w.begin(exprData)
	if err := w.operands(e); err != nil {
		return err
	}
	w.end(mark)
	return w.err
}

// operands dispatches to the file of the expression's group.
func (w *encoder) operands(e expr.Expr) error {
	switch {
	case w.computing(e), w.loading(e), w.acting(e), w.counting(e):
		return w.err
	}
	switch e := e.(type) {
	case *expr.Dynset:
		return w.dynset(e)
	case *expr.Inner:
		return w.inner(e)
	}
	return fmt.Errorf("expression %s has no netlink form", e.Kind())
}

// expressions appends a list of expressions under an attribute.
func (w *encoder) expressions(t uint16, list []expr.Expr) error {
	mark := w.begin(t)
	for _, e := range list {
		inner := w.begin(listElem)
		if err := w.expression(e); err != nil {
			return err
		}
		w.end(inner)
	}
	w.end(mark)
	return w.err
}

// state appends the expressions of elements: one alone, or several as a list.
func (w *encoder) state(one, many uint16, list []expr.Expr) error {
	switch len(list) {
	case 0:
		return nil
	case 1:
		mark := w.begin(one)
		if err := w.expression(list[0]); err != nil {
			return err
		}
		w.end(mark)
		return w.err
	}
	return w.expressions(many, list)
}

// decoders are the readers by the kernel's name of the expression. Each notes
// in the fields what it cannot represent.
var decoders map[string]func(*fields) expr.Expr

func init() {
	decoders = map[string]func(*fields) expr.Expr{
		"bitwise": readBitwise, "byteorder": readByteorder, "cmp": readCmp, "range": readRange,
		"immediate": readImmediate, "lookup": readLookup, "numgen": readNumgen, "hash": readHash,
		"payload": readPayload, "exthdr": readExthdr, "meta": readMeta, "ct": readCT, "rt": readRT,
		"socket": readSocket, "fib": readFib, "osf": readOSF, "tunnel": readTunnel, "xfrm": readXFRM,
		"nat": readNAT, "masq": readMasq, "redir": readRedir, "tproxy": readTProxy, "dup": readDup, "fwd": readFwd,
		"log": readLog, "queue": readQueue, "reject": readReject, "notrack": readNotrack, "synproxy": readSynproxy,
		"flow_offload": readFlowOffload, "match": readMatch, "target": readTarget,
		"counter": readCounter, "limit": readLimit, "quota": readQuota, "connlimit": readConnLimit,
		"last": readLast, "objref": readObjref, "dynset": readDynset, "inner": readInner,
	}
}

// maxDepth bounds expressions within expressions.
const maxDepth = 3

// readExpression reads one expression from its attributes. It never fails on
// what it does not know of an expression, only on bytes that are no attributes,
// and where there is more than a name and data.
func readExpression(b []byte, depth int) (expr.Expr, error) {
	f := parseFields(b)
	if f.err != nil {
		return nil, fmt.Errorf("expression: %w", f.err)
	}
	name, data := f.str(exprName), f.take(exprData)
	if name == "" {
		return nil, fmt.Errorf("expression without a name: %w", errAttr)
	}
	if !f.whole() {
		return nil, fmt.Errorf("expression %s has more than its data: %w", name, errAttr)
	}
	if read := decoders[name]; read != nil && depth < maxDepth {
		d := parseFields(data)
		d.depth = depth
		if e := read(d); e != nil && d.whole() {
			return e, nil
		}
	}
	return &expr.Unknown{Name: name, Data: data}, nil
}

// readExpressions reads a list of expressions.
func readExpressions(b []byte, depth int) ([]expr.Expr, error) {
	var list []expr.Expr
	err := eachAttr(b, func(a attr) error {
		if a.typ != listElem {
			return fmt.Errorf("attribute %d in a list of expressions: %w", a.typ, errAttr)
		}
		e, err := readExpression(a.value, depth)
		list = append(list, e)
		return err
	})
	return list, err
}

// readState reads the expressions of elements.
func (f *fields) readState(one, many uint16) (list []expr.Expr, err error) {
	if f.has(one) {
		e, err := readExpression(f.take(one), f.depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	if f.has(many) {
		more, err := readExpressions(f.take(many), f.depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}
