package pipapo_test

import (
	"slices"
	"testing"

	"verdict/set/elem"
	"verdict/set/pipapo"
	"verdict/set/settest"
)

func newPlain(d *elem.Desc) (elem.Backend, error) { return pipapo.NewPlain(d) }

func newSet(d *elem.Desc) (elem.Backend, error) { return pipapo.New(d) }

// moreShapes have fields of every number of words, and many fields.
var moreShapes = []settest.Shape{
	{Name: "net,port,proto", Fields: []uint8{4, 2, 1}},
	{Name: "words of every number", Fields: []uint8{1, 5, 9, 13, 3}},
	{Name: "twelve bytes", Fields: []uint8{12, 2}},
	{Name: "sixteen fields", Fields: []uint8{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	{Name: "flow", Fields: []uint8{4, 4, 2, 2, 1}},
}

func TestModel(t *testing.T) {
	for _, s := range slices.Concat(settest.Shapes, moreShapes) {
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
