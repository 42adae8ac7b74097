package decompile

import (
	"net/netip"
	"time"

	"verdict/nft/expr"
)

// Options says how values are written, as the flags of `nft list` do, and
// brings in the names that belong to a host. The zero value lists with
// everything that nft shows by default, in UTC, without names of a host.
type Options struct {
	Stateless       bool // -s: no counter values, used quota and expiry
	NumericPriority bool // -y
	NumericProtocol bool // -p
	NumericTime     bool // -T
	NumericSymbols  bool // part of -n: symbolic constants as numbers
	ServiceNames    bool // -S
	UserNames       bool // -u
	HostNames       bool // -N: names instead of addresses
	Terse           bool // -t: no elements of named sets
	Handles         bool // -a

	// Location is the time zone of dates and hours; nil means UTC.
	Location *time.Location
	// Now decides the zone's offset for hours of the day.
	Now time.Time

	// Clock is the time of the ruleset in nanoseconds, for elements with a
	// timeout: expired ones are left out, the others show what is left. With 0
	// all are listed, without it.
	Clock int64

	// State gives an expression that packets change with its present values;
	// nil shows the values it was loaded with.
	State func(e expr.Expr) expr.Expr

	// InterfaceName names an interface by its index; "" if there is none.
	InterfaceName func(index uint32) string
	// UserName and GroupName name a user or group, "" if unknown.
	UserName, GroupName func(id uint32) string
	// ServiceName names a port, "" if unknown; nil means the built-in table.
	ServiceName func(port uint16) string
	// HostName names an address, "" if unknown.
	HostName func(address netip.Addr) string
	// MarkName and LabelName name marks and connection labels.
	MarkName  func(mark uint32) string
	LabelName func(bit int) string

	json bool // the tree becomes JSON, see JSON
}

// Numeric gives the options of -n: priorities, protocols, times and symbolic
// constants as numbers.
func (o Options) Numeric() Options {
	o.NumericPriority, o.NumericProtocol, o.NumericTime, o.NumericSymbols = true, true, true, true
	return o
}

func (o *Options) location() *time.Location {
	if o.Location == nil {
		return time.UTC
	}
	return o.Location
}

// zoneOffset is the number of seconds that local time is ahead of UTC.
func (o *Options) zoneOffset() int64 {
	_, offset := o.Now.In(o.location()).Zone()
	return int64(offset)
}
