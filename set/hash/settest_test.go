package hash_test

import (
	"testing"

	"verdict/set/elem"
	"verdict/set/hash"
	"verdict/set/settest"
)

func newSet(d *elem.Desc) (elem.Backend, error) { return hash.New(d) }

func TestModel(t *testing.T) {
	for _, c := range []struct {
		name string
		d    elem.Desc
	}{
		{"protocol", elem.Desc{KeyLen: 1, Flags: elem.Map}},
		{"port", elem.Desc{KeyLen: 2, Flags: elem.Timeout}},
		{"address", elem.Desc{KeyLen: 4, Flags: elem.Timeout}},
		{"mac", elem.Desc{KeyLen: 6, Flags: elem.Timeout, Seed: 7}},
		{"address and port", elem.Desc{KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Concat | elem.Timeout}},
		{"address6", elem.Desc{KeyLen: 16, Flags: elem.Timeout}},
		{"flow", elem.Desc{KeyLen: 12, Fields: []uint8{4, 4, 2}, Flags: elem.Concat | elem.Timeout, GCInterval: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := settest.Config{Desc: c.d, New: newSet}
			settest.Run(t, config)
			config.Large = true
			settest.Soak(t, config, 600, 3)
		})
	}
}
