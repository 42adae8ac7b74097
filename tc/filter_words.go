package tc

// simpleHandle leaves a handle that was read as a number.
func simpleHandle(*filterRequest) *ToolError { return nil }

// parseClass reads "classid C".
func (r *filterRequest) parseClass(w *words) *ToolError {
	name := w.peek()
	text, err := w.value()
	if err != nil {
		return err
	}
	id, ok := classID(text)
	if !ok {
		return tool("Illegal %q", name)
	}
	r.classID, r.hasClass = id, true
	return nil
}

// parseFilterActions reads a filter's actions.
func (r *filterRequest) parseFilterActions(w *words, s *System) *ToolError {
	if w.matches("action") {
		w.skip()
	}
	list, err := s.parseActions(w)
	if err != nil {
		return illegal(err, "action")
	}
	r.actions = append(r.actions, list...)
	return nil
}

// parsePoliceWord reads a policer in the old place, outside the actions.
func (r *filterRequest) parsePoliceWord(w *words) *ToolError {
	w.skip()
	p, err := parsePoliceWords(w)
	if err != nil {
		return illegal(err, "police")
	}
	p.kind = kindPolice
	r.police = p
	return nil
}

// parseSkip reads skip_hw and skip_sw.
func (r *filterRequest) parseSkip(w *words) bool {
	switch {
	case w.is("skip_hw"):
		r.flags |= flagSkipHW
	case w.is("skip_sw"):
		r.flags |= flagSkipSW
	default:
		return false
	}
	w.skip()
	return true
}
