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
	files, done := 0, 0
	testdata.EachFile(t, "corpus/nft", func(name, path string, text []byte) {
		if filepath.Ext(path) != ".nft" {
			return
		}
		files++
		l, err := load(path, filepath.Dir(path), text)
		if err != nil {
			t.Logf("not loaded: %v", err)
			return
		}
		done++
		t.Run(filepath.Base(name), l.checkTest)
	})
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
