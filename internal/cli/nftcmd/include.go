package nftcmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"verdict/diag"
)

// open finds included files as nft does: absolute, or below the working
// directory or the include path. A pattern may match nothing.
func (n *session) open(pattern string, _ *diag.Source) ([]*diag.Source, error) {
	candidates := []string{pattern}
	if !filepath.IsAbs(pattern) {
		for _, dir := range n.options.include {
			candidates = append(candidates, filepath.Join(dir, pattern))
		}
		candidates = append(candidates, filepath.Join(defaultIncludePath, pattern))
	}
	return Included(pattern, candidates)
}

// Included reads the files that the first of the candidates names, paths of an
// include pattern, that names any. A pattern with wildcards may match nothing;
// directories are passed over; what is no regular file, and may never end, is
// an error.
func Included(pattern string, candidates []string) ([]*diag.Source, error) {
	for _, c := range candidates {
		names, err := filepath.Glob(c)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			return readAll(names)
		}
	}
	if strings.ContainsAny(pattern, "*?[") {
		return nil, nil
	}
	return nil, &fs.PathError{Op: "open", Path: pattern, Err: fs.ErrNotExist}
}

// defaultIncludePath is where nft looks last.
const defaultIncludePath = "/etc"

// notRegularError is about a file that is not read; its text is nft's.
type notRegularError struct{ name string }

func (e *notRegularError) Error() string {
	if e.name == "" {
		return "Not a regular file"
	}
	return fmt.Sprintf("Not a regular file: %q", e.name)
}

func readAll(names []string) ([]*diag.Source, error) {
	slices.Sort(names)
	var sources []*diag.Source
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		switch {
		case info.IsDir():
			continue
		case !info.Mode().IsRegular():
			return nil, &notRegularError{name}
		}
		text, err := readLimited(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, diag.NewSource(name, text))
	}
	return sources, nil
}
