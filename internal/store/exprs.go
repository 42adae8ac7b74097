package store

import "verdict/nft/expr"

// expressions are all kinds of expressions that a rule can hold.
var expressions = []expr.Expr{
	(*expr.Bitwise)(nil), (*expr.Byteorder)(nil), (*expr.CT)(nil), (*expr.Cmp)(nil), (*expr.ConnLimit)(nil),
	(*expr.Counter)(nil), (*expr.Dup)(nil), (*expr.Dynset)(nil), (*expr.Exthdr)(nil), (*expr.Fib)(nil),
	(*expr.FlowOffload)(nil), (*expr.Fwd)(nil), (*expr.Hash)(nil), (*expr.Immediate)(nil), (*expr.Inner)(nil),
	(*expr.Last)(nil), (*expr.Limit)(nil), (*expr.Log)(nil), (*expr.Lookup)(nil), (*expr.Masq)(nil),
	(*expr.Meta)(nil), (*expr.NAT)(nil), (*expr.Notrack)(nil), (*expr.Numgen)(nil), (*expr.OSF)(nil),
	(*expr.Objref)(nil), (*expr.Payload)(nil), (*expr.Queue)(nil), (*expr.Quota)(nil), (*expr.RT)(nil),
	(*expr.Range)(nil), (*expr.Redir)(nil), (*expr.Reject)(nil), (*expr.Socket)(nil), (*expr.Synproxy)(nil),
	(*expr.TProxy)(nil), (*expr.Tunnel)(nil), (*expr.Unknown)(nil), (*expr.XFRM)(nil), (*expr.XT)(nil),
}
