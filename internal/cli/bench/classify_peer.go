package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"verdict/classify"
	"verdict/internal/workload"
)

// ClassifyPeers starts rte_acl, measured by the program bench/rte_acl, for one
// set of rules after the other.
type ClassifyPeers struct {
	dir   string
	limit time.Duration
	about string
}

// FindClassifyPeers looks the program up in the directory that --peers names. A
// build may take so long as limit says. Without the program there are no peers,
// and the note says why.
func FindClassifyPeers(dir string, limit time.Duration) (peers *ClassifyPeers, note string) {
	if program := filepath.Join(dir, "rte_acl"); !executable(program) {
		return nil, fmt.Sprintf("rte_acl is not measured: there is no program %s; make peers PEERS=%s builds it where DPDK is installed (Debian: apt-get install gcc pkg-config libdpdk-dev)", program, dir)
	}
	return &ClassifyPeers{dir: dir, limit: limit}, ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// About says what was measured, "" if nothing was.
func (p *ClassifyPeers) About() string { return p.about }

// classifyPeer is rte_acl with a set of rules.
type classifyPeer struct {
	child *child
	rules string // the file
	built aclBuilt
	took  map[aclWay]samples
}

// aclWay is an algorithm with the number of headers of a call.
type aclWay struct {
	algorithm string
	size      int
}

// aclBuilt is the answer to a build.
type aclBuilt struct {
	NS, Bytes, Peak float64
	Huge            bool
	Version         string
	Algorithms      []string
}

// start starts the program, lets it build and hands the headers over. A fresh
// process for each set shows what its build takes.
func (p *ClassifyPeers) start(rules []workload.FiveTuple, headers []workload.Header) (*classifyPeer, error) {
	c, err := startChild(p.dir, "rte_acl")
	if err != nil {
		return nil, err
	}
	peer := &classifyPeer{child: c, took: map[aclWay]samples{}}
	if err := p.prepare(peer, rules, headers); err != nil {
		peer.close()
		return nil, err
	}
	p.about = peer.built.describe()
	return peer, nil
}

func (p *ClassifyPeers) prepare(peer *classifyPeer, rules []workload.FiveTuple, headers []workload.Header) (err error) {
	if peer.rules, err = peer.child.put("rules", aclRules(rules)); err != nil {
		return err
	}
	ended := time.AfterFunc(p.limit, peer.child.kill)
	peer.built, err = peer.build()
	if !ended.Stop() {
		return fmt.Errorf("its build was ended after %v", p.limit)
	}
	if err != nil {
		return err
	}
	file, err := peer.child.put("headers", aclHeaders(headers))
	if err != nil {
		return err
	}
	return peer.child.ask("headers "+file, nil)
}

func (p *classifyPeer) close() { _ = p.child.close() } // it has said what it had to

func (p *classifyPeer) build() (a aclBuilt, err error) {
	return a, p.child.ask("build "+p.rules, &a)
}

// lookup lets the algorithms look the headers up, of which is known what is
// found. After a few rounds those that are far behind sit out.
func (p *classifyPeer) lookup(size int, found []uint32) error {
	const tries, behind = 3, 1.5
	want := aclSum(found)
	_, best := p.best(size)
	for _, algorithm := range p.built.Algorithms {
		w := aclWay{algorithm, size}
		if len(p.took[w]) >= tries && p.took[w].median() > behind*best.median() {
			continue
		}
		var a struct {
			NS  float64
			Sum string
		}
		if err := p.child.ask(fmt.Sprintf("lookup %s %d", algorithm, size), &a); err != nil {
			return err
		}
		if a.Sum != want {
			return fmt.Errorf("rte_acl (%s) finds other rules than verdict: one of the two is wrong", algorithm)
		}
		p.took[w] = append(p.took[w], a.NS)
	}
	return nil
}

// best is the algorithm that is fastest with calls of some size.
func (p *classifyPeer) best(size int) (algorithm string, took samples) {
	least := math.Inf(1)
	for _, name := range p.built.Algorithms {
		times := p.took[aclWay{name, size}]
		if m := times.median(); m < least {
			algorithm, took, least = name, times, m
		}
	}
	return algorithm, took
}

// describe says what was measured.
func (b *aclBuilt) describe() string {
	pages := "ordinary pages (sysctl vm.nr_hugepages=1024 lets it have huge ones)"
	if b.Huge {
		pages = "huge pages"
	}
	return fmt.Sprintf("rte_acl of %s on %s, the fastest of %s", b.Version, pages, strings.Join(b.Algorithms, ", "))
}

// aclRules writes rules as the program reads them.
func aclRules(list []workload.FiveTuple) []byte {
	order := binary.NativeEndian
	var b []byte
	for i := range list {
		q := &list[i]
		b = order.AppendUint32(order.AppendUint32(b, q.Src), q.Dst)
		for _, port := range []uint16{q.SrcPort[0], q.SrcPort[1], q.DstPort[0], q.DstPort[1]} {
			b = order.AppendUint16(b, port)
		}
		mask := byte(255)
		if q.AnyProto {
			mask = 0
		}
		b = append(b, q.SrcLen, q.DstLen, q.Proto, mask)
	}
	return b
}

// aclHeaders writes headers as the program reads them.
func aclHeaders(list []workload.Header) []byte {
	var b []byte
	for _, h := range list {
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, h.Src), h.Dst)
		b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, h.SrcPort), h.DstPort)
		b = append(b, h.Proto, 0, 0, 0)
	}
	return b
}

// aclSum is the program's checksum of the rules that were found: FNV-1a over
// words, a rule's place counted from 1, 0 for none.
func aclSum(found []uint32) string {
	sum := uint64(14695981039346656037)
	for _, order := range found {
		place := uint32(0)
		if order != classify.None {
			place = order + 1
		}
		sum = (sum ^ uint64(place)) * 1099511628211
	}
	return fmt.Sprintf("%016x", sum)
}
