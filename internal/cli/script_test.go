package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the scripts' expectations")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"verdict": func() { os.Exit(Run(os.Args, Standard())) },
		"nft":     func() { os.Exit(Run(os.Args, Standard())) }, // as through a link
		"tc":      func() { os.Exit(Run(os.Args, Standard())) },
	})
}

// TestScripts runs the command as a person would: each script holds command
// lines and what they print.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			e.Setenv("NO_COLOR", "1")
			return nil
		},
	})
}
