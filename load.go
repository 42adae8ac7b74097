package verdict

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"verdict/catalog"
	"verdict/diag"
	"verdict/host"
	"verdict/iptables"
	"verdict/nft/compile"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
	"verdict/tc"
)

// LoadOptions say how to load rulesets. The zero LoadOptions know no host and
// no files besides the sources themselves.
type LoadOptions struct {
	// Base is the ruleset that the sources change; nil starts with none. Its
	// host is kept if Host is nil.
	Base *Ruleset
	// Host gives the numbers of interfaces, users and groups. With a nil Host,
	// and for interfaces that it does not have unless Strict is set, numbers
	// are made up and reported as assumptions.
	Host *host.Host
	// HostAssumed says that Host holds nothing but what was assumed, as a nil
	// Host does: it is given so that others number interfaces in the same way.
	HostAssumed bool
	// TC is the host's traffic control, whose devices take the rules of chains
	// with the offload flag; nil: nothing is known of hardware.
	TC *tc.System
	// Strict refuses interfaces that the host does not have, as nft does.
	Strict bool
	// Files opens included files; nil refuses includes.
	Files Files
	// Defines are variables set from outside, as by nft -D.
	Defines map[string]string
	// Zone is the time zone of dates and hours in rules; nil is UTC.
	Zone *time.Location
	// MaxErrors bounds the syntax errors reported, 0: 100.
	MaxErrors int
	// Batch is told each batch before it is applied, with the ruleset that it
	// changes.
	Batch func(base *ruleset.Ruleset, batch []ruleset.Change)
	// Now is the time of loading for elements with timeouts, in nanoseconds
	// since the epoch.
	Now int64
	// TablesFamily is the address family of iptables-save files, FamilyIP or
	// FamilyIP6; FamilyUnspec finds out from their text.
	TablesFamily catalog.Family
}

// Files finds included files.
type Files interface {
	// Open returns the files that an include pattern names, sorted by name;
	// from is the including source.
	Open(pattern string, from *diag.Source) ([]*diag.Source, error)
}

// Ruleset is a loaded ruleset. It is immutable and safe for concurrent use.
type Ruleset struct {
	rules     *ruleset.Ruleset
	tables    *iptables.Program // nil without tables of iptables
	host      *host.Host
	zone      *time.Location
	hostGiven bool
	tc        *tc.System // whose devices have the rules of offloaded chains
}

// HostGiven reports whether a host was given to the load.
func (r *Ruleset) HostGiven() bool { return r.hostGiven }

// Rules gives the underlying snapshot: tables, chains, bytecode, sets.
func (r *Ruleset) Rules() *ruleset.Ruleset { return r.rules }

// Tables are the tables of iptables, which run beside the rules; nil if none
// were loaded.
func (r *Ruleset) Tables() *iptables.Program { return r.tables }

// Host is the host that the ruleset was loaded for, with the interfaces that
// were made up.
func (r *Ruleset) Host() *host.Host { return r.host }

// Assumptions lists what was made up so far because nobody said it: interfaces
// that rules or packets name and the host does not have.
func (r *Ruleset) Assumptions() []string {
	var list []string
	for _, a := range r.host.Assumptions() {
		list = append(list, a.String())
	}
	return list
}

// Load loads ruleset files from a file system, in order, each as one batch
// that applies wholly or not at all. Includes are looked up in the same file
// system. The error is a *diag.ListError with all findings.
func Load(fsys fs.FS, names ...string) (*Ruleset, error) {
	files := fsFiles{fsys}
	var sources []*diag.Source
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("load ruleset: %w", err)
		}
		sources = append(sources, diag.NewSource(name, text))
	}
	r, findings := LoadSources(LoadOptions{Files: files}, sources...)
	return r, findings.Err()
}

// Parse loads one ruleset from a text, without host and includes. The error is a
// *diag.ListError with all findings, whose source is called "ruleset".
func Parse(text string) (*Ruleset, error) {
	r, findings := LoadSources(LoadOptions{}, diag.NewSource("ruleset", []byte(text)))
	return r, findings.Err()
}

// LoadSources loads sources in order, each as one batch. A source is text of
// the language or, if it starts with a brace, the JSON of libnftables, or what
// iptables-save and ip6tables-save write. It reports all findings; the ruleset is
// nil if any of them is an error. Cost: linear in the text.
func LoadSources(options LoadOptions, sources ...*diag.Source) (*Ruleset, *diag.List) {
	l, err := newLoader(options)
	if err != nil {
		l.findings.Errorf(diag.Span{}, "load/host", "%v", err)
		return nil, &l.findings
	}
	for _, src := range sources {
		l.source(src)
	}
	if l.findings.HasErrors() {
		return nil, &l.findings
	}
	r := &Ruleset{rules: l.rules, host: l.host, zone: options.Zone, hostGiven: options.Host != nil && !options.HostAssumed, tc: options.TC}
	if len(l.tables) > 0 {
		program, err := iptables.Compile(l.tables)
		if err != nil {
			l.findings.Errorf(diag.Span{}, "iptables/compile", "%v", err)
			return nil, &l.findings
		}
		r.tables = program
	}
	return r, &l.findings
}

// Apply makes the ruleset that a batch of changes leads to, for rules that a
// program builds from bytecode. The batch applies wholly or not at all; the
// error is a *diag.ListError with the kernel's refusals. Where sets have
// timeouts, use ApplyAt.
func (r *Ruleset) Apply(batch []ruleset.Change) (*Ruleset, error) { return r.ApplyAt(batch, 0) }

// ApplyAt is Apply at a time, in nanoseconds since the epoch as that of the
// packets: timeouts of new elements begin then, and what has expired before is
// in nobody's way.
func (r *Ruleset) ApplyAt(batch []ruleset.Change, now int64) (*Ruleset, error) {
	next, refused := ruleset.Apply(r.rules, batch, ruleset.Options{Now: now, Hardware: hardwareOf(r.tc, r.host)})
	var findings diag.List
	for _, e := range refused {
		findings.Add(changeDiagnostic(e))
	}
	if err := findings.Err(); err != nil {
		return nil, err
	}
	changed := *r
	changed.rules = next
	return &changed, nil
}

// loader holds the state of one call of LoadSources.
type loader struct {
	options  LoadOptions
	host     *host.Host
	rules    *ruleset.Ruleset
	tables   []*iptables.Table
	findings diag.List
}

func newLoader(options LoadOptions) (*loader, error) {
	l := &loader{options: options, host: options.Host, rules: &ruleset.Ruleset{}}
	if base := options.Base; base != nil {
		l.rules = base.rules
		if base.tables != nil {
			l.tables = slices.Clone(base.tables.Tables)
		}
		if l.host == nil {
			l.host = base.host
		}
	}
	if l.host == nil {
		made, err := host.New(host.Config{})
		if err != nil {
			return l, err
		}
		l.host = made
	}
	return l, nil
}

// source loads one source as a batch. All stages run even if an earlier one
// found errors, on what it could make of the text, so that one run finds all
// mistakes; the result is then thrown away.
func (l *loader) source(src *diag.Source) {
	if iptables.Is(src.Text) {
		l.saved(src)
		return
	}
	file, found := l.parse(src)
	failed := found.HasErrors()
	l.merge(found)
	if failed && len(file.Items) == 0 {
		return
	}
	changes, found := compile.Compile(l.rules, file, l.compileOptions())
	failed = failed || found.HasErrors()
	l.merge(found)
	if l.options.Batch != nil && !failed {
		l.options.Batch(l.rules, changes)
	}
	next, refused := ruleset.Apply(l.rules, changes, ruleset.Options{Now: l.options.Now, CheckOnly: failed, Hardware: hardwareOf(l.options.TC, l.host)})
	for _, e := range refused {
		if d := changeDiagnostic(e); !failed || l.isNews(d) {
			l.findings.Add(d)
		}
	}
	if len(refused) == 0 && !failed {
		l.rules = next
	}
	l.findings.Sort()
}

// saved loads an iptables-save file. A table takes the place of one that was
// loaded before, as it does in the kernel.
func (l *loader) saved(src *diag.Source) {
	file, found := iptables.Parse(src, iptables.Options{Family: l.options.TablesFamily, MaxErrors: l.options.MaxErrors})
	l.merge(found)
	if !found.HasErrors() {
		found = iptables.Check(file)
		l.merge(found)
	}
	if found.HasErrors() {
		return
	}
	for _, t := range file.Tables {
		l.tables = slices.DeleteFunc(l.tables, func(old *iptables.Table) bool { return old.Family == t.Family && old.Name == t.Name })
		l.tables = append(l.tables, t)
	}
}

// parse reads a source: text of the language, or the JSON of libnftables.
func (l *loader) parse(src *diag.Source) (*syntax.File, *diag.List) {
	if nftjson.Is(src.Text) {
		return nftjson.Decode(src)
	}
	return syntax.Parse(src, l.syntaxOptions())
}

// isNews reports whether a finding marks a line that no other finding marks:
// what follows from a mistake must not be reported beside it.
func (l *loader) isNews(d *diag.Diagnostic) bool {
	if !d.Span.IsValid() {
		return false
	}
	for _, other := range l.findings.All() {
		if other.Span.Source == d.Span.Source && other.Span.Pos().Line == d.Span.Pos().Line {
			return false
		}
	}
	return true
}

func (l *loader) merge(found *diag.List) {
	for _, d := range found.All() {
		l.findings.Add(d)
	}
}

// changeDiagnostic turns a refusal of the kernel into a finding.
func changeDiagnostic(e *ruleset.ChangeError) *diag.Diagnostic {
	message := e.Message
	if e.Reason != "" {
		message += ": " + e.Reason
	}
	return &diag.Diagnostic{Severity: diag.Error, Code: e.Code(), Message: message, Span: e.Place, Hint: e.Hint}
}

func (l *loader) syntaxOptions() syntax.Options {
	o := syntax.Options{MaxErrors: l.options.MaxErrors, CompactElements: true}
	if l.options.Files != nil {
		o.Open = l.options.Files.Open
	}
	return o
}

func (l *loader) compileOptions() compile.Options {
	return compile.Options{
		Interface: l.interfaceIndex,
		User:      l.host.UserID,
		Group:     l.host.GroupID,
		Defines:   l.options.Defines,
		Location:  l.options.Zone,
		Now:       time.Unix(0, l.options.Now),
		Clock:     l.options.Now,
	}
}

// interfaceIndex finds or makes up an interface's number.
func (l *loader) interfaceIndex(name string) (uint32, bool) {
	if i, ok := l.host.ByName(name); ok {
		return uint32(i.Index), true
	}
	if l.options.Strict {
		return 0, false
	}
	i, err := l.host.Assume(name)
	if err != nil {
		return 0, false
	}
	return uint32(i.Index), true
}

// fsFiles looks includes up in a file system, relative to its root and to the
// including file.
type fsFiles struct{ fsys fs.FS }

func (f fsFiles) Open(pattern string, from *diag.Source) ([]*diag.Source, error) {
	pattern = strings.TrimPrefix(pattern, "/")
	candidates := []string{path.Clean(pattern), path.Join(path.Dir(from.Name), pattern)}
	for _, p := range candidates {
		names, err := fs.Glob(f.fsys, p)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		var sources []*diag.Source
		for _, name := range names {
			text, err := fs.ReadFile(f.fsys, name)
			if err != nil {
				return nil, err
			}
			sources = append(sources, diag.NewSource(name, text))
		}
		return sources, nil
	}
	if strings.ContainsAny(pattern, "*?[") {
		return nil, nil
	}
	return nil, &fs.PathError{Op: "open", Path: pattern, Err: fs.ErrNotExist}
}
