package conntrack

// slabSize is the number of connections that are allocated at once.
const slabSize = 512

// slabs hands out connections from large blocks, so that a table of a million
// is a few thousand objects to the garbage collector. Connections have a place,
// by which the index refers to them in four bytes.
type slabs struct {
	blocks []*[slabSize]Conn
	free   uint32 // place+1 of the first free connection, chained by sourceNext
	used   uint32 // places handed out at least once
}

// at returns the connection at a place.
func (s *slabs) at(place uint32) *Conn { return &s.blocks[place/slabSize][place%slabSize] }

// take returns a zero connection that knows its place.
func (s *slabs) take() *Conn {
	if s.free != 0 {
		place := s.free - 1
		c := s.at(place)
		s.free = c.sourceNext
		*c = Conn{index: place}
		return c
	}
	if s.used%slabSize == 0 {
		s.blocks = append(s.blocks, new([slabSize]Conn))
	}
	c := s.at(s.used)
	c.index = s.used
	s.used++
	return c
}

// put takes a connection back. What it pointed to is let go, the rest stays
// readable until the place is used again.
func (s *slabs) put(c *Conn) {
	c.rare, c.Master = nil, nil
	c.Status |= StatusDying
	c.sourceNext, s.free = s.free, c.index+1
}
