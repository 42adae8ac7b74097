package tc

// controls are the words for what an action says, in the order in which their
// abbreviations are tried.
var controls = []struct {
	word string
	code Code
}{
	{"continue", Unspec}, {"drop", Shot}, {"shot", Shot}, {"pass", OK}, {"ok", OK}, {"reclassify", Reclassify},
	{"pipe", Pipe}, {"goto", GotoChain}, {"jump", Jump}, {"trap", Trap},
}

// controlWord finds the control that a word abbreviates.
func controlWord(word string) (Code, string, bool) {
	for _, c := range controls {
		if prefix(word, c.word) {
			return c.code, c.word, true
		}
	}
	return 0, "", false
}

// parseControl reads a control, which must be there.
func parseControl(w *words) (Code, *ToolError) {
	code, _, ok := controlWord(w.peek())
	if !ok {
		return 0, tool("Bad action type %s", w.peek())
	}
	w.skip()
	switch code {
	case GotoChain:
		if !w.more() {
			return 0, incomplete()
		}
		if !w.matches("chain") {
			return 0, tool(`"chain" expected`)
		}
		text, err := w.value()
		if err != nil {
			return 0, err
		}
		n, ok := number32(text, 10)
		if !ok || n > numberMask {
			return 0, tool(`Illegal "chain index"`)
		}
		code |= Code(n)
	case Jump:
		text, err := w.take()
		if err != nil {
			return 0, err
		}
		n, ok := number32(text, 10)
		if !ok || n > numberMask {
			return 0, tool("Invalid \"jump count\" (%s)", text)
		}
		code |= Code(n)
	}
	return code, nil
}

// parseControlOr reads a control if there is one.
func parseControlOr(w *words, otherwise Code) (Code, *ToolError) {
	if _, _, ok := controlWord(w.peek()); !ok || !w.more() {
		return otherwise, nil
	}
	return parseControl(w)
}

// parseIndex reads "index N" if it stands there.
func parseIndex(w *words, kind string) (uint32, *ToolError) {
	if !w.matches("index") {
		return 0, nil
	}
	text, err := w.value()
	if err != nil {
		return 0, err
	}
	n, ok := number32(text, 10)
	if !ok {
		return 0, tool("%s: Illegal \"index\"", kind)
	}
	return n, nil
}

// finish reads what ends most actions: a control and an index.
func (r *actionRequest) finish(w *words, kind string, otherwise Code) (err *ToolError) {
	if r.control, err = parseControlOr(w, otherwise); err != nil {
		return err
	}
	index, err := parseIndex(w, kind)
	if index != 0 {
		r.index = index
	}
	return err
}

// expect goes over the action's name.
func expect(w *words, kind string) *ToolError {
	if !w.matches(kind) {
		return tool("%s bad argument %s", kind, w.peek())
	}
	w.skip()
	return nil
}
