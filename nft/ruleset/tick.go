package ruleset

// The kernel counts lifetimes in ticks of its clock; here as where CONFIG_HZ
// is 250, the usual choice.
const tick = 4 // milliseconds

// wholeTicks gives a lifetime in milliseconds as the kernel keeps it: cut to
// whole ticks, but at least one.
//
// Ref: nf_tables_api.c, nf_msecs_to_jiffies64
func wholeTicks(ms uint64) uint64 {
	if ms == 0 {
		return 0
	}
	return max(ms/tick, 1) * tick
}
