package catalog

// TimeoutState is a state of connections that a ct timeout object may give a
// time.
type TimeoutState struct {
	Name string
	// Usual is the time in seconds that nft gives where the object names none.
	Usual uint32
}

var timeoutStates = map[uint8][]TimeoutState{
	6: {
		{"syn_sent", 120}, {"syn_recv", 60}, {"established", 432000}, {"fin_wait", 120}, {"close_wait", 60},
		{"last_ack", 30}, {"time_wait", 120}, {"close", 10}, {"syn_sent2", 120}, {"retrans", 300}, {"unack", 300},
	},
	17: {{"unreplied", 30}, {"replied", 120}},
}

// TimeoutStates are the states of a protocol's ct timeout objects in the
// kernel's order: the attribute of each is its place, counted from 1. It is
// empty for the protocols that nft has no such objects for.
// Ref: include/uapi/linux/netfilter/nfnetlink_cttimeout.h.
func TimeoutStates(protocol uint8) []TimeoutState { return timeoutStates[protocol] }
