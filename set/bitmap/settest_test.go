package bitmap_test

import (
	"testing"

	"verdict/set/bitmap"
	"verdict/set/elem"
	"verdict/set/settest"
)

func TestModel(t *testing.T) {
	for _, n := range []int{1, 2} {
		settest.Run(t, settest.Config{
			Desc:      elem.Desc{KeyLen: n},
			New:       func(d *elem.Desc) (elem.Backend, error) { return bitmap.New(d) },
			Anonymous: true,
		})
	}
}
