package ruleset

import (
	"errors"
	"syscall"

	"verdict/catalog"
	"verdict/offload"
)

// Hardware is what is known of the interfaces of a host.
type Hardware interface {
	// Offloads returns an interface's device, nil if it offloads nothing.
	Offloads(name string) *offload.Device
	// NameOf names an interface by its number, "" if there is none.
	NameOf(index uint32) string
}

// offloaded reports whether hardware takes the rules of a chain.
func (c *Chain) offloaded() bool { return c.Base != nil && c.Base.Offload }

// Cookie is the identity of a rule in hardware.
func (t *Table) Cookie(r *Rule) uint64 { return 1<<63 | t.Handle<<32 | r.Handle&(1<<32-1) }

// FlowRule translates a rule of a chain with the offload flag. The error is an
// *offload.Refusal.
//
// Ref: nf_tables_offload.c, nft_flow_rule_create
func FlowRule(t *Table, c *Chain, r *Rule, name func(index uint32) string) (offload.Rule, error) {
	flow, err := offload.TranslateNFT(r.Exprs, name)
	if err != nil {
		return offload.Rule{}, err
	}
	const allProtocols = 3
	return offload.Rule{
		Cookie: t.Cookie(r), Kind: offload.NFT, Protocol: allProtocols, Priority: uint32(c.Base.Priority),
		Match: flow.Match, Actions: flow.Actions,
	}, nil
}

// hardwareStep is what the end of the batch does in hardware for one change.
type hardwareStep struct {
	index  int // of the change
	change offload.Change
}

// refusedBy turns a refusal of hardware into that of a change.
func refusedBy(err error) *refusal {
	var r *offload.Refusal
	if errors.As(err, &r) {
		reason := r.Reason
		if r.Driver != "nft" && r.Driver != "" {
			reason = r.Driver + ": " + reason
		}
		return refuse(r.Errno, "%s", reason)
	}
	return refused(err)
}

// offloadChain makes the checks of a new chain with the offload flag. A policy
// of drop is refused at the end of the batch.
//
// Ref: nf_tables_api.c, nft_basechain_init; nf_tables_offload.c, nft_flow_offload_chain
func (tx *transaction) offloadChain(t *Table, c *Chain) error {
	if !c.offloaded() {
		return nil
	}
	b := c.Base
	if err := offload.CheckNFTChain(offload.NFTChain{
		Netdev: t.Family == catalog.FamilyNetdev, Ingress: b.Hook == catalog.HookNetdevIngress, Priority: b.Priority,
	}); err != nil {
		return refusedBy(err)
	}
	if _, err := tx.devices(b.Devices); err != nil {
		return err
	}
	if b.Policy == catalog.VerdictDrop {
		tx.atCommit(refuse(syscall.EOPNOTSUPP, "the policy of an offloaded chain is accept"))
	}
	return nil
}

// devices finds the hardware of interfaces; where nothing is known of hardware
// they count as able, and there is nothing to do.
func (tx *transaction) devices(names []string) ([]*offload.Device, error) {
	if tx.opts.Hardware == nil {
		return nil, nil
	}
	var list []*offload.Device
	for _, n := range names {
		d := tx.opts.Hardware.Offloads(n)
		if d == nil {
			return nil, refuse(syscall.EOPNOTSUPP, "device %q offloads nothing", n)
		}
		list = append(list, d)
	}
	return list, nil
}

// atCommit makes the end of the batch fail for the change at hand.
func (tx *transaction) atCommit(r *refusal) {
	tx.hardware = append(tx.hardware, hardwareStep{tx.index, offload.Change{Err: r}})
}

// offloadRule translates a new rule and keeps it for the end of the batch,
// where rules that are not appended are refused.
//
// Ref: nf_tables_api.c, nf_tables_newrule; nf_tables_offload.c,
// nft_flow_rule_offload_commit
func (tx *transaction) offloadRule(t *Table, c *Chain, r *Rule, appended bool) error {
	if !c.offloaded() {
		return nil
	}
	var name func(uint32) string
	if h := tx.opts.Hardware; h != nil {
		name = h.NameOf
	}
	flow, err := FlowRule(t, c, r, name)
	if err != nil {
		return refusedBy(err)
	}
	if !appended {
		tx.atCommit(refuse(syscall.EOPNOTSUPP, "rules of an offloaded chain can only be added at its end"))
		return nil
	}
	devices, err := tx.devices(c.Base.Devices)
	if err != nil || len(devices) == 0 {
		return err
	}
	tx.hardware = append(tx.hardware, hardwareStep{tx.index, offload.Change{Devices: devices, Rule: flow}})
	return nil
}

// unloadRule takes a rule out of hardware at the end of the batch.
func (tx *transaction) unloadRule(t *Table, c *Chain, r *Rule) {
	if !c.offloaded() || tx.opts.Hardware == nil {
		return
	}
	var devices []*offload.Device
	for _, n := range c.Base.Devices {
		if d := tx.opts.Hardware.Offloads(n); d != nil && tx.willHave(d, t.Cookie(r)) {
			devices = append(devices, d)
		}
	}
	tx.hardware = append(tx.hardware, hardwareStep{tx.index, offload.Change{Devices: devices, Rule: offload.Rule{Cookie: t.Cookie(r)}, Remove: true}})
}

// willHave reports whether a device has a rule, or gets it by this batch.
func (tx *transaction) willHave(d *offload.Device, cookie uint64) bool {
	for i := len(tx.hardware) - 1; i >= 0; i-- {
		if c := &tx.hardware[i].change; c.Rule.Cookie == cookie {
			return !c.Remove
		}
	}
	return d.Has(cookie)
}

// unloadChain takes all rules of a chain out of hardware.
func (tx *transaction) unloadChain(t *Table, c *Chain) {
	if !c.offloaded() || tx.opts.Hardware == nil {
		return
	}
	rules := c.edit
	if rules == nil {
		rules = newRuleEdit(c.Rules)
	}
	rules.each(func(_ int32, r *Rule) bool {
		tx.unloadRule(t, c, r)
		return true
	})
}

// unloadTable takes all rules of a table out of hardware.
func (tx *transaction) unloadTable(t *Table) {
	chains := t.Chains
	if t.edit != nil {
		chains = t.edit.chains.items
	}
	for _, c := range chains {
		if c != nil {
			tx.unloadChain(t, c)
		}
	}
}

// commitHardware does in hardware what the batch did, or nothing.
//
// Ref: nf_tables_offload.c, nft_flow_rule_offload_commit, nft_flow_rule_offload_abort
func (tx *transaction) commitHardware(batch []Change) *ChangeError {
	if len(tx.hardware) == 0 {
		return nil
	}
	changes := make([]offload.Change, len(tx.hardware))
	for i := range tx.hardware {
		changes[i] = tx.hardware[i].change
	}
	failed, err := offload.Commit(changes)
	if err == nil {
		return nil
	}
	at := tx.hardware[failed].index
	return changeError(at, &batch[at], refusedBy(err))
}

// offloadFlowtable checks the devices of a flowtable with the offload flag.
//
// Ref: nf_flow_table_offload.c, nf_flow_table_offload_setup
func (tx *transaction) offloadFlowtable(f *Flowtable, devices []string) error {
	if !f.Offload {
		return nil
	}
	_, err := tx.devices(devices)
	return err
}
