package tc

import (
	"sort"
	"syscall"
)

// maxChain is the largest index of a chain.
const maxChain = 1<<28 - 1

// Chain is a list of classifier instances, ordered by priority.
type Chain struct {
	Index     uint32
	block     *Block
	instances []*Instance
	explicit  bool
	template  *template
	actions   int // goto actions that refer to it

	filter *prefilter // over the instances; nil if it is not worth it
	stale  bool       // filter has to be built again
}

// Instance is the filters of one priority, protocol and kind.
type Instance struct {
	Priority uint32
	Protocol uint16
	Kind     string

	chain      *Chain
	classifier classifier
	useSW      bool
	counted    bool
	countedV1  bool
}

// chain finds a chain, or makes it.
func (b *Block) chain(index uint32, create bool) *Chain {
	c := b.byIndex[index]
	if c == nil && create {
		c = &Chain{Index: index, block: b}
		b.byIndex[index] = c
		b.chains = append(b.chains, c)
	}
	return c
}

// release removes the chain when nothing refers to it.
func (c *Chain) release() {
	if c.explicit || len(c.instances) > 0 || c.actions > 0 {
		return
	}
	b := c.block
	if b.byIndex[c.Index] != c {
		return
	}
	delete(b.byIndex, c.Index)
	for i, o := range b.chains {
		if o == c {
			b.chains = append(b.chains[:i:i], b.chains[i+1:]...)
			return
		}
	}
}

func (c *Chain) refAction() { c.actions++ }

func (c *Chain) unrefAction() {
	c.actions--
	c.release()
}

// onlyActions reports whether nothing but goto actions refers to the chain:
// then commands do not see it.
func (c *Chain) onlyActions() bool {
	return !c.explicit && len(c.instances) == 0 && c.actions > 0
}

// find looks for the instance of a priority. wrong says that there is one of
// another protocol, or that a priority was to be allocated.
//
// Ref: cls_api.c, tcf_chain_tp_find
func (c *Chain) find(protocol uint16, priority uint32, allocate bool) (at int, found *Instance, wrong bool) {
	at = sort.Search(len(c.instances), func(i int) bool { return c.instances[i].Priority >= priority })
	if at == len(c.instances) || c.instances[at].Priority != priority {
		return at, nil, false
	}
	i := c.instances[at]
	if allocate || i.Protocol != protocol && protocol != 0 {
		return at, nil, true
	}
	return at, i, false
}

func (c *Chain) insert(at int, i *Instance) {
	c.instances = append(c.instances, nil)
	copy(c.instances[at+1:], c.instances[at:])
	c.instances[at] = i
	c.stale = true
	c.block.head()
}

// head keeps what packets begin with.
func (b *Block) head() {
	b.chain0 = b.byIndex[0]
	if b.chain0 != nil && len(b.chain0.instances) == 0 {
		b.chain0 = nil
	}
}

// destroy removes an instance with its filters.
func (s *System) destroyInstance(i *Instance) {
	c := i.chain
	for at, o := range c.instances {
		if o == i {
			c.instances = append(c.instances[:at:at], c.instances[at+1:]...)
			break
		}
	}
	c.stale = true
	c.block.head()
	i.classifier.destroy(s)
	s.uncount(i)
	c.release()
}

// flushChain removes all instances of a chain.
func (s *System) flushChain(c *Chain) {
	for len(c.instances) > 0 {
		s.destroyInstance(c.instances[len(c.instances)-1])
	}
}

// chainRequest is a command on chains.
type chainRequest struct {
	block  *Block
	index  uint32
	kind   string
	filter *filterRequest // keys of a template
}

// newChain adds an explicit chain.
//
// Ref: cls_api.c, tc_ctl_chain
func (s *System) newChain(r *chainRequest) *KernelError {
	if r.index > maxChain {
		return refuse(syscall.EINVAL, "Specified chain index exceeds upper limit")
	}
	c := r.block.byIndex[r.index]
	if c != nil && !c.onlyActions() {
		return refuse(syscall.EEXIST, "Filter chain already exists")
	}
	c = r.block.chain(r.index, true)
	c.explicit = true
	if r.kind == "" {
		return nil
	}
	t, err := s.newTemplate(c, r)
	if err != nil {
		c.explicit = false
		c.release()
		return err
	}
	c.template = t
	return nil
}

// findChain is the chain that delete and get refer to.
func (r *chainRequest) findChain() (*Chain, *KernelError) {
	if r.index > maxChain {
		return nil, refuse(syscall.EINVAL, "Specified chain index exceeds upper limit")
	}
	c := r.block.byIndex[r.index]
	if c == nil || c.onlyActions() {
		return nil, refuse(syscall.EINVAL, "Cannot find specified filter chain")
	}
	return c, nil
}

// deleteChain flushes a chain and gives up its explicit reference.
func (s *System) deleteChain(r *chainRequest) *KernelError {
	c, err := r.findChain()
	if err != nil {
		return err
	}
	s.flushChain(c)
	if c.explicit {
		c.explicit, c.template = false, nil
	}
	c.release()
	return nil
}
