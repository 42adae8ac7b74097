package tc

import (
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
	"syscall"

	"verdict/offload"
)

// Counters are the statistics of an action.
type Counters struct {
	Packets, Bytes     uint64
	Drops, Overlimits  uint64
	HWPackets, HWBytes uint64
}

// Action is one action, of one filter or shared.
type Action struct {
	Kind    string
	Index   uint32
	Control Code
	Counters

	params    params
	refs      int
	binds     int
	bound     bool // made by a filter
	noPercpu  bool
	skipHW    bool
	skipSW    bool
	cookie    []byte
	hwStats   uint8
	usedStats uint8
	inHW      int
	installed int64
	lastUsed  int64
	firstUsed int64
	identity  uint64
	chains    []*Chain // that goto refers to
}

// params is what an action of one kind does.
type params interface {
	// run executes the action on a packet.
	run(s *System, p *Packet, a *Action) Code
	// show writes the body of a listing.
	show(o *printer, a *Action)
	// flow translates for hardware.
	flow(a *Action) ([]offload.Action, error)
}

// count adds the packet to the action's counters.
func (a *Action) count(p *Packet) {
	a.Packets++
	a.Bytes += uint64(p.pktLen)
	a.lastUsed = p.Now
	if a.firstUsed == 0 {
		a.firstUsed = p.Now
	}
}

// drop counts a drop and says so.
func (a *Action) drop() Code {
	a.Drops++
	return Shot
}

// actionKind knows a kind's words.
type actionKind struct {
	name string
	// parse reads the words behind the kind's name.
	parse func(w *words, s *System) (*actionRequest, *ToolError)
	// check makes the kernel's checks, with the block that the filter belongs
	// to, nil for shared actions.
	check func(s *System, r *actionRequest, b *Block) *KernelError
}

// actionRequest is an action as a command writes it.
type actionRequest struct {
	kind                     *actionKind
	index                    uint32
	control                  Code
	noPercpu, skipHW, skipSW bool
	cookie                   []byte
	hwStats                  uint8
	params                   params
	// lookup says that the request names an action that is there.
	lookup bool
}

var actionKinds map[string]*actionKind

func init() {
	actionKinds = map[string]*actionKind{}
	for _, k := range []*actionKind{
		kindGact, kindMirred, kindSkbedit, kindVlan, kindPedit, kindCsum, kindCT, kindPolice, kindSample,
		kindTunnelKey, kindMpls, kindNat, kindSimple, kindSkbmod,
	} {
		actionKinds[k.name] = k
	}
}

// actionTable holds the actions of one kind by index.
type actionTable struct {
	byIndex handleTable[Action]
	free    uint32 // no lower index is free
}

func (s *System) table(kind string) *actionTable {
	t := s.actions[kind]
	if t == nil {
		t = &actionTable{free: 1}
		s.actions[kind] = t
	}
	return t
}

// sorted lists the actions by index.
func (t *actionTable) sorted() []*Action {
	l := t.byIndex.all()
	sort.Slice(l, func(i, j int) bool { return l[i].Index < l[j].Index })
	return l
}

func (t *actionTable) allocate() uint32 {
	for t.byIndex.get(t.free) != nil {
		t.free++
	}
	return t.free
}

// initAction makes, binds or changes one action. b is the block of the filter
// that wants it, nil for commands on actions.
//
// Ref: act_api.c, tcf_action_init_1; act_gact.c, tcf_gact_init
func (s *System) initAction(r *actionRequest, b *Block, replace bool) (a *Action, made bool, err *KernelError) {
	t := s.table(r.kind.name)
	old := t.byIndex.get(r.index)
	if r.index != 0 && old != nil {
		if b != nil {
			old.refs++
			old.binds++
			return old, false, nil
		}
		if !replace {
			return nil, false, errno(syscall.EEXIST)
		}
	} else {
		old = nil
	}
	if err := s.checkAction(r, b); err != nil {
		return nil, false, err
	}
	if old != nil {
		s.assign(old, r, b)
		return old, false, nil
	}
	a = &Action{Kind: r.kind.name, Index: r.index, refs: 1, installed: s.Now, identity: s.nextCookie()}
	if a.Index == 0 {
		a.Index = t.allocate()
	}
	if b != nil {
		a.binds, a.bound = 1, true
	}
	s.assign(a, r, b)
	t.byIndex.set(a.Index, a)
	return a, true, nil
}

// checkAction makes the checks that all kinds share, then those of the kind.
//
// Ref: act_api.c, tcf_action_check_ctrlact
func (s *System) checkAction(r *actionRequest, b *Block) *KernelError {
	if r.params == nil {
		return errno(syscall.EINVAL)
	}
	if r.control.op() == GotoChain && b == nil {
		return refuse(syscall.EINVAL, "can't goto NULL proto/chain")
	}
	if r.kind.check != nil {
		return r.kind.check(s, r, b)
	}
	return nil
}

func (s *System) assign(a *Action, r *actionRequest, b *Block) {
	for _, c := range a.chains {
		c.unrefAction()
	}
	a.chains = nil
	a.params, a.Control, a.cookie = r.params, r.control, r.cookie
	a.noPercpu, a.skipHW, a.skipSW, a.hwStats = r.noPercpu, r.skipHW, r.skipSW, r.hwStats
	if b != nil && r.control.op() == GotoChain {
		c := b.chain(r.control.number(), true)
		c.refAction()
		a.chains = append(a.chains, c)
	}
}

// release gives up one reference; bind says that it was a filter's.
func (s *System) release(a *Action, bind bool) {
	a.refs--
	if bind {
		a.binds--
	}
	if a.refs > 0 {
		return
	}
	t := s.table(a.Kind)
	if t.byIndex.get(a.Index) == a {
		t.byIndex.drop(a.Index)
		t.free = min(t.free, a.Index)
	}
	for _, c := range a.chains {
		c.unrefAction()
	}
	a.chains = nil
}

// initActions makes a filter's list of actions. On an error nothing is left.
//
// Ref: act_api.c, tcf_action_init
func (s *System) initActions(list []*actionRequest, b *Block, flags uint32) ([]*Action, *KernelError) {
	var out []*Action
	fail := func(err *KernelError) ([]*Action, *KernelError) {
		s.releaseAll(out)
		return nil, err
	}
	for _, r := range list {
		a, _, err := s.initAction(r, b, true)
		if err != nil {
			return fail(err)
		}
		out = append(out, a)
	}
	for _, a := range out {
		if !a.bound && (a.skipSW != (flags&flagSkipSW != 0) || a.skipHW != (flags&flagSkipHW != 0)) {
			return fail(refuse(syscall.EINVAL, "Mismatch between action and filter offload flags"))
		}
	}
	return out, nil
}

func (s *System) releaseAll(list []*Action) {
	for _, a := range list {
		s.release(a, true)
	}
}

// parseActions reads a list of actions as filters and the actions command take
// it, up to a word that belongs to neither.
func (s *System) parseActions(w *words) ([]*actionRequest, *ToolError) {
	var list []*actionRequest
	for w.more() {
		switch {
		case w.is("action"):
			w.skip()
			continue
		case w.is("flowid"), w.is("classid"):
			return list, nil
		case w.is("help"):
			return nil, tool("parse_action: help")
		case w.matches("change", "replace", "delete", "get", "add"):
			return list, nil
		}
		r, err := s.parseAction(w)
		if err != nil {
			if err.Ends {
				return nil, err
			}
			return nil, tool("%s\nbad action parsing\nparse_action: bad value (%d:%s)!", err.Text, w.left(), w.peek())
		}
		list = append(list, r)
	}
	return list, nil
}

// parseAction reads one action.
func (s *System) parseAction(w *words) (*actionRequest, *ToolError) {
	name := w.peek()
	kind := actionKinds[name]
	if _, _, isControl := controlWord(name); isControl || kind == nil {
		kind = kindGact
	}
	r, err := kind.parse(w, s)
	if err != nil {
		return nil, err
	}
	r.kind = kind
	return r, parseActionTail(w, r)
}

// parseActionTail reads what may follow any action.
func parseActionTail(w *words, r *actionRequest) *ToolError {
	if w.is("cookie") {
		text, err := w.value()
		if err != nil {
			return err
		}
		if r.cookie, err = cookie(text); err != nil {
			return err
		}
	}
	if w.is("hw_stats") {
		text, err := w.value()
		if err != nil {
			return err
		}
		bits, ok := map[string]uint8{"any": 3, "immediate": hwStatsImmediate, "delayed": hwStatsDelayed, "disabled": hwStatsDisabled}[text]
		if !ok {
			return tool("hw_stats type not supported: %s", text)
		}
		r.hwStats = bits
	}
	for {
		switch {
		case w.is("no_percpu"):
			r.noPercpu = true
		case w.is("skip_sw"):
			r.skipSW = true
		case w.is("skip_hw"):
			r.skipHW = true
		default:
			return nil
		}
		w.skip()
	}
}

func cookie(text string) ([]byte, *ToolError) {
	if len(text) > 32 {
		return nil, wrong(text, fmt.Sprintf("Max cookie size %d, input size %d", 16, len(text)/2))
	}
	b, err := hex.DecodeString(strings.ToLower(text[:len(text)/2*2]))
	if err != nil {
		return nil, wrong(text, "cookie must be a hex string")
	}
	return b, nil
}
