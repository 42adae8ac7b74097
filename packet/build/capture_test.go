package build

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"verdict/capture"
	"verdict/internal/testdata"
	"verdict/packet"
)

// leastInWords is the share of frames of real captures, in percent, that the
// language has words for. The captures hold many frames that are no IP or
// malformed on purpose.
const leastInWords = 85

// TestTextOfCaptures prints every frame of real captures and parses it again:
// what was not left out must be the same.
func TestTextOfCaptures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "corpus/pcap"), "*.pcap*"))
	if err != nil {
		t.Fatal(err)
	}
	var frames, inWords int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := capture.NewBytesReader(data, capture.Options{})
		if err != nil {
			continue // captures cut in their file header are capture's concern
		}
		var frame capture.Frame
		var v packet.View
		for n := 0; n < 2000 && reader.Next(&frame) == nil; n++ {
			v.Decode(packet.LinkType(frame.LinkType), frame.Data, frame.OrigLen)
			frames++
			if checkReprint(t, filepath.Base(file), frame.Index, &v) {
				inWords++
			}
		}
	}
	share := 100 * inWords / max(1, frames)
	t.Logf("%d frames, %d%% in words", frames, share)
	if share < leastInWords {
		t.Errorf("only %d%% of %d frames are put in words, want %d%%", share, frames, leastInWords)
	}
}

// checkReprint parses what is printed and reports whether it was in words.
func checkReprint(t *testing.T, file string, index int, v *packet.View) bool {
	t.Helper()
	text, words := describe(v)
	if !words && len(v.Data) == 0 {
		return false // an empty frame has no text
	}
	p, err := Parse(text)
	if err != nil {
		t.Errorf("%s frame %d: %v: %s", file, index, err, text)
		return false
	}
	var again packet.View
	again.Decode(p.Link, p.Data, len(p.Data))
	if !words {
		if !bytes.Equal(p.Data, v.Data) || p.Link != v.Link {
			t.Errorf("%s frame %d: hex differs", file, index)
		}
		return false
	}
	if Summary(&again) != Summary(v) && v.NumVLAN == again.NumVLAN {
		t.Errorf("%s frame %d: %s\n got %s\nwant %s", file, index, text, Summary(&again), Summary(v))
	}
	if !again.L4OK || again.L4Proto != v.L4Proto || again.NetLen != v.NetLen || again.FragOff != v.FragOff ||
		again.ThOff-again.NetOff != v.ThOff-v.NetOff {
		if v.L4OK {
			t.Errorf("%s frame %d: offsets differ: %s", file, index, text)
		}
	}
	return true
}
