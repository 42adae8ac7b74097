package syntax

import "verdict/diag"

// Format lays out a source anew: tabs for indentation, one blank between
// words, quotes around comments and names of files and objects, at most one
// blank line in a row, one element a line in lists that had several lines. It
// keeps comments, definitions, includes, the order of everything and what it
// means. Formatting what Format returned changes nothing.
//
// Where the source has errors the list says so and there is no result.
// Included files are not opened.
func Format(src *diag.Source) ([]byte, *diag.List) {
	notOpened := func(string, *diag.Source) ([]*diag.Source, error) { return nil, nil }
	file, list := Parse(src, Options{Open: notOpened, KeepComments: true})
	if list.HasErrors() {
		return nil, list
	}
	p := printer{source: true}
	p.fileItems(file.Items, file.End)
	return p.b, list
}
