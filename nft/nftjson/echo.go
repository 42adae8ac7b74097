package nftjson

import "verdict/diag"

// AppendEcho writes a document that was read as the reference echoes it: the
// same commands in the same order on one line, without a newline behind it,
// with the handles that the objects got. handle gives the handle that the
// command with an index in the document led to, 0 if none. What is no JSON
// document is left out.
func AppendEcho(b []byte, src *diag.Source, handle func(index int) uint64) []byte {
	root, text, failed := read(src)
	if failed != nil {
		return b
	}
	w := echoWriter{writer: writer{b: b}, source: text, handles: map[*node]uint64{}}
	if list := root.get("nftables"); list != nil {
		items := list.items()
		for i := range items {
			if h := handle(i); h != 0 {
				w.note(&items[i], h)
			}
		}
	}
	w.value(&root)
	return w.b
}

// echoWriter writes nodes back.
type echoWriter struct {
	writer
	source  string
	handles map[*node]uint64 // of objects
}

// note finds the object of a command that gets a handle: that of add, of
// insert, or the one without a verb.
func (w *echoWriter) note(command *node, handle uint64) {
	for _, verb := range [...]string{"add", "insert"} {
		if inner := command.get(verb); inner != nil {
			command = inner
			break
		}
	}
	if items := command.items(); len(items) == 1 && items[0].kind == kindObject {
		w.handles[&items[0]] = handle
	}
}

func (w *echoWriter) value(n *node) {
	switch n.kind {
	case kindArray:
		w.open('[')
		items := n.items()
		for i := range items {
			w.value(&items[i])
		}
		w.close(']')
	case kindObject:
		w.object(n)
	case kindString:
		w.string(textOf(w.source, n))
	default:
		w.next()
		w.b = append(w.b, textOf(w.source, n)...)
	}
}

func (w *echoWriter) object(n *node) {
	handle, noted := w.handles[n]
	w.open('{')
	items, keys := n.items(), n.keys()
	for i := range items {
		w.key(keys[i].name)
		if noted && keys[i].name == "handle" {
			w.number(handle)
			noted = false
			continue
		}
		w.value(&items[i])
	}
	if noted {
		w.key("handle")
		w.number(handle)
	}
	w.close('}')
}
