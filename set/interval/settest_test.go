package interval_test

import (
	"testing"

	"verdict/set/elem"
	"verdict/set/interval"
	"verdict/set/settest"
)

func TestModel(t *testing.T) {
	for _, c := range []struct {
		name string
		d    elem.Desc
	}{
		{"protocol", elem.Desc{KeyLen: 1, Flags: elem.Interval}},
		{"port", elem.Desc{KeyLen: 2, Flags: elem.Interval | elem.Timeout}},
		{"address", elem.Desc{KeyLen: 4, Flags: elem.Interval | elem.Timeout}},
		{"anonymous", elem.Desc{KeyLen: 4, Flags: elem.Interval | elem.Anonymous | elem.Constant}},
		{"address6", elem.Desc{KeyLen: 16, Flags: elem.Interval | elem.Timeout, GCInterval: 1}},
		{"mac", elem.Desc{KeyLen: 6, Flags: elem.Interval}},
		{"name", elem.Desc{KeyLen: 20, Flags: elem.Interval}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := settest.Config{
				Desc: c.d,
				New:  func(d *elem.Desc) (elem.Backend, error) { return interval.New(d) },
			}
			settest.Run(t, config)
			config.Large = true
			settest.Soak(t, config, 500, 3)
		})
	}
}
