package engine

import (
	"verdict/catalog"
	"verdict/packet"
)

// bridged reports whether a frame is taken by a bridge.
func (w *Worker) bridged(d *device) bool { return d.bridgeID != 0 }

// bridgeFrame takes a frame that came in through a bridge port through the
// bridge's hooks.
// Ref: net/bridge/br_input.c, br_handle_frame, br_handle_frame_finish.
func (w *Worker) bridgeFrame(d *device) {
	e := w.engine
	w.view.AtDevice()
	if len(w.view.Data) >= 12 && w.view.Data[6]&1 != 0 {
		w.lost("its source is no station's address")
		return
	}
	w.meta.BridgeIn = d.bridge
	bridge := e.device(d.bridge.String())
	if bridge.hasMAC && len(w.view.Data) >= 6 && [6]byte(w.view.Data[:6]) == bridge.mac {
		w.meta.PktType = packet.PktHost
	}
	if !w.hook(catalog.FamilyBridge, catalog.HookPrerouting, w.hooks.bridge[catalog.HookPrerouting]) {
		return
	}
	out, up := e.bridgePort(d.bridgeID, d, w.view.Data)
	switch {
	case up && len(out) == 0:
		w.bridgeUp(d)
	case up:
		w.flood(out)
		w.bridgeUp(d)
	case len(out) == 0:
		w.lost("the bridge has no port for it")
	default:
		w.flood(out[:len(out)-1])
		w.bridgeForward(out[len(out)-1])
	}
}

// bridgeForward sends the frame out through a port.
// Ref: net/bridge/br_forward.c, __br_forward, br_dev_queue_push_xmit.
func (w *Worker) bridgeForward(out *device) {
	lists := &w.hooks.bridge
	w.meta.OIF, w.meta.BridgeOut = out.meta, out.bridge
	if !w.hook(catalog.FamilyBridge, catalog.HookForward, lists[catalog.HookForward]) {
		return
	}
	w.bridgePost()
}

// bridgePost takes a frame through the bridge's postrouting to its port.
func (w *Worker) bridgePost() {
	w.meta.IIF, w.meta.BridgeIn = packet.Device{}, packet.Name{}
	if !w.hook(catalog.FamilyBridge, catalog.HookPostrouting, w.hooks.bridge[catalog.HookPostrouting]) {
		return
	}
	if w.engine.options.Replies {
		w.transmit()
		return
	}
	w.tcEgress()
}

// flood sends copies out through ports.
func (w *Worker) flood(out []*device) {
	if !w.engine.options.Replies {
		return
	}
	for _, port := range out {
		c := w.fork(append([]byte(nil), w.view.Data...), w.ct.Clone())
		if c == nil {
			return
		}
		c.meta = w.meta
		c.view.AtDevice()
		c.bridgeForward(port)
		w.finish(c, MadeClone)
	}
}

// bridgeUp delivers a frame to the host through the bridge device.
// Ref: net/bridge/br_input.c, br_pass_frame_up.
func (w *Worker) bridgeUp(d *device) {
	if !w.hook(catalog.FamilyBridge, catalog.HookInput, w.hooks.bridge[catalog.HookInput]) {
		return
	}
	w.view.AtIP()
	bridge := w.engine.device(d.bridge.String())
	w.meta.IIF, w.meta.BridgeIn = bridge.meta, packet.Name{}
	w.meta.OIF, w.meta.BridgeOut = packet.Device{}, packet.Name{}
	w.newBuffer()
	w.deliver(bridge)
}

// bridgePort finds where a bridge sends a frame: up to the host, and out
// through the port that its forwarding database names, or all others.
func (e *Engine) bridgePort(bridgeID int, in *device, frame []byte) (out []*device, up bool) {
	if len(frame) < 6 {
		return nil, false
	}
	to := [6]byte(frame[:6])
	if to[0]&1 != 0 {
		return e.otherPorts(bridgeID, in), true
	}
	for _, i := range e.host.Interfaces() {
		if i.HasMAC && i.MAC == to && (i.MasterIndex == bridgeID || i.Index == bridgeID) {
			return nil, true
		}
	}
	for _, entry := range e.host.FDB() {
		if entry.MAC != to || entry.Bridge == "" {
			continue
		}
		port := e.device(entry.Dev)
		if in != nil && port.meta.Index == in.meta.Index {
			return nil, false
		}
		return []*device{port}, false
	}
	return e.otherPorts(bridgeID, in), false
}

// otherPorts are the bridge's ports but the one that the frame came in by.
func (e *Engine) otherPorts(bridgeID int, in *device) []*device {
	var out []*device
	for _, i := range e.host.Interfaces() {
		if i.MasterIndex == bridgeID && (in == nil || uint32(i.Index) != in.meta.Index) {
			out = append(out, e.device(i.Name))
		}
	}
	return out
}

// bridgeOut sends a frame of the host itself out through a bridge.
// Ref: net/bridge/br_device.c, br_dev_xmit.
func (w *Worker) bridgeOut(bridge *device) {
	out, _ := w.engine.bridgePort(int(bridge.meta.Index), nil, w.view.Data)
	for n, port := range out {
		if n == len(out)-1 {
			w.bridgeSend(port)
			return
		}
		c := w.fork(append([]byte(nil), w.view.Data...), w.ct.Clone())
		if c == nil {
			return
		}
		c.meta = w.meta
		c.bridgeSend(port)
		w.finish(c, MadeClone)
	}
}

// bridgeSend takes a frame of the host itself through the bridge's output hook.
func (w *Worker) bridgeSend(port *device) {
	w.view.AtDevice()
	w.meta.IIF = packet.Device{}
	w.meta.OIF, w.meta.BridgeOut = port.meta, port.bridge
	if w.hook(catalog.FamilyBridge, catalog.HookOutput, w.hooks.bridge[catalog.HookOutput]) {
		w.bridgePost()
	}
}
