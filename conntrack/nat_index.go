package conntrack

// sourceIndex finds connections by their original source.
type sourceIndex struct{}

func (x *sourceIndex) remove(t *Table, c *Conn) {}
