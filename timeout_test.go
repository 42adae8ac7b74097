package verdict_test

import (
	"fmt"
	"strings"
	"testing"

	"verdict"
	"verdict/catalog"
)

// TestTimeoutStates loads and lists a ct timeout object for every state.
func TestTimeoutStates(t *testing.T) {
	for number, protocol := range map[uint8]string{6: "tcp", 17: "udp"} {
		states := catalog.TimeoutStates(number)
		if len(states) == 0 {
			t.Errorf("%s has no states", protocol)
		}
		for _, s := range states {
			r, err := verdict.Parse(fmt.Sprintf("table ip t {\n\tct timeout x {\n\t\tprotocol %s\n\t\tpolicy = { %s : 7s }\n\t}\n}\n", protocol, s.Name))
			if err != nil {
				t.Errorf("%s %s: %v", protocol, s.Name, err)
				continue
			}
			var got strings.Builder
			if err := r.List(&got); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("policy = { %s : 7s }", s.Name); !strings.Contains(got.String(), want) {
				t.Errorf("%s %s: no %q in\n%s", protocol, s.Name, want, got.String())
			}
		}
	}
}
