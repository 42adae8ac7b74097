package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Loader is a command that loads rules into the kernel.
type Loader string

// The loaders.
const (
	LoaderNft    Loader = "nft"
	LoaderLegacy Loader = "iptables-legacy"
)

// The kernel's ways to run rules.
const (
	LinuxNft    = "Linux nft"
	LinuxLegacy = "Linux iptables-legacy"
)

// kernelFilter is a packet filter of the kernel, and what measuring it takes.
type kernelFilter struct {
	name   string
	loader Loader
	tool   string // the command that loads
	debian string // the package that has it
	needs  string // of the kernel
	empty  string // rules that load if all is there
}

var kernelFilters = []kernelFilter{
	{LinuxNft, LoaderNft, "nft", "nftables", "nf_tables", "table ip bench {\n}\n"},
	{LinuxLegacy, LoaderLegacy, "iptables-legacy-restore", "iptables", "ip_tables and iptable_raw", "*raw\nCOMMIT\n"},
}

// KernelWay is the running kernel with one of its packet filters.
type KernelWay struct {
	name   string
	loader Loader
	peer   *Peer
}

// StartKernelWays starts a measuring program, from the directory that --peers
// names, for each packet filter of the kernel that can be measured here; the
// notes say what cannot, and why. Close them all.
func StartKernelWays(dir string) (ways []*KernelWay, notes []string) {
	if program := filepath.Join(dir, "kernel"); !executable(program) {
		return nil, []string{fmt.Sprintf("the kernel is not measured: there is no program %s; make peers PEERS=%s builds it", program, dir)}
	}
	for i := range kernelFilters {
		k := &kernelFilters[i]
		peer, err := StartPeer(dir)
		if err == nil {
			if _, err = peer.loadBy(k.loader, []byte(k.empty)); err == nil {
				ways = append(ways, &KernelWay{k.name, k.loader, peer})
				continue
			}
			_ = peer.Close() // it may have ended by itself
			err = k.reason(err, os.Geteuid())
		}
		notes = append(notes, fmt.Sprintf("%s is not measured: %v", k.name, err))
	}
	return ways, notes
}

// reason says what is missing if that is known, else what failed. A user of
// number 0 is root.
func (k *kernelFilter) reason(err error, user int) error {
	if user != 0 {
		return errors.New("it needs root (sudo)")
	}
	if _, missing := exec.LookPath(k.tool); missing != nil {
		return fmt.Errorf("there is no %s here (Debian: apt-get install %s)", k.tool, k.debian)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s (it needs %s, and BPF netfilter programs: Linux 6.4 or later)", first, k.needs)
}

// Close ends the program.
func (k *KernelWay) Close() error { return k.peer.Close() }

// runner loads rules into the kernel and makes a function that times packets in
// their chain.
func (k *KernelWay) runner(kind string, n int) (func() (float64, error), error) {
	if _, err := k.peer.loadBy(k.loader, []byte(InvertedRules(kind, n, k.loader == LoaderLegacy))); err != nil {
		return nil, err
	}
	frame := ruleFrame()
	copy(frame, kernelAddress)
	if err := k.peer.frames("packet", [][]byte{frame}); err != nil {
		return nil, err
	}
	return func() (float64, error) { return k.peer.lookup("packet") }, nil
}

// kernelAddress is the link address of the interface that gets the frames.
var kernelAddress = []byte{2, 0, 0, 0, 0, 0x0a}
