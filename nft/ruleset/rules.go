package ruleset

// ruleEdit is a chain's list of rules while a transaction works on it. As long
// as rules only come at the end it is the chain's slice; the first other
// change turns it into a linked list, so that many insertions and deletions
// anywhere in a long chain cost constant time each.
type ruleEdit struct {
	rules  []*Rule
	shared bool // rules belong to the snapshot
	links  []ruleLink
	first  int32
	last   int32
	count  int
	finds  int
	places map[uint64]int32 // by handle, once there were many searches

	devices []string // that the chain got in this transaction
}

// ruleLink is a node of the linked form; its index is the rule's place.
type ruleLink struct {
	prev, next int32
	rule       *Rule
}

const (
	none = int32(-1)
	// manyFinds is the number of linear searches after which an index pays.
	manyFinds = 8
)

func newRuleEdit(rules []*Rule) *ruleEdit {
	return &ruleEdit{rules: rules, shared: true, count: len(rules), first: none, last: none}
}

func (e *ruleEdit) link() {
	if e.links != nil {
		return
	}
	e.links = make([]ruleLink, len(e.rules), len(e.rules)+16)
	for i, r := range e.rules {
		e.links[i] = ruleLink{int32(i) - 1, int32(i) + 1, r}
	}
	if n := int32(len(e.links)); n > 0 {
		e.links[n-1].next = none
		e.first, e.last = 0, n-1
	}
}

// append adds a rule at the end.
func (e *ruleEdit) append(r *Rule) {
	if e.links != nil {
		e.insertAfter(e.last, r)
		return
	}
	if e.shared {
		e.rules = append(make([]*Rule, 0, len(e.rules)+len(e.rules)/4+4), e.rules...)
		e.shared = false
	}
	e.rules = append(e.rules, r)
	e.note(r, int32(len(e.rules)-1))
	e.count++
}

// insertAfter adds a rule after a place; none means at the head.
func (e *ruleEdit) insertAfter(at int32, r *Rule) {
	e.link()
	n := int32(len(e.links))
	next := e.first
	if at != none {
		next = e.links[at].next
	}
	e.links = append(e.links, ruleLink{at, next, r})
	if at == none {
		e.first = n
	} else {
		e.links[at].next = n
	}
	if next == none {
		e.last = n
	} else {
		e.links[next].prev = n
	}
	e.note(r, n)
	e.count++
}

func (e *ruleEdit) note(r *Rule, at int32) {
	if e.places != nil {
		e.places[r.Handle] = at
	}
}

// before is the place in front of another one.
func (e *ruleEdit) before(at int32) int32 {
	e.link()
	return e.links[at].prev
}

func (e *ruleEdit) at(place int32) *Rule {
	if e.links != nil {
		return e.links[place].rule
	}
	return e.rules[place]
}

// replace puts a rule in the place of another with the same handle.
func (e *ruleEdit) replace(at int32, r *Rule) {
	e.link()
	e.links[at].rule = r
}

func (e *ruleEdit) remove(at int32) {
	e.link()
	l := e.links[at]
	if l.prev == none {
		e.first = l.next
	} else {
		e.links[l.prev].next = l.next
	}
	if l.next == none {
		e.last = l.prev
	} else {
		e.links[l.next].prev = l.prev
	}
	delete(e.places, l.rule.Handle)
	e.links[at].rule = nil
	e.count--
}

// find gives the place of the rule with a handle, or none.
func (e *ruleEdit) find(handle uint64) int32 {
	if e.finds++; e.finds > manyFinds && e.places == nil {
		e.places = make(map[uint64]int32, e.count)
		e.each(func(at int32, r *Rule) bool {
			e.places[r.Handle] = at
			return true
		})
	}
	if e.places != nil {
		if at, ok := e.places[handle]; ok {
			return at
		}
		return none
	}
	found := none
	e.each(func(at int32, r *Rule) bool {
		if r.Handle == handle {
			found = at
		}
		return found == none
	})
	return found
}

// nth gives the place of the rule with an index, or none.
func (e *ruleEdit) nth(n uint64) int32 {
	if n >= uint64(e.count) {
		return none
	}
	if e.links == nil {
		return int32(n)
	}
	at := e.first
	for ; n > 0; n-- {
		at = e.links[at].next
	}
	return at
}

// each visits the rules in order until visit returns false.
func (e *ruleEdit) each(visit func(at int32, r *Rule) bool) {
	if e.links == nil {
		for i, r := range e.rules {
			if !visit(int32(i), r) {
				return
			}
		}
		return
	}
	for at := e.first; at != none; at = e.links[at].next {
		if !visit(at, e.links[at].rule) {
			return
		}
	}
}

// seal gives the finished list.
func (e *ruleEdit) seal() []*Rule {
	if e.links == nil {
		return e.rules
	}
	rules := make([]*Rule, 0, e.count)
	e.each(func(_ int32, r *Rule) bool {
		rules = append(rules, r)
		return true
	})
	return rules
}
