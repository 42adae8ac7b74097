package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// setup prepares a network namespace: a pair of interfaces, of which in is
// where packets arrive.
const setup = `set -e
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter
echo 1 > /proc/sys/net/ipv6/conf/default/addr_gen_mode
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
ip link add in address 02:00:00:00:00:0a type veth peer name out address 02:00:00:00:00:0b
ip link set in up
ip link set out up
ip addr add 192.0.2.1/24 dev in
ip addr add 2001:db8:ffff::1/64 dev in nodad`

// enterNamespace moves the calling thread, which must be locked, into a new
// network namespace without a name, and gives the index of its interface. The
// namespace before it goes away if nothing else is in it.
func enterNamespace() (ifindex int, err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return 0, fmt.Errorf("new network namespace: %w", err)
	}
	if out, err := exec.Command("sh", "-c", setup).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("set up the namespace: %w: %s", err, out)
	}
	in, err := net.InterfaceByName("in")
	if err != nil {
		return 0, err
	}
	return in.Index, nil
}

// loadRules loads a file in the current namespace: by nft, or a save file by
// legacy iptables.
func loadRules(loader, file string) (time.Duration, error) {
	switch loader {
	case "", "nft":
		return command("", "nft", "-f", file)
	case "iptables-legacy":
		const patience = "60" // seconds: other namespaces share the tool's lock
		return command("", "iptables-legacy-restore", "-w", patience, file)
	}
	return 0, fmt.Errorf("no loader %q", loader)
}

// command runs a command in the current namespace and gives the processor time
// that it took, in the kernel and outside.
func command(stdin, name string, args ...string) (time.Duration, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %.300s", name, err, out.String())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// kernelMemory is what the kernel holds in slabs, virtual mappings and per-CPU
// memory, in bytes.
func kernelMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	var sum int64
	for line := range strings.Lines(string(text)) {
		var value int64
		name, rest, _ := strings.Cut(line, ":")
		switch name {
		case "Slab", "VmallocUsed", "Percpu":
			if _, err := fmt.Sscan(rest, &value); err != nil {
				return 0, err
			}
			sum += value << 10
		}
	}
	return sum, nil
}
