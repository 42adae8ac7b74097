package iptables

import (
	"bytes"
	"testing"

	"verdict/catalog"
	"verdict/diag"
)

// FuzzParse reads anything without crashing, and reads again what it prints.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n",
		"*nat\n:u - [0:0]\n-A u -p tcp -m multiport --dports 1:2,80 -j DNAT --to-destination 1.2.3.4-1.2.3.5:80-90\nCOMMIT\n",
		"*mangle\n-A PREROUTING ! -s 10.0.0.0/255.0.255.0 -m u32 --u32 \"0>>22&0x3C@0>>24=8,10:20&&1=2\" -j MARK --set-xmark 1/2\nCOMMIT\n",
		"*raw\n-A PREROUTING -s fe80::1 -m rt --rt-type 0 -m hbh --hbh-opts 1:2,3 -j CT --zone 1\nCOMMIT\n",
		"*filter\n-A INPUT -m hashlimit --hashlimit-above 20kb/s --hashlimit-burst 1mb --hashlimit-mode srcip,dstport --hashlimit-name a -m comment --comment \"a \\\" b\"\nCOMMIT\n",
		"*filter\n[1:2] -I INPUT 1 -m recent --update --seconds 5 --reap -m string --hex-string \"|41 00|x\" --algo bm\nCOMMIT\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, six bool) {
		family := catalog.FamilyIP
		if six {
			family = catalog.FamilyIP6
		}
		file, found := Parse(diag.NewSource("fuzz", text), Options{Family: family})
		if found.HasErrors() {
			return
		}
		Translate(file, TranslateOptions{})
		Translate(file, TranslateOptions{Reference: true})
		checked := Check(file)
		printed := AppendSave(nil, file.Tables, nil)
		again, found := Parse(diag.NewSource("printed", printed), Options{Family: family})
		if found.HasErrors() {
			t.Fatalf("%s\n%v", printed, found.Err())
		}
		if twice := AppendSave(nil, again.Tables, nil); !bytes.Equal(printed, twice) {
			t.Fatalf("printed as\n%s\nand then as\n%s", printed, twice)
		}
		if !checked.HasErrors() {
			if _, err := Compile(file.Tables); err != nil {
				t.Fatal(err)
			}
		}
	})
}
