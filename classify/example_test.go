package classify_test

import (
	"fmt"

	"verdict/classify"
)

func Example() {
	layout, err := classify.NewLayout(
		classify.Field{Name: "source", Bits: 32},
		classify.Field{Name: "port", Bits: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := classify.New(layout, []classify.Rule{
		{Order: 1, Match: []classify.Constraint{classify.Prefix(0, []byte{10, 1, 0, 0}, 16), classify.Exact(1, []byte{0, 22})}},
		{Order: 2, Match: []classify.Constraint{classify.Not(classify.Prefix(0, []byte{10, 0, 0, 0}, 8))}},
		{Order: 3, Match: []classify.Constraint{classify.Between(1, []byte{0, 0}, []byte{3, 0xff})}},
	}, classify.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	key := layout.NewKey()
	layout.Set(key, 0, []byte{10, 1, 2, 3})
	layout.Set(key, 1, []byte{0, 22})
	fmt.Println("all rules that match, in order:")
	for order := table.Next(key, 0); order != classify.None; order = table.Next(key, order+1) {
		fmt.Println(order)
	}
	// Output:
	// all rules that match, in order:
	// 1
	// 3
}

func ExampleLive() {
	layout, _ := classify.NewLayout(classify.Field{Name: "port", Bits: 16})
	live, err := classify.NewLive(layout, []classify.Rule{{Order: 10}}, classify.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	key := layout.NewKey()
	layout.Set(key, 0, []byte{0, 80})
	before := live.View()
	if err := live.Add(classify.Rule{Order: 5, Match: []classify.Constraint{classify.Exact(0, []byte{0, 80})}}); err != nil {
		fmt.Println(err)
		return
	}
	old, _ := before.Lookup(key)
	now, _ := live.View().Lookup(key)
	fmt.Println(old, now)
	// Output: 10 5
}

func ExampleTable_LookupBatch() {
	layout, _ := classify.NewLayout(classify.Field{Name: "port", Bits: 16})
	table, err := classify.New(layout, []classify.Rule{
		{Order: 1, Match: []classify.Constraint{classify.Exact(0, []byte{0, 53})}},
		{Order: 2, Match: []classify.Constraint{classify.Between(0, []byte{0, 0}, []byte{0, 99})}},
	}, classify.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys := make([]uint32, 3*layout.Stride())
	for i, port := range []byte{53, 80, 200} {
		layout.Set(keys[i*layout.Stride():], 0, []byte{0, port})
	}
	found := make([]uint32, 3)
	table.LookupBatch(keys, found)
	for _, order := range found {
		if order == classify.None {
			fmt.Println("none")
			continue
		}
		fmt.Println(order)
	}
	// Output:
	// 1
	// 2
	// none
}
