package host

import "fmt"

// Assumption is something that was made up because nobody said it.
type Assumption struct {
	Interface string
	Index     int
}

// String states the assumption in a sentence.
func (a Assumption) String() string {
	return fmt.Sprintf("interface %q is assumed to exist with index %d", a.Interface, a.Index)
}

// Assume returns the interface of a name; one that the host does not have is
// made up, as an Ethernet device with the next free index, and recorded. The
// error says why the name cannot be one of an interface. Assume must not run
// at the same time as look-ups.
func (h *Host) Assume(name string) (*Interface, error) {
	if i, ok := h.byName[name]; ok {
		return i, nil
	}
	if wrong := checkName(name); wrong != "" {
		return nil, &Error{Reason: wrong}
	}
	i := h.insert(&Interface{Name: name, Index: h.nextIndex()})
	h.assumptions = append(h.assumptions, Assumption{Interface: name, Index: i.Index})
	return i, nil
}

// nextIndex is one above the highest index, so that interfaces stay in order.
func (h *Host) nextIndex() int { return h.interfaces[len(h.interfaces)-1].Index + 1 }

// Assumptions lists what Assume made up, in order.
func (h *Host) Assumptions() []Assumption { return h.assumptions }
