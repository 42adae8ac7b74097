package workload

// ports makes a list of choices for source and destination ports.
func ports(list ...weighted[[2]portKind]) []weighted[[2]portKind] { return list }

func kinds(weight float64, src, dst portKind) weighted[[2]portKind] {
	return weighted[[2]portKind]{weight, [2]portKind{src, dst}}
}

func lengths(list ...[3]int) []weighted[[2]uint8] {
	out := make([]weighted[[2]uint8], len(list))
	for i, l := range list {
		out[i] = weighted[[2]uint8]{float64(l[0]), [2]uint8{uint8(l[1]), uint8(l[2])}}
	}
	return out
}

func proto(weight float64, number uint8, p []weighted[[2]portKind]) weighted[protocolModel] {
	return weighted[protocolModel]{weight, protocolModel{number, number == 0, p}}
}

var noPorts = ports(kinds(1, portAny, portAny))

// families are the models; weights of lengths are percent.
var families = map[string]*family{
	"acl": {
		protocols: []weighted[protocolModel]{
			proto(.82, 6, ports(kinds(.2, portAny, portAny), kinds(.62, portAny, portExact), kinds(.13, portAny, portRange), kinds(.05, portAny, portHigh))),
			proto(.08, 17, ports(kinds(.1, portAny, portAny), kinds(.8, portAny, portExact), kinds(.05, portExact, portExact), kinds(.05, portAny, portRange))),
			proto(.03, 1, noPorts), proto(.07, 0, noPorts),
		},
		lengths: lengths([3]int{55, 32, 32}, [3]int{12, 24, 32}, [3]int{6, 23, 32}, [3]int{5, 31, 32}, [3]int{4, 30, 32}, [3]int{4, 32, 24},
			[3]int{3, 16, 32}, [3]int{3, 24, 24}, [3]int{2, 27, 28}, [3]int{2, 28, 27}, [3]int{2, 0, 32}, [3]int{1, 0, 24}, [3]int{1, 22, 20}),
	},
	"fw": {
		protocols: []weighted[protocolModel]{
			proto(.57, 6, ports(kinds(.17, portAny, portAny), kinds(.04, portHigh, portHigh), kinds(.6, portAny, portExact), kinds(.1, portExact, portAny), kinds(.04, portAny, portRange), kinds(.05, portHigh, portExact))),
			proto(.32, 17, ports(kinds(.07, portHigh, portHigh), kinds(.4, portAny, portExact), kinds(.28, portExact, portAny), kinds(.07, portHigh, portExact), kinds(.06, portExact, portHigh), kinds(.07, portExact, portExact), kinds(.05, portAny, portAny))),
			proto(.04, 1, noPorts), proto(.05, 47, noPorts), proto(.02, 0, noPorts),
		},
		lengths: lengths([3]int{38, 0, 32}, [3]int{17, 32, 0}, [3]int{20, 32, 32}, [3]int{4, 0, 0}, [3]int{3, 0, 28}, [3]int{3, 28, 0}, [3]int{4, 28, 32},
			[3]int{3, 32, 28}, [3]int{2, 0, 24}, [3]int{2, 24, 0}, [3]int{2, 16, 0}, [3]int{1, 8, 32}, [3]int{1, 0, 16}),
	},
	"ipc": {
		protocols: []weighted[protocolModel]{
			proto(.52, 6, ports(kinds(.3, portAny, portAny), kinds(.42, portAny, portExact), kinds(.14, portExact, portAny), kinds(.05, portAny, portRange), kinds(.03, portRange, portAny), kinds(.03, portHigh, portExact), kinds(.03, portAny, portHigh))),
			proto(.22, 17, ports(kinds(.2, portAny, portAny), kinds(.3, portAny, portExact), kinds(.2, portExact, portAny), kinds(.2, portExact, portExact), kinds(.1, portAny, portRange))),
			proto(.06, 1, noPorts), proto(.2, 0, noPorts),
		},
		lengths: lengths([3]int{30, 32, 32}, [3]int{11, 24, 32}, [3]int{11, 32, 24}, [3]int{9, 24, 24}, [3]int{6, 0, 32}, [3]int{6, 32, 0}, [3]int{5, 28, 28},
			[3]int{5, 16, 24}, [3]int{4, 30, 30}, [3]int{4, 27, 32}, [3]int{3, 20, 32}, [3]int{3, 32, 20}, [3]int{2, 16, 16}, [3]int{1, 0, 0}),
	},
}
