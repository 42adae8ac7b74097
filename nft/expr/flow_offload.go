package expr

import "syscall"

// FlowOffload puts the connection into a flowtable.
// Ref: nft_flow_offload.c.
type FlowOffload struct{ Flowtable string }

// Kind is flow_offload.
func (*FlowOffload) Kind() string { return "flow_offload" }

// AppendText appends `flow_offload flowtable f`.
func (e *FlowOffload) AppendText(b []byte) []byte {
	return append(append(b, "flow_offload flowtable "...), e.Flowtable...)
}

// Check refuses flowtables that do not exist (ENOENT).
// Ref: nft_flow_offload.c, nft_flow_offload_init.
func (e *FlowOffload) Check(c *Checker) error {
	if c.Place.FlowtableExists == nil || !c.Place.FlowtableExists(e.Flowtable) {
		return refuse(syscall.ENOENT, "flowtable %q does not exist", e.Flowtable)
	}
	return nil
}

// Registers uses none.
func (*FlowOffload) Registers(*Place) RegUse { return RegUse{} }

func parseFlowOffload(p *textParser) Expr {
	p.expect("flowtable")
	return &FlowOffload{Flowtable: p.name("a flowtable")}
}
