package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"verdict/internal/simd"
)

// The reference versions whose behaviour this program has.
const (
	referenceNft    = "1.1.6 (main of April 2026)"
	referenceKernel = "7.1"
)

func newVersion(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the versions of nft and Linux that it follows, and the vector level",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(s.Out, "verdict %s %s/%s %s\n", buildVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			fmt.Fprintf(s.Out, "language and listings: nft %s\n", referenceNft)
			fmt.Fprintf(s.Out, "semantics: Linux %s\n", referenceKernel)
			fmt.Fprintf(s.Out, "vector instructions: %s (%s limits them)\n", simd.Current(), simd.Override)
			return nil
		},
	}
}

// buildVersion is the module's version, or the revision it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			revision = setting.Value[:min(12, len(setting.Value))]
		case "vcs.modified":
			if setting.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if revision == "" {
		return "(devel)"
	}
	return revision + dirty
}
