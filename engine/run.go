package engine

import (
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/engine/vm"
	"verdict/packet"
	"verdict/trace"
)

// hook takes the packet through one hook and reports whether it goes on.
func (w *Worker) hook(family catalog.Family, num catalog.HookNum, list *hookList) bool {
	if len(list.steps) == 0 {
		w.pass(family, num)
		return true
	}
	w.pkt.Family, w.pkt.HookFamily, w.pkt.Hook, w.pkt.OnDevice = family, family, num, w.onDevice
	if family == catalog.FamilyBridge {
		w.pkt.Family = catalog.FamilyBridge
	}
	w.pkt.Length = w.view.NetLen
	if family == catalog.FamilyARP && num == catalog.HookARPOutput {
		w.pkt.Length = w.view.DeviceLen()
	}
	if w.sink != nil {
		w.enter(family, num)
	}
	fate, ran := Accepted, false
	for i := range list.steps {
		s := &list.steps[i]
		switch s.kind {
		case stepChain:
			fate, ran = w.chain(s.base), true
			if s.base.Route {
				fate = w.routeAgain(fate)
			}
		case stepDefrag:
			fate = w.defragStep(num)
		case stepTrack:
			fate = w.trackStep(family, num)
		case stepNAT:
			var natRan bool
			fate, natRan = w.natStep(list, s.source, num)
			ran = ran || natRan
		case stepConfirm:
			fate = w.confirmStep(num)
		case stepTable:
			fate, ran = w.table(s.table), true
			if s.table.Route {
				fate = w.routeAgain(fate)
			}
		}
		if fate != Accepted {
			break
		}
	}
	w.leave(family, num, fate, ran)
	return fate == Accepted
}

// pass tells of a hook at which nothing is registered.
func (w *Worker) pass(family catalog.Family, num catalog.HookNum) {
	if w.sink != nil {
		w.sink.Event(&trace.Event{Kind: trace.PassHook, Family: family, Hook: num, Mark: w.meta.Mark, Device: w.deviceAt(family), Tagged: w.view.NumVLAN != 0})
	}
}

// deviceAt names the device of netdev hooks.
func (w *Worker) deviceAt(family catalog.Family) string {
	if family == catalog.FamilyNetdev {
		return w.device
	}
	return ""
}

// enter tells the sink of a hook.
func (w *Worker) enter(family catalog.Family, num catalog.HookNum) {
	w.sink.Event(&trace.Event{Kind: trace.EnterHook, Family: family, Hook: num, Mark: w.meta.Mark, Device: w.deviceAt(family), Tagged: w.view.NumVLAN != 0})
}

func (w *Worker) leave(family catalog.Family, num catalog.HookNum, fate Fate, ran bool) {
	w.out.Fate = fate
	w.out.Hooks = append(w.out.Hooks, HookResult{})
	// In place: to copy a value just made of single bytes waits for these.
	result := &w.out.Hooks[len(w.out.Hooks)-1]
	result.Family, result.Hook, result.Fate, result.Ran = family, num, fate, ran
	if w.sink != nil {
		w.left(family, num, fate)
	}
}

// left tells the sink that a hook is over.
func (w *Worker) left(family catalog.Family, num catalog.HookNum, fate Fate) {
	w.sink.Event(&trace.Event{Kind: trace.LeaveHook, Family: family, Hook: num, Text: fate.String(), Mark: w.meta.Mark})
}

// chain evaluates one base chain.
func (w *Worker) chain(b *vm.Base) Fate {
	v := &w.out.Verdict
	if w.sink != nil {
		w.machine.RunTraced(b, &w.pkt, v, w.sink)
	} else {
		w.machine.Run(b, &w.pkt, v)
	}
	w.out.Decided, w.out.Base, w.out.Table = true, b, nil
	switch {
	case v.Unknown:
		w.out.CutAt = v.CutAt
		w.out.Reason = "the capture ends before the bytes that the rule needs"
		return Unknown
	case v.Kind == catalog.VerdictAccept:
		return Accepted
	case v.Kind == catalog.VerdictQueue:
		return Queued
	case v.Kind == catalog.VerdictStolen:
		return Stolen
	}
	return Dropped
}

// lost ends the packet's way inside the host.
func (w *Worker) lost(reason string) {
	w.out.Fate, w.out.Reason = Lost, reason
	w.out.Decided, w.out.Base, w.out.Table = false, nil, nil
	if w.sink != nil {
		w.sink.Event(&trace.Event{Kind: trace.Note, Text: reason})
	}
}

// trackStep attaches the packet to its connection.
func (w *Worker) trackStep(family catalog.Family, num catalog.HookNum) Fate {
	w.track.Now, w.track.Family = w.now, family
	w.track.Prerouting = num == catalog.HookPrerouting
	if w.conns.Track(&w.track) == conntrack.Drop {
		w.out.Reason = "connection tracking dropped it"
		return Lost
	}
	if w.track.Prerouting && w.ct.Info != conntrack.InfoUntracked && w.engine.options.Replies {
		w.verified = w.checksummed()
	}
	return Accepted
}

// checksummed tells packets whose transport checksum tracking verified.
func (w *Worker) checksummed() bool {
	v := &w.view
	switch v.L4Proto {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoICMP, packet.ProtoICMPv6:
		if size, _ := v.Load8(v.ThOff + 12); v.L4Proto == packet.ProtoTCP && (size>>4 < 5 || v.ThOff+int(size>>4)*4 > v.End) {
			return false // refused before its checksum is looked at
		}
		sum, result := v.TransportSum()
		ok, _ := v.VerifyTransport()
		return result == packet.OK && ok && (v.L4Proto != packet.ProtoUDP || sum != 0)
	}
	return false
}

// confirmStep enters a new connection into the table.
func (w *Worker) confirmStep(num catalog.HookNum) Fate {
	w.track.Now = w.now
	if w.conns.Confirm(&w.track) == conntrack.Drop {
		w.out.Reason = "its connection clashes with another one"
		return Lost
	}
	return Accepted
}
