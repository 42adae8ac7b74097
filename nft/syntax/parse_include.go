package syntax

import (
	"errors"
	"io/fs"

	"verdict/diag"
)

// MaxIncludeDepth is how deep files may include each other, as in nft.
const MaxIncludeDepth = 16

// maxIncluded bounds the number of files that one source brings in.
const maxIncluded = 10000

// include parses include "PATTERN" and the files it names, whose items are
// parsed as if they stood here.
func (p *parser) include(parse itemParser) Item {
	start := p.tok.start
	p.next()
	if !p.at(kindQuoted) {
		d := p.unexpected("a quoted file name")
		if p.resume.kind == kindWord {
			d.Hint = "file names are written in quotes"
		}
		return nil
	}
	inc := &Include{Pattern: p.quotedText("a quoted file name")}
	inc.At = p.since(start)
	if p.opts.Open == nil {
		p.fail(inc.Span, codeInclude, "include is not possible here")
		return nil
	}
	if len(p.including) > MaxIncludeDepth {
		p.fail(inc.Span, codeInclude, "Include nested too deeply, max %d levels", MaxIncludeDepth)
		return nil
	}
	sources, err := p.opts.Open(inc.Pattern.Text, p.src)
	if err != nil {
		p.includeError(inc, err)
		return nil
	}
	for _, src := range sources {
		if p.stopped {
			break
		}
		if !p.mayInclude(inc, src) {
			return nil
		}
		if !src.IncludedAt.IsValid() {
			src.IncludedAt = inc.Span
		}
		inc.Files = append(inc.Files, p.includedFile(src, parse))
	}
	return inc
}

func (p *parser) includeError(inc *Include, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		p.fail(inc.Pattern.Span, codeInclude, "File not found: %s", inc.Pattern.Text)
		return
	}
	p.fail(inc.Pattern.Span, codeInclude, "cannot include %q: %v", inc.Pattern.Text, err)
}

// mayInclude refuses files that are being read already, and too many files.
func (p *parser) mayInclude(inc *Include, src *diag.Source) bool {
	for _, open := range p.including {
		if open.Name == src.Name {
			p.fail(inc.Pattern.Span, codeInclude, "%q includes itself", src.Name)
			return false
		}
	}
	p.included++
	if p.included > maxIncluded {
		p.fail(inc.Pattern.Span, codeInclude, "too many files included, limit is %d", maxIncluded)
		return false
	}
	return true
}

// includedFile parses one file in place of the include statement.
func (p *parser) includedFile(src *diag.Source, parse itemParser) IncludedFile {
	outer := p.input
	p.input = newInput(src, &p.opts)
	p.including = append(p.including, src)

	file := IncludedFile{Source: src}
	if p.readable(src) {
		p.start()
		file.Items, file.End = p.items(parse, false)
	}
	p.failed = false

	p.including = p.including[:len(p.including)-1]
	p.input = outer
	if p.stopped {
		p.toEnd()
	}
	return file
}
