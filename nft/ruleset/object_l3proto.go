package ruleset

import (
	"syscall"

	"verdict/catalog"
)

// settleL3Proto gives the ct objects the network protocol of their table where
// none was declared, and refuses helpers of the other address family.
//
// Ref: nft_ct.c, nft_ct_helper_obj_init, nft_ct_timeout_obj_init, nft_ct_expect_obj_init
func settleL3Proto(table catalog.Family, o *Object) error {
	switch {
	case o.Helper != nil:
		h := *o.Helper
		if h.L3Proto == catalog.FamilyUnspec {
			h.L3Proto = table
		}
		o.Helper = &h
		other := h.L3Proto == catalog.FamilyIP && table == catalog.FamilyIP6 ||
			h.L3Proto == catalog.FamilyIP6 && table == catalog.FamilyIP
		if other {
			return refuse(syscall.EINVAL, "a helper of family %v in a table of family %v", h.L3Proto, table)
		}
	case o.TimeoutPol != nil && o.TimeoutPol.L3Proto == catalog.FamilyUnspec:
		p := *o.TimeoutPol
		p.L3Proto = table
		o.TimeoutPol = &p
	case o.Expectation != nil && o.Expectation.L3Proto == catalog.FamilyUnspec:
		e := *o.Expectation
		e.L3Proto = table
		o.Expectation = &e
	}
	return nil
}
