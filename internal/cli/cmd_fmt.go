package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"verdict/iptables"
	"verdict/nft/nftjson"
	"verdict/nft/syntax"
)

func newFmt(s *Streams) *cobra.Command {
	var list, write, diff bool
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Format ruleset source, keeping comments and includes",
		Long: `Print ruleset files in one consistent form. Comments, blank lines, includes,
defines and the order of everything stay; the meaning does not change.
Exit status: 0, with -l or -d 1 if something would change; 1 also for mistakes,
2 for files that cannot be read or written.`,
		Example: "  verdict fmt firewall.nft\n  verdict fmt -l rules/*.nft   # which would change?\n  verdict fmt -w rules/*.nft   # change them",
		Args:    takes("FILE..."),
		RunE: func(_ *cobra.Command, args []string) error {
			f := formatter{s: s, list: list, write: write, diff: diff}
			for _, name := range args {
				if err := f.file(name); err != nil {
					return err
				}
			}
			if f.changed && (list || diff) {
				return answerNo()
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&list, "list", "l", false, "print the names of files whose form differs")
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the result back to the file")
	cmd.Flags().BoolVarP(&diff, "diff", "d", false, "print what would change")
	return cmd
}

type formatter struct {
	s                 *Streams
	list, write, diff bool
	changed           bool
}

func (f *formatter) file(name string) error {
	src, err := readSource(f.s, name)
	if err != nil {
		return err
	}
	if iptables.Is(src.Text) {
		return failedf("%s: this is a file of iptables-save; verdict list prints it in its usual form", name)
	}
	if nftjson.Is(src.Text) {
		return failedf("%s: this is JSON, which has no form to keep; verdict list prints it as text", name)
	}
	formatted, findings := syntax.Format(src)
	if err := f.s.report(findings); err != nil {
		return err
	}
	differs := !bytes.Equal(src.Text, formatted)
	f.changed = f.changed || differs
	if f.list && differs {
		fmt.Fprintln(f.s.plain(), src.Name)
	}
	if f.diff && differs {
		fmt.Fprint(f.s.plain(), lineDiff(src.Name, string(src.Text), string(formatted)))
	}
	if f.write {
		return f.writeBack(name, formatted, differs)
	}
	if !f.list && !f.diff {
		_, err = f.s.plain().Write(formatted)
	}
	return err
}

// writeBack replaces a file by way of a new one beside it, so that a crash
// never leaves half a ruleset.
func (f *formatter) writeBack(name string, text []byte, differs bool) error {
	if name == "-" {
		return failedf("fmt -w cannot write to standard input")
	}
	if !differs {
		return nil
	}
	if err := replaceFile(name, text); err != nil {
		return failed(readable(err))
	}
	return nil
}

// replaceFile gives a file, or what a link leads to, new contents and keeps its
// permissions.
func replaceFile(name string, text []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", name)
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), ".verdict-fmt-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Chmod(info.Mode().Perm()), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		os.Remove(temporary.Name())
	}
	return err
}
