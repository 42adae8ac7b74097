package netlink

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// Numbers of the attributes of tables, chains, rules and flowtables.
const (
	tableName   = 1
	tableFlags  = 2
	tableUse    = 3
	tableHandle = 4
	tablePad    = 5
	tableUser   = 6
	tableOwner  = 7

	chainTable    = 1
	chainHandle   = 2
	chainName     = 3
	chainHook     = 4
	chainPolicy   = 5
	chainUse      = 6
	chainType     = 7
	chainCounters = 8
	chainPad      = 9
	chainFlags    = 10
	chainID       = 11
	chainUser     = 12

	chainIsBase    = 1
	chainOffload   = 2
	chainIsBinding = 4

	hookNumber   = 1
	hookPriority = 2
	hookDevice   = 3
	hookDevices  = 4
	deviceName   = 1

	ruleTable      = 1
	ruleChain      = 2
	ruleHandle     = 3
	ruleExprs      = 4
	ruleCompat     = 5
	rulePosition   = 6
	ruleUser       = 7
	rulePad        = 8
	ruleID         = 9
	rulePositionID = 10
	ruleChainID    = 11

	flowTable    = 1
	flowName     = 2
	flowHook     = 3
	flowUse      = 4
	flowHandle   = 5
	flowPad      = 6
	flowFlags    = 7
	flowHookNum  = 1
	flowHookPrio = 2
	flowHookDevs = 3
	flowOffload  = 1
	flowCounter  = 2
)

func (w *builder) table(name string, def *ruleset.TableDef, handle uint64) {
	w.str(tableName, name)
	w.u32(tableFlags, def.Flags)
	if handle != 0 {
		w.u64(tableHandle, handle)
		if owner, err := strconv.ParseUint(def.Owner, 10, 32); err == nil && def.Flags&ruleset.TableOwner != 0 {
			w.u32(tableOwner, uint32(owner))
		}
	}
	var u userData
	u.text(udComment, def.Comment)
	w.userData(tableUser, u)
}

// devices appends a hook's devices: one alone also the old way, as the kernel
// does.
func (w *builder) devices(one, many uint16, names []string) {
	if len(names) == 1 && one != 0 {
		w.str(one, names[0])
		return
	}
	if len(names) == 0 {
		return
	}
	mark := w.begin(many)
	for _, n := range names {
		w.str(deviceName, n)
	}
	w.end(mark)
}

// base appends what makes a chain a base chain.
func (w *builder) base(b *ruleset.BaseChain, policy bool) {
	mark := w.begin(chainHook)
	w.u32(hookNumber, uint32(b.Hook))
	w.u32(hookPriority, uint32(b.Priority))
	w.devices(hookDevice, hookDevices, b.Devices)
	w.end(mark)
	if policy {
		w.u32(chainPolicy, uint32(b.Policy))
	}
	w.str(chainType, b.Type)
}

func (w *builder) chainComment(text string) {
	var u userData
	u.text(udComment, text)
	w.userData(chainUser, u)
}

// rule appends expressions and comment of a rule.
func (w *encoder) rule(list []expr.Expr, text string) error {
	if err := w.expressions(ruleExprs, list); err != nil {
		return err
	}
	var u userData
	u.text(udComment, text)
	w.userData(ruleUser, u)
	return w.err
}

func (w *builder) flowtable(table string, f *ruleset.Flowtable, handle uint64) {
	w.str(flowTable, table)
	w.str(flowName, f.Name)
	if !f.Unhooked {
		mark := w.begin(flowHook)
		w.u32(flowHookNum, uint32(catalog.HookNetdevIngress))
		w.u32(flowHookPrio, uint32(f.Priority))
		w.devices(0, flowHookDevs, f.Devices)
		w.end(mark)
	}
	w.u32(flowFlags, bit(f.Offload)*flowOffload|bit(f.Counter)*flowCounter)
	if handle != 0 {
		w.u64(flowHandle, handle)
	}
}

// readDevices reads the devices of a hook; the old form is read over where
// the new one is there too.
func (f *fields) readDevices(one, many uint16) (names []string) {
	if f.has(many) {
		f.skip(one)
		err := eachAttr(f.take(many), func(a attr) error {
			if a.typ != deviceName {
				f.odd = true
				return nil
			}
			names = append(names, record{value: a.value}.text())
			return nil
		})
		f.odd = f.odd || err != nil
		return names
	}
	if one != 0 && f.has(one) {
		names = append(names, f.str(one))
	}
	return names
}

// readBase reads what makes a chain a base chain.
func (f *fields) readBase(family catalog.Family) *ruleset.BaseChain {
	h := parseFields(f.take(chainHook))
	b := &ruleset.BaseChain{
		Type: f.str(chainType), Policy: catalog.VerdictKind(int32(f.u32(chainPolicy))),
		Hook: catalog.HookNum(h.small(hookNumber, 255)), Priority: int32(h.u32(hookPriority)),
		Devices: h.readDevices(hookDevice, hookDevices),
	}
	f.odd = f.odd || !h.whole()
	return b
}
