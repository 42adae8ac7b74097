package testdata

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"verdict/diag"
)

// OpenIncluded opens the files of an include statement, as syntax.Options.Open
// does: the pattern is taken relative to the folder of the including file. A
// name without wildcards that is not there is fs.ErrNotExist.
func OpenIncluded(pattern string, from *diag.Source) ([]*diag.Source, error) {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(filepath.Dir(from.Name), pattern)
	}
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && !strings.ContainsAny(pattern, "*?[") {
		return nil, fs.ErrNotExist
	}
	var sources []*diag.Source
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, diag.NewSource(name, text))
	}
	return sources, nil
}

// Beside opens included files by their names alone in one folder, where the
// paths of somebody's host do not exist. Patterns with wildcards match nothing.
type Beside string

// Open is that of verdict.Files.
func (dir Beside) Open(pattern string, _ *diag.Source) ([]*diag.Source, error) {
	if strings.ContainsAny(pattern, "*?[") {
		return nil, nil
	}
	name := filepath.Join(string(dir), filepath.Base(pattern))
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return []*diag.Source{diag.NewSource(name, text)}, nil
}
