package verdict

import (
	"errors"
	"fmt"

	"verdict/catalog"
	"verdict/host"
	"verdict/nft/ruleset"
	"verdict/offload"
	"verdict/tc"
)

// hardware answers what interfaces offload.
type hardware struct {
	tc   *tc.System
	host *host.Host
}

// hardwareOf is nil where nothing is known of hardware.
func hardwareOf(s *tc.System, h *host.Host) ruleset.Hardware {
	if s == nil {
		return nil
	}
	return hardware{s, h}
}

func (h hardware) Offloads(name string) *offload.Device {
	if d := h.tc.Device(name); d != nil {
		return d.Hardware
	}
	return nil
}

func (h hardware) NameOf(index uint32) string {
	if i, ok := h.host.ByIndex(int(index)); ok {
		return i.Name
	}
	return ""
}

// OffloadedChain tells about a chain of netdev ingress what hardware has of it.
type OffloadedChain struct {
	Table *ruleset.Table
	Chain *ruleset.Chain
	// Flagged says that the chain has the offload flag.
	Flagged bool
	// Why says why the chain itself cannot be offloaded, "" if it can.
	Why   string
	Rules []OffloadedRule
}

// OffloadedRule is a rule of such a chain.
type OffloadedRule struct {
	Rule *ruleset.Rule
	// Devices have it, by the names of their interfaces.
	Devices []string
	// Flow is the rule in the form of hardware, Why why there is none.
	Flow offload.Rule
	Why  string
}

// Offloaded lists the chains of netdev ingress with what hardware has of them,
// or could have. Cost: the rules of these chains.
func (r *Ruleset) Offloaded() []OffloadedChain {
	var list []OffloadedChain
	for _, t := range r.rules.Tables {
		for _, c := range t.Chains {
			if t.Family == catalog.FamilyNetdev && c.Base != nil && c.Base.Hook == catalog.HookNetdevIngress {
				list = append(list, r.offloaded(t, c))
			}
		}
	}
	return list
}

func (r *Ruleset) offloaded(t *ruleset.Table, c *ruleset.Chain) OffloadedChain {
	out := OffloadedChain{Table: t, Chain: c, Flagged: c.Base.Offload}
	check := offload.NFTChain{Netdev: true, Ingress: true, Priority: c.Base.Priority}
	switch {
	case reasonOf(offload.CheckNFTChain(check)) != "":
		out.Why = reasonOf(offload.CheckNFTChain(check))
	case c.Base.Policy == catalog.VerdictDrop:
		out.Why = "the policy of an offloaded chain is accept"
	}
	h := hardware{r.tc, r.host}
	for _, rule := range c.Rules {
		o := OffloadedRule{Rule: rule}
		flow, err := ruleset.FlowRule(t, c, rule, h.NameOf)
		o.Flow, o.Why = flow, reasonOf(err)
		for _, name := range c.Base.Devices {
			if r.tc == nil {
				break
			}
			if d := h.Offloads(name); d != nil && d.Has(t.Cookie(rule)) {
				o.Devices = append(o.Devices, name)
			}
		}
		out.Rules = append(out.Rules, o)
	}
	return out
}

// reasonOf is why something cannot be offloaded, "" if it can.
func reasonOf(err error) string {
	var refusal *offload.Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		return refusal.Reason
	}
	return err.Error()
}

// Obstacles lists why a chain could not be offloaded as it is: the chain's own
// reason, and the first rule's.
func (c *OffloadedChain) Obstacles() []string {
	var list []string
	if c.Why != "" {
		list = append(list, c.Why)
	}
	for i := range c.Rules {
		if why := c.Rules[i].Why; why != "" {
			return append(list, fmt.Sprintf("rule %d: %s", i+1, why))
		}
	}
	return list
}
