package compile

import "verdict/nft/syntax"

// extent is how much a value stands for once the variables in it are replaced.
type extent struct {
	written  int // values that stand in the text itself
	expanded int // values in all
	depth    int // of variables that name variables
}

// Symbols that hold each other can stand for far more than their text: forty
// lines that each name the one before twice make 2^40 values. What a symbol
// expands to is bounded by what all symbols hold as written.
const (
	maxSymbolDepth  = 64
	freeExpansion   = 1 << 20
	expansionFactor = 4
)

// extentOf measures a value whose variables are bound. Cost: the size of its
// text.
func (c *compiler) extentOf(e syntax.Expr) extent {
	var x extent
	add := func(list ...syntax.Expr) {
		for _, e := range list {
			y := c.extentOf(e)
			x.written += y.written
			x.expanded += y.expanded
			x.depth = max(x.depth, y.depth)
		}
	}
	switch e := e.(type) {
	case nil:
	case *syntax.Variable:
		if b := c.bound[e]; b != nil {
			return extent{expanded: b.extent.expanded, depth: b.extent.depth + 1}
		}
	case *syntax.PlainElements:
		return extent{written: e.Count, expanded: e.Count}
	case *syntax.SetLiteral:
		add(e.Elements...)
	case *syntax.Element:
		add(e.Key, e.Data)
	case *syntax.List:
		add(e.Items...)
	case *syntax.Concat:
		add(e.Parts...)
	case *syntax.Range:
		add(e.From, e.To)
	case *syntax.Prefix:
		add(e.Base, e.Length)
	case *syntax.Binary:
		add(e.Left, e.Right)
	default:
		return extent{written: 1, expanded: 1}
	}
	return x
}

// bounded measures the value of a symbol, and reports one that stands for too
// much.
func (c *compiler) bounded(d *syntax.Define) (extent, bool) {
	x := c.extentOf(d.Value)
	c.written += x.written
	switch {
	case x.depth > maxSymbolDepth:
		c.diags.Errorf(d.Name.Span, "compile/expansion", "symbol '%s' is nested too deeply: at most %d symbols may name each other", d.Name.Text, maxSymbolDepth)
		return x, false
	case x.expanded > freeExpansion+expansionFactor*c.written:
		c.diags.Errorf(d.Name.Span, "compile/expansion", "symbol '%s' stands for %d values, of which only %d are written", d.Name.Text, x.expanded, c.written)
		return x, false
	}
	return x, true
}
