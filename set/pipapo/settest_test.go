package pipapo_test

import (
	"testing"

	"verdict/set/elem"
	"verdict/set/pipapo"
	"verdict/set/settest"
)

func newPlain(d *elem.Desc) (elem.Backend, error) { return pipapo.NewPlain(d) }

func newSet(d *elem.Desc) (elem.Backend, error) { return pipapo.New(d) }

func TestModel(t *testing.T) {
	for _, s := range settest.Shapes {
		t.Run(s.Name, func(t *testing.T) {
			settest.Run(t, settest.Config{Desc: s.Desc(), New: newSet})
		})
	}
}

func TestPlainModel(t *testing.T) {
	for _, s := range settest.Shapes {
		t.Run(s.Name, func(t *testing.T) {
			settest.Run(t, settest.Config{Desc: s.Desc(), New: newPlain})
		})
	}
}
