package build_test

import (
	"fmt"

	"verdict/packet"
	"verdict/packet/build"
)

func Example() {
	p, err := build.Parse(`iifname "eth0" ip saddr 192.0.2.1 tcp dport ssh`)
	if err != nil {
		fmt.Println(err)
		return
	}
	var v packet.View
	v.Decode(p.Link, p.Data, len(p.Data))
	fmt.Println(p.Meta.IIF.Name)
	fmt.Println(build.Summary(&v))
	fmt.Println(build.Text(&v))
	// Output:
	// eth0
	// IP 192.0.2.1.40000 > 10.0.0.2.22: tcp S len 0
	// ip saddr 192.0.2.1 ip daddr 10.0.0.2 tcp sport 40000 tcp dport 22 tcp flags syn
}

func ExampleParse_error() {
	_, err := build.Parse("ip saddr 192.0.2.1 tcp dprot 22")
	fmt.Println(err)
	// Output: column 24: unknown field "dprot" of tcp (did you mean "dport"?)
}
