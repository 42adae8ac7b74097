package tc

import "fmt"

// Code is what a classifier or an action says, with the kernel's number.
//
// Ref: include/uapi/linux/pkt_cls.h, TC_ACT_OK
type Code int32

// The codes. JUMP and GOTO carry a number in their low 28 bits.
const (
	Unspec     Code = -1
	OK         Code = 0
	Reclassify Code = 1
	Shot       Code = 2
	Pipe       Code = 3
	Stolen     Code = 4
	Queued     Code = 5
	Repeat     Code = 6
	RedirectTo Code = 7
	Trap       Code = 8
	Jump       Code = 1 << 28
	GotoChain  Code = 2 << 28
	// Consumed is internal: somebody else has the packet.
	Consumed Code = 0x7fffffff
)

// numberMask holds the number of a JUMP or GOTO.
const numberMask = 1<<28 - 1

// op is the code without its number.
func (c Code) op() Code {
	if c > 0 && c != Consumed && c>>28 != 0 {
		return c &^ numberMask
	}
	return c
}

// number is what JUMP and GOTO carry.
func (c Code) number() uint32 { return uint32(c) & numberMask }

var codeNames = map[Code]string{
	Unspec: "continue", OK: "pass", Reclassify: "reclassify", Shot: "drop", Pipe: "pipe", Stolen: "stolen",
	Queued: "queued", Repeat: "repeat", RedirectTo: "redirect", Trap: "trap", Jump: "jump", GotoChain: "goto",
	Consumed: "consumed",
}

// String writes the code as listings do.
func (c Code) String() string {
	switch c.op() {
	case Jump:
		return fmt.Sprintf("jump %d", c.number())
	case GotoChain:
		return fmt.Sprintf("goto chain %d", c.number())
	}
	if n, ok := codeNames[c]; ok {
		return n
	}
	return fmt.Sprintf("[%d]", int32(c))
}

// Fate is what became of a packet at a hook.
type Fate uint8

// The fates.
const (
	Passed   Fate = iota // it goes on
	Dropped              // the qdisc dropped it
	Taken                // redirected, trapped, stolen or held: consumed
	Bypassed             // it goes on, and no filter was asked
)

// String names the fate in lower case.
func (f Fate) String() string {
	return [...]string{"pass", "drop", "gone", "bypass"}[f]
}
