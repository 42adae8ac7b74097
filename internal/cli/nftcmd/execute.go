package nftcmd

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"

	"verdict/diag"
	"verdict/internal/store"
	"verdict/nft/compile"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// maxErrors is the number of mistakes in a text after which nft gives up.
const maxErrors = 10

// batch is one source on its way.
type batch struct {
	session  *session
	file     *syntax.File
	commands []*syntax.Command // in order, also of included files
	names    *naming
	base     *ruleset.Ruleset
	found    diag.List
	out      bytes.Buffer
}

// execute runs a source as one batch. The error is a *diag.ListError where
// the source has mistakes or was refused.
func (n *session) execute(src *diag.Source) error {
	b := &batch{session: n}
	if err := b.parse(src); err != nil {
		return err
	}
	b.commands = commandsOf(b.file.Items, nil)
	if m := b.monitor(); m != nil && !b.found.HasErrors() {
		return n.monitor(m)
	}
	err := b.transact()
	if _, writeErr := n.Out.Write(b.out.Bytes()); err == nil {
		err = writeErr
	}
	return err
}

// parse reads the source's text.
func (b *batch) parse(src *diag.Source) error {
	var found *diag.List
	if b.session.options.json && nftjson.Is(src.Text) {
		b.file, found = nftjson.Decode(src)
	} else {
		b.file, found = syntax.Parse(src, syntax.Options{Open: b.session.open, MaxErrors: maxErrors, CompactElements: true})
	}
	for _, d := range found.All() {
		if d.Code == "syntax/include" {
			d.Span = b.wholeInclude(d.Span)
		}
		b.found.Add(d)
	}
	if b.found.HasErrors() && len(b.file.Items) == 0 {
		return b.found.Err()
	}
	b.imports()
	return nil
}

// wholeInclude extends the place of a file's name to its include statement
// with the end of the line, as nft marks it.
func (b *batch) wholeInclude(place diag.Span) diag.Span {
	text := place.Source.Text
	start := bytes.LastIndex(text[:place.Start], []byte("include"))
	if start < 0 {
		return place
	}
	place.Start, place.End = int32(start), min(place.End+1, int32(len(text)))
	return place
}

// commandsOf gathers the commands of a file and those that it includes.
func commandsOf(items []syntax.Item, list []*syntax.Command) []*syntax.Command {
	for _, it := range items {
		switch it := it.(type) {
		case *syntax.Command:
			list = append(list, it)
		case *syntax.Include:
			for i := range it.Files {
				list = commandsOf(it.Files[i].Items, list)
			}
		}
	}
	return list
}

// reads tells whether a command is answered rather than made part of the
// transaction. A reset is both.
func reads(c *syntax.Command) bool {
	switch c.Verb {
	case syntax.VerbList, syntax.VerbGet, syntax.VerbDescribe, syntax.VerbMonitor, syntax.VerbExport, syntax.VerbReset:
		return true
	}
	return false
}

// writes tells whether a command changes something.
func writes(c *syntax.Command) bool { return !reads(c) || c.Verb == syntax.VerbReset }

func anyOf(commands []*syntax.Command, is func(*syntax.Command) bool) bool {
	for _, c := range commands {
		if is(c) {
			return true
		}
	}
	return false
}

// transact runs the batch against the store.
func (b *batch) transact() error {
	if !anyOf(b.commands, writes) || b.session.options.check {
		state, err := b.session.store.Read()
		if err != nil {
			return err
		}
		_, err = b.apply(state)
		return err
	}
	return b.session.store.Update(b.apply)
}

// apply compiles and applies the batch to a state, and answers its commands
// that read.
func (b *batch) apply(state store.State) (*store.Transaction, error) {
	var err error
	if b.names, err = b.session.naming(state.Interfaces); err != nil {
		return nil, err
	}
	b.base = state.Rules
	changes := b.compile()
	b.checkReads()
	if err := b.found.Err(); err != nil {
		return nil, err
	}
	if b.session.options.debug {
		b.out.Write(ruleset.AppendDebug(nil, b.base, changes))
	}
	if err := b.answer(); err != nil {
		return nil, err
	}
	return b.commit(changes)
}

// compile compiles the source. After errors of syntax only what is wrong on
// other lines is reported too, since much follows from them.
func (b *batch) compile() []ruleset.Change {
	changes, found := compile.Compile(b.base, b.file, b.names.compileOptions())
	syntaxErrors := b.found.HasErrors()
	for _, d := range found.All() {
		if b.found.Errors() < maxErrors && (!syntaxErrors || !b.marked(d.Span)) {
			b.found.Add(d)
		}
	}
	return changes
}

// marked tells whether a finding marks the line of a place already.
func (b *batch) marked(place diag.Span) bool {
	if !place.IsValid() {
		return true
	}
	for _, d := range b.found.All() {
		if d.Span.Source == place.Source && d.Span.Pos().Line == place.Pos().Line {
			return true
		}
	}
	return false
}

// commit applies the changes. A batch that is refused leaves the handles that
// it drew.
func (b *batch) commit(changes []ruleset.Change) (*store.Transaction, error) {
	n := b.session
	now := n.clock()
	options := ruleset.Options{Now: now, Owner: n.owner, CheckOnly: n.options.check}
	var events []ruleset.Event
	if n.options.echo && !n.options.check {
		options.Notify = func(e ruleset.Event) { events = append(events, e) }
	}
	next, refused := ruleset.Apply(b.base, changes, options)
	if len(refused) > 0 {
		for _, e := range refused {
			b.found.Add(b.refusal(e))
		}
		return &store.Transaction{Next: next, Time: now}, b.found.Err()
	}
	t := &store.Transaction{
		Batch: changes, Next: next, Time: now, Owner: n.owner, Interfaces: b.names.made(),
		PID: uint32(n.pid), Command: filepath.Base(n.program),
	}
	b.echo(events, next)
	if !n.options.interactive {
		n.release(t)
	}
	return t, nil
}

// release ends the ownership of tables, as the end of the program does.
func (n *session) release(t *store.Transaction) {
	if left := t.Next.Release(n.owner); left != t.Next {
		t.Next, t.Released = left, true
	}
}

// refusal turns a refusal of the kernel into a finding. A place that is a
// whole command takes in the end of its line, as in nft.
func (b *batch) refusal(e *ruleset.ChangeError) *diag.Diagnostic {
	place := e.Place
	for _, c := range b.commands {
		if c.Span == place && place.IsValid() && int(place.End) < len(place.Source.Text) {
			place.End++
			break
		}
	}
	return &diag.Diagnostic{Severity: diag.Error, Code: e.Code(), Message: e.Message, Span: place}
}

// echo prints what the batch added, and the generation that it led to.
func (b *batch) echo(events []ruleset.Event, next *ruleset.Ruleset) {
	if !slices.ContainsFunc(events, func(e ruleset.Event) bool { return e.Op != ruleset.OpDelete }) {
		return // the kernel does not tell the sender of deletions
	}
	p := eventPrinter{w: &b.out, rules: next, options: b.names.listOptions(), additions: true}
	if b.session.options.json {
		p.options, p.json = p.options.JSON(), nftjson.NewDocument(nil, nftjson.Reference)
	}
	for _, e := range events {
		p.print(e)
	}
	if p.json != nil {
		b.out.Write(p.json.Bytes())
		return
	}
	p.generation(next.Generation, uint32(b.session.pid), filepath.Base(b.session.program))
}

// writeString writes to a buffer, which cannot fail.
func writeString(w io.Writer, s string) { _, _ = io.WriteString(w, s) }
