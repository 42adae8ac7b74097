// Package offload holds what a packet filter asks of hardware, and models of
// hardware that answers.
//
// A Rule is one flow rule: dissector keys with masks, and actions. Filters of
// tc and rules of nftables chains with the offload flag become Rules; a Device
// accepts or refuses them as its Model says, keeps them in tables, runs packets
// through them and counts.
//
// Models are data: three are shipped (Models), others are read from JSON
// (ReadModel).
//
// A Device is not safe for concurrent use.
package offload
