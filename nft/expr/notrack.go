package expr

// Notrack exempts the packet from connection tracking.
// Ref: nft_ct.c, nft_notrack_eval.
type Notrack struct{}

// Kind is notrack.
func (*Notrack) Kind() string { return "notrack" }

// AppendText appends `notrack`.
func (*Notrack) AppendText(b []byte) []byte { return append(b, "notrack"...) }

// Check refuses nothing.
func (*Notrack) Check(*Checker) error { return nil }

// Registers uses none.
func (*Notrack) Registers(*Place) RegUse { return RegUse{} }

func parseNotrack(*textParser) Expr { return &Notrack{} }
