package tc

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"verdict/offload"
)

// TestSharedBlockReplay fails at every filter (of 1,000 in the goals) that a
// joining device is offered,
// and compares software and hardware with what they were before.
func TestSharedBlockReplay(t *testing.T) {
	filters := 200
	if os.Getenv("VERDICT_GOALS") != "" {
		filters = 1000
	}
	s := newWorld(t, Config{})
	m, err := offload.ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	s.AddDevice(Device{Name: "eth2", Hardware: offload.NewDevice(m)})
	do(t, s, "qdisc add dev eth0 ingress_block 7 clsact")
	for i := range filters {
		do(t, s, fmt.Sprintf("filter add block 7 protocol ip pref %d flower skip_sw dst_ip 10.0.%d.%d action drop", i%30+1, i/256, i%256))
	}
	before := s.Line("filter show block 7", Options{}).Stdout
	joining := s.Device("eth2").Hardware
	for n := 1; n <= filters; n++ {
		joining.FailAt(n, syscall.EIO, "broken")
		o := s.Line("qdisc add dev eth2 ingress_block 7 clsact", Options{})
		if o.Status != exitKernel || o.Stderr != "Error: eswitch: broken.\n" {
			t.Fatalf("failure at %d: %d %q", n, o.Status, o.Stderr)
		}
		if joining.Len() != 0 || s.Device("eth0").Hardware.Len() != filters {
			t.Fatalf("failure at %d: %d and %d rules in hardware", n, joining.Len(), s.Device("eth0").Hardware.Len())
		}
		if got := s.Line("filter show block 7", Options{}).Stdout; got != before {
			t.Fatalf("failure at %d: the listing changed", n)
		}
	}
	do(t, s, "qdisc add dev eth2 ingress_block 7 clsact")
	if joining.Len() != filters {
		t.Errorf("%d rules in the device that joined, want %d", joining.Len(), filters)
	}
	do(t, s, "qdisc del dev eth0 clsact")
	if n := s.Device("eth0").Hardware.Len(); n != 0 {
		t.Errorf("%d rules left in the device that went", n)
	}
}

// TestRefusedFilterLeavesNothing compares the state before and after filters
// that hardware refuses.
func TestRefusedFilterLeavesNothing(t *testing.T) {
	s := newWorld(t, Config{})
	do(t, s, "qdisc add dev eth0 clsact", "filter add dev eth0 ingress protocol ip pref 1 flower skip_sw ip_proto udp action drop index 5")
	state := func() string {
		blocks, need, want := s.BypassReport()
		return fmt.Sprint(s.Line("filter show dev eth0 ingress", Options{}).Stdout, s.Line("actions ls action gact", Options{}).Stdout,
			s.Line("chain show dev eth0 ingress", Options{}).Stdout, blocks, need, want, s.Device("eth0").Hardware.Len())
	}
	before := state()
	for _, line := range []string{
		"filter add dev eth0 ingress protocol ip pref 1 flower skip_sw ip_proto tcp action drop index 5",
		"filter add dev eth0 ingress protocol ip pref 2 flower skip_sw ip_proto tcp action goto chain 4",
		"filter replace dev eth0 ingress protocol ip pref 1 handle 1 flower skip_sw ip_proto udp action trap",
		"filter add dev eth0 ingress protocol all pref 3 matchall skip_sw action drop",
	} {
		s.Device("eth0").Hardware.FailAt(1, syscall.ENOSPC, "table full")
		o := s.Line(line, Options{})
		if o.Status != exitKernel || o.Stderr != "Error: eswitch: table full.\nWe have an error talking to the kernel\n" {
			t.Errorf("%s: %d %q", line, o.Status, o.Stderr)
		}
		if got := state(); got != before {
			t.Errorf("%s left something:\n%s\nwas\n%s", line, got, before)
		}
	}
}

// TestHardwareWay runs packets through hardware first.
func TestHardwareWay(t *testing.T) {
	s := newWorld(t, Config{})
	do(t, s, "qdisc add dev eth0 clsact",
		"filter add dev eth0 ingress protocol ip pref 1 flower ip_proto udp dst_port 53 action skbedit mark 9 action goto chain 2",
		"filter add dev eth0 ingress chain 2 protocol ip pref 1 flower skip_hw src_ip 10.0.0.1 action drop",
		"filter add dev eth0 ingress protocol ip pref 2 flower skip_sw ip_proto udp dst_port 80 action trap",
		"filter add dev eth0 ingress protocol ip pref 3 flower skip_sw ip_proto udp dst_port 81 action mirred egress redirect dev eth1")
	for _, c := range []struct {
		port   string
		result string
		fate   string
	}{
		{"0035", "done false trapped false resume true 2 mark 9", "drop"},
		{"0050", "done false trapped true resume false 0 mark 0", "pass"},
		{"0051", "done true trapped false resume false 0 mark 0", ""},
		{"0052", "done false trapped false resume false 0 mark 0", "pass"},
	} {
		var p Packet
		if !p.Load(frame(t, udpFrame[:72]+c.port+udpFrame[76:]), true) {
			t.Fatal("frame")
		}
		d := s.Device("eth0")
		h := s.Hardware(d, &p)
		if got := fmt.Sprintf("done %t trapped %t resume %t %d mark %d", h.Done, h.Trapped, h.Resume.Set, h.Resume.Chain, h.Mark); got != c.result {
			t.Errorf("port %s: %s, want %s", c.port, got, c.result)
		}
		if h.Done {
			continue
		}
		if again := s.Hardware(d, &p); h.Trapped && again.Trapped {
			t.Errorf("port %s: trapped twice", c.port)
		}
		if r := s.Receive(d, &p); r.Fate.String() != c.fate {
			t.Errorf("port %s: %s, want %s", c.port, r.Fate, c.fate)
		}
	}
	o := s.Line("-s filter show dev eth0 ingress pref 2", Options{})
	if want := "Sent hardware 33 bytes 1 pkt"; !contains(o.Stdout, want) {
		t.Errorf("%q is not in %s", want, o.Stdout)
	}
}

func contains(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}
