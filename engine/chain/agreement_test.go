package chain_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"verdict"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/chain/chaintest"
	"verdict/host"
	"verdict/nft/ruleset"
	"verdict/packet/build"
)

// options make the destination of packets local.
var options = engine.Options{Local: []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3"), netip.MustParseAddr("192.0.2.9")}, Hook: "input", Seed: 1}

// input makes a random packet, sometimes cut short.
func input(t testing.TB, r *rand.Rand) engine.Input {
	text := chaintest.Packet(r)
	p, err := build.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	in := verdict.PacketInput(p)
	if r.IntN(8) == 0 {
		in.Data = in.Data[:r.IntN(len(in.Data)+1)]
		if r.IntN(2) == 0 {
			in.OrigLen = len(in.Data)
		}
	}
	return in
}

// parser loads a text.
func parser(text string) func() (*ruleset.Ruleset, *host.Host, error) {
	return func() (*ruleset.Ruleset, *host.Host, error) {
		rules, err := verdict.Parse(text)
		if err != nil {
			return nil, nil, err
		}
		return rules.Rules(), rules.Host(), nil
	}
}

// loads tells whether a ruleset can be loaded.
func loads(text string) error {
	_, err := verdict.Parse(text)
	return err
}

// TestCompiledChainsAgree compares random rulesets.
func TestCompiledChainsAgree(t *testing.T) {
	compiled := 0
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		text := chaintest.Rules(r, rapid.SampledFrom([]int{3, 12, 60}).Draw(rt, "rules"), loads)
		pair, err := chaintest.New(parser(text), options, rapid.SampledFrom([]chain.Mode{chain.Classify, chain.Auto}).Draw(rt, "mode"))
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range pair.Plan().Chains {
			if c.Compiled {
				compiled++
			}
		}
		for i := range 60 {
			in := input(t, r)
			in.Time = int64(i) * 5e7
			if err := pair.Run(&in); err != nil {
				rt.Fatalf("packet %d %x of %d: %v\n%s", i, in.Data, in.OrigLen, err, text)
			}
		}
		if err := pair.Check(); err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
	})
	least := 50
	if testing.Short() { // rapid draws a fifth
		least = 10
	}
	if compiled < least {
		t.Errorf("only %d chains were compiled", compiled)
	}
}
