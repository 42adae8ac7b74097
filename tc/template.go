package tc

import (
	"syscall"

	"verdict/offload"
)

// template is the kind and mask that the filters of a chain must fit.
type template struct {
	kind string
	req  *filterRequest
	key  offload.Key
	mask offload.Key
}

// newTemplate makes a template; only flower has them.
//
// Ref: cls_api.c, tc_chain_tmplt_add; cls_flower.c, fl_tmplt_create
func (s *System) newTemplate(c *Chain, r *chainRequest) (*template, *KernelError) {
	if classifierKinds[r.kind] == nil {
		return nil, refuse(syscall.ENOENT, "TC classifier not found")
	}
	if r.kind != "flower" {
		return nil, refuse(syscall.EOPNOTSUPP, "Chain templates are not supported with specified classifier")
	}
	t := &template{kind: r.kind, req: r.filter}
	o := r.filter.options.(*flowerOptions)
	if err := o.keys(s, &t.key, &t.mask); err != nil {
		return nil, err
	}
	return t, nil
}

// fits reports whether a mask uses only bits of the template.
//
// Ref: cls_flower.c, fl_mask_fits_tmplt
func (t *template) fits(mask *offload.Key) bool {
	for i := range mask {
		if mask[i]&^t.mask[i] != 0 {
			return false
		}
	}
	return true
}
