package expr

// CloneState gives copies of the stateful expressions of a list: whoever holds
// them has a state of its own, as each element of a set has. Other expressions
// are shared. Ref: nf_tables_api.c, nft_expr_clone.
func CloneState(list []Expr) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		switch x := e.(type) {
		case *Counter:
			c := *x
			out[i] = &c
		case *Limit:
			c := *x
			out[i] = &c
		case *Quota:
			c := *x
			out[i] = &c
		case *ConnLimit:
			c := *x
			out[i] = &c
		case *Last:
			c := *x
			out[i] = &c
		default:
			out[i] = e
		}
	}
	return out
}
