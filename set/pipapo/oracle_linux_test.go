package pipapo_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"verdict/internal/netns"
	"verdict/internal/testdata"
	"verdict/set/elem"
	"verdict/set/pipapo"
)

// kernelSet is a set of the running kernel, in a network namespace of its own.
type kernelSet struct{ namespace string }

func newKernelSet(t *testing.T) *kernelSet {
	t.Helper()
	if err := netns.Available(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
	k := &kernelSet{fmt.Sprintf("verdict-set-%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", k.namespace).CombinedOutput(); err != nil {
		testdata.Missing(t, "oracle", fmt.Sprintf("no network namespace: %v %s", err, out))
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", k.namespace).Run() })
	if out, err := k.nft("add table ip t\nadd set ip t s { type ipv4_addr . inet_service; flags interval; }\n", "-f", "-"); err != nil {
		testdata.Missing(t, "oracle", fmt.Sprintf("no nftables: %v %s", err, out))
	}
	return k
}

func (k *kernelSet) nft(input string, args ...string) ([]byte, error) {
	c := exec.Command("ip", append([]string{"netns", "exec", k.namespace, "nft"}, args...)...)
	c.Stdin = strings.NewReader(input)
	return c.CombinedOutput()
}

// list returns the elements in the kernel's order.
func (k *kernelSet) list(t *testing.T) []string {
	t.Helper()
	out, err := k.nft("", "-j", "list", "set", "ip", "t", "s")
	if err != nil {
		t.Fatalf("list: %v %s", err, out)
	}
	var doc struct {
		Nftables []struct {
			Set struct{ Elem []struct{ Concat [2]any } }
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, item := range doc.Nftables {
		for _, e := range item.Set.Elem {
			list = append(list, fieldText(e.Concat[0])+" . "+fieldText(e.Concat[1]))
		}
	}
	return list
}

func fieldText(v any) string {
	if m, ok := v.(map[string]any); ok {
		if r, ok := m["range"].([]any); ok {
			return fmt.Sprint(r[0], "-", r[1])
		}
		if p, ok := m["prefix"].(map[string]any); ok {
			return fmt.Sprint(p["addr"], "/", p["len"])
		}
	}
	return fmt.Sprint(v)
}

// Random transactions have the same outcome here and in the running kernel,
// and leave the same elements in the same order.
func TestKernelAgrees(t *testing.T) {
	k := newKernelSet(t)
	s, err := pipapo.New(ptr(shape("net,port")))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(11, 12))
	span := func(prefix string) string {
		a, w := rnd.IntN(20), rnd.IntN(6)
		if w == 0 || rnd.IntN(2) == 0 {
			return fmt.Sprint(prefix, a)
		}
		return fmt.Sprint(prefix, a, "-", prefix, a+w)
	}
	texts := map[*elem.Entry]string{}
	for range 150 {
		var script strings.Builder
		ok := true
		verbs := []string{"create", "delete", "add"}
		for range 1 + rnd.IntN(4) {
			x := span("10.0.0.") + " . " + span("")
			e := el(x)
			verb := verbs[rnd.IntN(len(verbs))]
			if verb != "delete" {
				verbs = []string{"delete"} // nft joins additions, in an order of its own
			}
			switch verb {
			case "delete":
				fmt.Fprintf(&script, "delete element ip t s { %s }\n", x)
				_, err = s.Delete(e, 0)
				ok = ok && err == nil
			default:
				fmt.Fprintf(&script, "%s element ip t s { %s }\n", verb, x)
				_, err = s.Insert(e, 0)
				ok = ok && (err == nil || verb == "add" && elem.Errno(err) == elem.ErrExist.Errno)
				texts[e] = x
			}
		}
		out, err := k.nft(script.String(), "-f", "-")
		if (err == nil) != ok {
			t.Fatalf("%s: the kernel says %v %s, we %v", script.String(), err, out, ok)
		}
		if ok {
			s.Commit(0)
		} else {
			s.Abort()
		}
	}
	var ours []string
	s.Live().Walk(func(e *elem.Entry) bool {
		ours = append(ours, texts[e])
		return true
	})
	theirs := k.list(t)
	if len(ours) != len(theirs) {
		t.Fatalf("%d elements here, %d in the kernel", len(ours), len(theirs))
	}
	for i := range ours {
		if !sameElement(ours[i], theirs[i]) {
			t.Errorf("element %d is %s here, %s in the kernel", i, ours[i], theirs[i])
		}
	}
}

// sameElement compares our text with a listing, which shows some ranges as
// prefixes.
func sameElement(ours, theirs string) bool {
	addr, port, _ := strings.Cut(ours, " . ")
	kaddr, kport, _ := strings.Cut(theirs, " . ")
	if base, length, prefix := strings.Cut(kaddr, "/"); prefix {
		size := map[string]int{"29": 7, "30": 3, "31": 1}[length]
		last := 0
		if _, err := fmt.Sscanf(base, "10.0.0.%d", &last); err != nil {
			return false
		}
		kaddr = fmt.Sprintf("%s-10.0.0.%d", base, last+size)
	}
	return port == kport && addr == kaddr
}
