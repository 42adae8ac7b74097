package conntrack

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestStateTables compares the tables with those of testdata/states.txtar.
func TestStateTables(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/states.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tcp := []string{"NO", "SS", "SR", "ES", "FW", "CW", "LA", "TW", "CL", "S2"}
	sctp := []string{"NO", "CL", "CW", "CE", "ES", "SS", "SR", "SA", "HS"}
	classes := map[string]uint8{"syn": classSYN, "syn-ack": classSYNACK, "fin": classFIN, "ack": classACK, "rst": classRST}
	cells := 0
	for _, f := range archive.Files {
		d := Original
		if strings.HasSuffix(f.Name, "reply") {
			d = Reply
		}
		rows := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		for _, row := range rows[1:] {
			words := strings.Fields(row)
			for state, want := range words[1:] {
				var got string
				if strings.HasPrefix(f.Name, "tcp") {
					got = cellName(tcpTable[d][classes[words[0]]][state], tcp)
				} else {
					got = cellName(sctpNext(d, chunkNames[words[0]], uint8(state)), sctp)
				}
				if got != want {
					t.Errorf("%s, %s in state %d: got %s, want %s", f.Name, words[0], state, got, want)
				}
				cells++
			}
		}
	}
	if cells != 2*50+13*9+12*9 {
		t.Errorf("%d cells compared", cells)
	}
}

func cellName(cell uint8, names []string) string {
	switch {
	case int(cell) < len(names):
		return names[cell]
	case cell == tcpIgnore:
		return "IG"
	}
	return "IV"
}
