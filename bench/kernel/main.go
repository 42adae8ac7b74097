// Kernel lets the running Linux kernel be measured beside something else: it
// reads requests, one JSON object a line, from standard input, and answers each
// with a line on standard output. So the two can take turns.
//
//	{"do":"load","rules":"FILE"}          load a ruleset into a fresh network namespace:
//	                                      by nft, or with "loader":"iptables-legacy" a save file
//	{"do":"frames","name":N,"pcap":FILE}  take a list of frames
//	{"do":"lookup","name":N,"chain":P}    feed it for a moment; the chain at priority P of
//	                                      prerouting must accept what it sees
//	{"do":"change","text":"COMMAND"}      run an nft command as a transaction of its own
//
// Answers have "ns": for loads and changes the processor time of the command that
// loads and the kernel for it, for lookups the time within the chain less that of an
// empty chain. Loads and changes also have "kernelNS", the time of the system
// calls that carry out the batch, and loads "bytes", by which the kernel's
// memory grew. A failed request is
// answered by {"error":…}. Needs root, nft, ip, nf_tables and BPF netfilter
// programs; for save files iptables-legacy-restore and the kernel's ip_tables
// instead of nft. Everything happens in namespaces of its own.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

type request struct {
	Do, Loader, Rules, Name, Pcap, Text string
	Chain                               int32
}

type answer struct {
	NS       float64 `json:"ns,omitempty"`
	KernelNS float64 `json:"kernelNS,omitempty"`
	Bytes    int64   `json:"bytes,omitempty"`
	Error    string  `json:"error,omitempty"`
}

func main() {
	// The signals of Go's preemption would cut long runs of the generator short.
	if os.Getenv("GODEBUG") == "" {
		if self, err := os.Executable(); err == nil {
			_ = unix.Exec(self, os.Args, append(os.Environ(), "GODEBUG=asyncpreemptoff=1"))
		}
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		os.Exit(1)
	}
}

func serve() error {
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	calls, err := newCallTimer()
	if err != nil {
		return err
	}
	p := &peer{calls: calls, frames: map[string]*generator{}, packets: map[string]int{}}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var r request
		err := json.Unmarshal(lines.Bytes(), &r)
		var a answer
		if err == nil {
			a, err = p.answer(&r)
		}
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := out.Encode(&a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// peer is the kernel with a ruleset and frames.
type peer struct {
	calls   *callTimer
	ifindex int
	look    *bracket // around the chain that is asked for
	empty   *bracket // around the empty chain of the ruleset
	frames  map[string]*generator
	packets map[string]int // per run, by list
}

func (p *peer) answer(r *request) (answer, error) {
	switch r.Do {
	case "load":
		return p.load(r.Loader, r.Rules)
	case "frames":
		return answer{}, p.take(r.Name, r.Pcap)
	case "lookup":
		return p.lookup(r.Name, r.Chain)
	case "change":
		return p.change(r.Text)
	}
	return answer{}, fmt.Errorf("no request %q", r.Do)
}

// Priorities in the prerouting hook.
const (
	emptyPriority = -500
	dropPriority  = 2000
)

func (p *peer) load(loader, rules string) (answer, error) {
	for _, b := range []*bracket{p.look, p.empty} {
		if b != nil {
			b.detach()
		}
	}
	p.look, p.empty = nil, nil
	for name, g := range p.frames {
		g.close()
		delete(p.frames, name)
	}
	var err error
	if p.ifindex, err = enterNamespace(); err != nil {
		return answer{}, err
	}
	before, err := kernelMemory()
	if err != nil {
		return answer{}, err
	}
	if err := p.calls.reset(); err != nil {
		return answer{}, err
	}
	took, err := loadRules(loader, rules)
	if err != nil {
		return answer{}, err
	}
	inKernel, err := p.calls.sum()
	if err != nil {
		return answer{}, err
	}
	time.Sleep(300 * time.Millisecond) // what is freed late
	after, err := kernelMemory()
	if err != nil {
		return answer{}, err
	}
	if _, err := newDropper(dropPriority); err != nil {
		return answer{}, err
	}
	return answer{NS: float64(took), KernelNS: float64(inKernel), Bytes: after - before}, nil
}

func (p *peer) take(name, pcap string) error {
	if p.ifindex == 0 {
		return errors.New("frames come after a load")
	}
	frames, err := readFrames(pcap)
	if err != nil {
		return err
	}
	if old := p.frames[name]; old != nil {
		old.close()
	}
	p.frames[name], err = newGenerator(frames, p.ifindex)
	delete(p.packets, name)
	return err
}

// runTime is how long one measurement shall take.
const runTime = 60 * time.Millisecond

func (p *peer) lookup(name string, chain int32) (answer, error) {
	g := p.frames[name]
	if g == nil {
		return answer{}, fmt.Errorf("no frames named %q", name)
	}
	if p.look == nil {
		if err := p.brackets(chain); err != nil {
			return answer{}, err
		}
	}
	if p.packets[name] == 0 {
		n, err := calibrate(g)
		if err != nil {
			return answer{}, err
		}
		p.packets[name] = n
	}
	// Precedence over other processes, which would fill the caches in between.
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
	defer unix.Setpriority(unix.PRIO_PROCESS, 0, 0)
	if err := g.run(max(64, min(p.packets[name]/8, 2048))); err != nil { // warms up
		return answer{}, err
	}
	if err := errors.Join(p.look.reset(), p.empty.reset()); err != nil {
		return answer{}, err
	}
	if err := g.run(p.packets[name]); err != nil {
		return answer{}, err
	}
	look, err := p.look.mean()
	if err != nil {
		return answer{}, err
	}
	empty, err := p.empty.mean()
	return answer{NS: look - empty}, err
}

func (p *peer) brackets(chain int32) (err error) {
	if p.look, err = newBracket(); err != nil {
		return err
	}
	if p.empty, err = newBracket(); err != nil {
		return err
	}
	return errors.Join(p.look.attach(chain), p.empty.attach(emptyPriority))
}

// calibrate finds the number of packets that take runTime.
func calibrate(g *generator) (int, error) {
	for n := 64; ; n *= 4 {
		start := time.Now()
		if err := g.run(n); err != nil {
			return 0, err
		}
		if took := time.Since(start); took > runTime/8 || n >= 1<<20 {
			return max(64, int(float64(n)*float64(runTime)/float64(took))&^63), nil
		}
	}
}

func (p *peer) change(text string) (answer, error) {
	if err := p.calls.reset(); err != nil {
		return answer{}, err
	}
	took, err := command(text+"\n", "nft", "-f", "-")
	if err != nil {
		return answer{}, err
	}
	inKernel, err := p.calls.sum()
	return answer{NS: float64(took), KernelNS: float64(inKernel)}, err
}
