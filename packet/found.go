package packet

// Found is the outcome of looking for an extension header, an option or a
// chunk.
type Found uint8

const (
	// Absent: it is not there, or what holds it is malformed. A load from
	// it breaks, a question for presence gets 0.
	Absent Found = iota
	// Present: it starts at the returned offset.
	Present
	// FoundBreak: the question does not apply to the packet; the rule
	// breaks even if it only asks for presence.
	FoundBreak
	// FoundCut: the capture ends before it can be known.
	FoundCut
	// FoundShort: it is there, and says that it is longer than what holds it.
	// To loads and questions it is absent, but nothing can be written.
	FoundShort
)

// String names the outcome in lower case.
func (f Found) String() string {
	switch f {
	case Present:
		return "present"
	case FoundBreak:
		return "break"
	case FoundCut:
		return "cut"
	case FoundShort:
		return "short"
	}
	return "absent"
}

// missing turns the result of a failed look into the packet.
func missing(result LoadResult) Found {
	if result == Cut {
		return FoundCut
	}
	return Absent
}
