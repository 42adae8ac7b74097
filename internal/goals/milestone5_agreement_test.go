package goals

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict"
	"verdict/capture"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/chain/chaintest"
	"verdict/host"
	"verdict/internal/testdata"
	"verdict/internal/workload"
	"verdict/nft/ruleset"
	"verdict/packet/build"
)

// loader loads a text, each time anew.
func loader(text string) func() (*ruleset.Ruleset, *host.Host, error) {
	return func() (*ruleset.Ruleset, *host.Host, error) {
		rules, err := verdict.Parse(text)
		if err != nil {
			return nil, nil, err
		}
		return rules.Rules(), rules.Host(), nil
	}
}

// agreement counts comparisons of compiled chains with the interpreter.
type agreement struct {
	t        *testing.T
	compared int
	rulesets int
	compiled int // chains
	differ   int
}

// pair makes the two sides; it is nil where the ruleset cannot be run.
func (a *agreement) pair(load func() (*ruleset.Ruleset, *host.Host, error), o engine.Options, mode chain.Mode) *chaintest.Pair {
	p, err := chaintest.New(load, o, mode)
	if err != nil {
		a.t.Logf("not run: %v", err)
		return nil
	}
	a.rulesets++
	for _, c := range p.Plan().Chains {
		if c.Compiled {
			a.compiled++
		}
	}
	return p
}

// run compares one packet; it reports false at the first difference.
func (a *agreement) run(p *chaintest.Pair, in *engine.Input, what string) bool {
	a.compared++
	if err := p.Run(in); err != nil {
		a.differ++
		a.t.Errorf("%s: packet %x of %d: %v", what, in.Data, in.OrigLen, err)
		return false
	}
	return true
}

func (a *agreement) check(p *chaintest.Pair, what string) {
	if err := p.Check(); err != nil {
		a.differ++
		a.t.Errorf("%s: %v", what, err)
	}
}

func (a *agreement) report(what string, bound int) {
	goal(a.t, a.differ == 0 && a.compared >= bound, "compiled chains against the interpreter, "+what,
		fmt.Sprintf("%d comparisons of %d rulesets with %d compiled chains, %d differ", a.compared, a.rulesets, a.compiled, a.differ),
		fmt.Sprintf("at least %d, none differs", bound))
}

// volume is how many comparisons a test makes: few unless goals are asked for.
func volume(few, many int) int {
	if os.Getenv("VERDICT_GOALS") != "" {
		return many
	}
	return few
}

func TestGoal5AgreementRandom(t *testing.T) {
	a := &agreement{t: t}
	bound := volume(20_000, 6_000_000)
	local := []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3"), netip.MustParseAddr("192.0.2.9")}
	frames := randomFrames(t)
	loads := func(text string) error { _, err := verdict.Parse(text); return err }
	for seed := uint64(1); a.compared < bound && a.differ == 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 5))
		text := chaintest.Rules(r, []int{4, 20, 60, 150}[r.IntN(4)], loads)
		p := a.pair(loader(text), engine.Options{Local: local, Hook: "input", Seed: seed}, []chain.Mode{chain.Classify, chain.Auto}[r.IntN(2)])
		if p == nil {
			continue
		}
		for i := range 2_000 {
			in := frames[r.IntN(len(frames))]
			in.Time = int64(i) * 2e7
			if r.IntN(10) == 0 {
				in.Data = in.Data[:r.IntN(len(in.Data)+1)]
				if r.IntN(2) == 0 {
					in.OrigLen = len(in.Data)
				}
			}
			if !a.run(p, &in, text) {
				break
			}
		}
		a.check(p, text)
	}
	a.report("random rulesets and packets", bound)
}

// randomFrames builds the packets that random rules are about.
func randomFrames(t *testing.T) []engine.Input {
	r := rand.New(rand.NewPCG(7, 7))
	var list []engine.Input
	for range 3000 {
		p, err := build.Parse(chaintest.Packet(r))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, verdict.PacketInput(p))
	}
	return list
}

func TestGoal5AgreementFamilies(t *testing.T) {
	a := &agreement{t: t}
	bound := volume(6_000, 4_000_000)
	for _, family := range []string{"acl", "fw", "ipc"} {
		list := workload.FiveTuples(family, 1000, 3)
		text := familyRules(list)
		p := a.pair(loader(text), engine.Options{Hook: "forward", Seed: 1}, chain.Auto)
		if p == nil {
			t.Fatal("not run")
		}
		frames := headerFrames(workload.Headers(list, 20_000, 4))
		for i := range (bound + 2) / 3 {
			in := &frames[i%len(frames)]
			in.Time = int64(i) * 1e6
			if !a.run(p, in, family) {
				break
			}
		}
		a.check(p, family)
	}
	a.report("acl, fw and ipc rules with packets that hit them", bound)
}

// familyRules makes a chain of rules, some of which do not end a packet's way.
func familyRules(list []workload.FiveTuple) string {
	var s strings.Builder
	s.WriteString("table ip t {\n\tchain c {\n\t\ttype filter hook forward priority 0; policy drop;\n")
	for i := range list {
		what := []string{"counter accept", "counter drop", "counter", "ip ttl set 9 counter", "meta mark set 3", "meta mark 3 accept", "limit rate 100/second accept"}[i%7]
		fmt.Fprintf(&s, "\t\t%s%s\n", list[i].Text(), what)
	}
	return s.String() + "\t}\n}\n"
}

// headerFrames are frames of headers with a small payload.
func headerFrames(headers []workload.Header) []engine.Input {
	list := make([]engine.Input, len(headers))
	for i, h := range headers {
		data := workload.Frame(&h)
		list[i] = engine.Input{Data: data, OrigLen: len(data), LinkType: 1, In: "eth0"}
	}
	return list
}

func TestGoal5AgreementCorpus(t *testing.T) {
	captures := corpusFrames(t, volume(20, 1000))
	a := &agreement{t: t}
	for _, e := range corpus(t) {
		if e.Accepted != "yes" {
			continue
		}
		load := func() (*ruleset.Ruleset, *host.Host, error) {
			rules, findings := e.load(t)
			if rules == nil {
				return nil, nil, findings.Err()
			}
			return rules.Rules(), rules.Host(), nil
		}
		p := a.pair(load, engine.Options{Seed: 1, Interface: "eth0", Local: []netip.Addr{netip.MustParseAddr("192.168.1.1")}}, chain.Classify)
		if p == nil {
			continue
		}
		for i := range captures {
			if !a.run(p, &captures[i], e.File) {
				break
			}
		}
		a.check(p, e.File)
	}
	a.report("corpus rulesets with corpus captures", volume(1000, 600_000))
}

// corpusFrames reads the first frames of each capture of the corpus, one
// capture after the other in time.
func corpusFrames(t *testing.T, most int) []engine.Input {
	names, err := filepath.Glob(filepath.Join(testdata.Path(t, "corpus/pcap"), "*.pcap*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	var list []engine.Input
	for _, name := range names {
		src, err := capture.Open(name, capture.Options{})
		if err != nil {
			continue
		}
		var f capture.Frame
		for n := 0; n < most; n++ {
			if err := src.Next(&f); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Logf("%s: %v", name, err)
				}
				break
			}
			f.Data = append([]byte(nil), f.Data...)
			in := verdict.FrameInput(&f)
			in.Time = int64(len(list)) * 1e6
			list = append(list, in)
		}
		src.Close()
	}
	return list
}
