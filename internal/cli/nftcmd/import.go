package nftcmd

import (
	"io"

	"verdict/diag"
	"verdict/nft/nftjson"
	"verdict/nft/syntax"
)

// imports puts what import commands read from standard input in their place:
// JSON is the only format that is left.
func (b *batch) imports() {
	for i, item := range b.file.Items {
		c, ok := item.(*syntax.Command)
		if !ok || c.Verb != syntax.VerbImport {
			continue
		}
		if c.Format.Text != "json" {
			b.found.Errorf(c.Format.Span, "nft/format", "this input type is not supported, use 'import ruleset json'")
			continue
		}
		text, err := io.ReadAll(io.LimitReader(b.session.In, maxSource))
		if err != nil {
			b.found.Errorf(c.Span, "nft/input", "Could not read standard input: %v", err)
			continue
		}
		file, found := nftjson.Decode(diag.NewSource("/dev/stdin", text))
		for _, d := range found.All() {
			b.found.Add(d)
		}
		items := append(b.file.Items[:i:i], file.Items...)
		b.file.Items = append(items, b.file.Items[i+1:]...)
		return // standard input holds one document
	}
}
