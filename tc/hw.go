package tc

import (
	"errors"
	"syscall"

	"verdict/offload"
)

// hardwareFilter is a filter that is in hardware, found by its cookie.
type hardwareFilter struct {
	base *filterBase
	rule offload.Rule
}

// flowActions translates a filter's actions. The error is what the kernel
// says when it cannot.
//
// Ref: cls_api.c, tc_setup_offload_action
func (f *filterBase) flowActions() ([]offload.Action, *KernelError) {
	var out []offload.Action
	for _, a := range f.actions {
		l, err := a.params.flow(a)
		if err != nil {
			var k *KernelError
			if errors.As(err, &k) {
				return nil, k
			}
			return nil, errno(syscall.EOPNOTSUPP)
		}
		for i := range l {
			l[i].Source = &a.identity
		}
		out = append(out, l...)
	}
	return out, nil
}

// offer asks all devices of the filter's block to take a rule. stop says that
// the first refusal is the result. It returns what the kernel returns.
//
// Ref: cls_api.c, tc_setup_cb_add
func (s *System) offer(f *filterBase, rule offload.Rule, stop bool) *KernelError {
	b := f.instance.chain.block
	if b.withoutOffload > 0 && stop {
		return errno(syscall.EOPNOTSUPP)
	}
	taken := 0
	for _, hw := range b.hardwares() {
		if err := hw.Replace(rule); err != nil {
			if stop {
				return driverError(err)
			}
			continue
		}
		taken++
	}
	s.addToHardware(f, rule, taken)
	return nil
}

// driverError is a refusal as the kernel passes it on.
func driverError(err error) *KernelError {
	var r *offload.Refusal
	if errors.As(err, &r) && r.Message != "" {
		return refuse(r.Errno, "%s", r.Error())
	}
	return errno(offload.ErrnoOf(err))
}

// addToHardware keeps count of the devices that have a filter.
func (s *System) addToHardware(f *filterBase, rule offload.Rule, n int) {
	if n == 0 {
		return
	}
	b := f.instance.chain.block
	if f.inHW == 0 {
		f.flags |= flagInHW
		b.inHardware++
		if f.flags&flagSkipSW != 0 {
			b.skipSWCount++
		}
	}
	f.inHW += n
	s.hardware[f.cookie] = &hardwareFilter{base: f, rule: rule}
}

// offered reports whether a filter has to be offered to hardware: it is not
// skip_hw, and there is hardware, or its lack is an error.
func (f *filterBase) offered() bool {
	if f.flags&flagSkipHW != 0 {
		return false
	}
	b := f.instance.chain.block
	return f.flags&flagSkipSW != 0 || len(b.bindings) > b.withoutOffload
}

// offload puts a filter into hardware as its flags say, and takes it out again
// where it must not stay.
//
// Ref: cls_flower.c, fl_hw_replace_filter
func (s *System) offload(f *filterBase, rule offload.Rule) *KernelError {
	skipSW := f.flags&flagSkipSW != 0
	actions, err := f.flowActions()
	if err != nil {
		if skipSW {
			return err
		}
		return nil
	}
	rule.Actions = actions
	if err := s.offer(f, rule, skipSW); err != nil {
		s.unload(f)
		return err
	}
	if skipSW && f.flags&flagInHW == 0 {
		return errno(syscall.EINVAL)
	}
	return nil
}

// unload takes a filter out of all devices of its block.
func (s *System) unload(f *filterBase) {
	for _, hw := range f.instance.chain.block.hardwares() {
		_ = hw.Destroy(f.cookie) // a device that does not have it has nothing to do
	}
	s.leftHardware(f, f.inHW)
}

// leftHardware is the reverse of addToHardware.
func (s *System) leftHardware(f *filterBase, n int) {
	if f.inHW == 0 || n == 0 {
		return
	}
	b := f.instance.chain.block
	if f.inHW -= n; f.inHW > 0 {
		return
	}
	f.flags &^= flagInHW
	b.inHardware--
	if f.flags&flagSkipSW != 0 {
		b.skipSWCount--
	}
	delete(s.hardware, f.cookie)
}

// reoffer replays one filter to a device, or withdraws it.
//
// Ref: cls_api.c, tc_setup_cb_reoffload
func (s *System) reoffer(f *filterBase, rule offload.Rule, hw *offload.Device, add bool) *KernelError {
	if !add {
		if hw.Destroy(f.cookie) == nil {
			s.leftHardware(f, 1)
		}
		return nil
	}
	skipSW := f.flags&flagSkipSW != 0
	actions, err := f.flowActions()
	if err != nil {
		if skipSW {
			return err
		}
		return nil
	}
	rule.Actions = actions
	if err := hw.Replace(rule); err != nil {
		if skipSW {
			return driverError(err)
		}
		return nil
	}
	s.addToHardware(f, rule, 1)
	return nil
}

// refresh takes the counters of a filter from its devices.
//
// Ref: cls_flower.c, fl_hw_update_stats
func (s *System) refresh(f *filterBase) {
	if f.inHW == 0 {
		return
	}
	for _, hw := range f.instance.chain.block.hardwares() {
		st, ok := hw.Stats(f.cookie)
		if !ok {
			continue
		}
		for _, a := range f.actions {
			a.HWPackets += st.Packets
			a.HWBytes += st.Bytes
			a.Drops += st.Drops
			a.lastUsed = max(a.lastUsed, st.LastUsed)
			a.usedStats |= hwStatsDelayed
		}
	}
}
