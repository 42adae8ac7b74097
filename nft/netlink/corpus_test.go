package netlink

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict/internal/testdata"
)

func TestCorpus(t *testing.T) {
	root := testdata.Path(t, "corpus/nft")
	files := 0
	var done int
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".nft" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		l, err := load(path, filepath.Dir(path), text)
		if err != nil {
			t.Logf("not loaded: %v", err)
			return nil
		}
		done++
		t.Run(filepath.Base(path), l.checkTest)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if done < 100 || files-done > 12 { // some of the corpus are parts of other files
		t.Errorf("%d of %d rulesets were loaded", done, files)
	}
}

func (l loaded) checkTest(t *testing.T) { l.check(t) }

// TestRecordedRulesets goes through the rulesets of one archive of recorded
// cases.
func TestRecordedRulesets(t *testing.T) {
	f, err := os.Open(testdata.Path(t, "oracle/cases-000.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for archive := tar.NewReader(unzipped); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, "/ruleset.nft") {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		l, err := load(h.Name, "", text)
		if err != nil {
			t.Logf("not loaded: %v", err)
			continue
		}
		done++
		t.Run(filepath.Dir(h.Name), l.checkTest)
	}
	if done < 95 {
		t.Errorf("only %d rulesets", done)
	}
}
