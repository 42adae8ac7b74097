package syntax

// kind classifies a token. Keywords are not kinds: which words are special
// depends on where they stand, so the parser compares their text.
type kind uint8

const (
	kindEOF       kind = iota
	kindBad            // stands in for every token after an error until the parser resynchronises
	kindJunk           // a character that starts no token
	kindNewline        // end of a line that was not continued
	kindWord           // bare word: letter, _ or . first
	kindWild           // bare word with a star
	kindValue          // address, time, classid or another literal that starts with a digit or colon
	kindBracket        // [2001:db8::1]
	kindNumber         // decimal, 0x hex or octal
	kindQuoted         // "…"
	kindOpenQuote      // " without its end
	kindSemicolon
	kindComma
	kindDot
	kindColon
	kindLBrace
	kindRBrace
	kindLBracket
	kindRBracket
	kindLParen
	kindRParen
	kindAssign
	kindEq
	kindNeq
	kindLt
	kindLte
	kindGt
	kindGte
	kindLshift
	kindRshift
	kindAnd
	kindOr
	kindXor
	kindNot
	kindSlash
	kindDash
	kindPlus
	kindStar
	kindAt
	kindDollar
)

// kindNames is how diagnostics call tokens that have no text worth showing.
var kindNames = [...]string{
	kindEOF: "end of file", kindBad: "error", kindJunk: "character", kindNewline: "end of line",
	kindWord: "word", kindWild: "wildcard", kindValue: "value", kindBracket: "address",
	kindNumber: "number", kindQuoted: "string", kindOpenQuote: "string",
	kindSemicolon: "';'", kindComma: "','", kindDot: "'.'", kindColon: "':'", kindLBrace: "'{'", kindRBrace: "'}'",
	kindLBracket: "'['", kindRBracket: "']'", kindLParen: "'('", kindRParen: "')'", kindAssign: "'='",
	kindEq: "'=='", kindNeq: "'!='", kindLt: "'<'", kindLte: "'<='", kindGt: "'>'", kindGte: "'>='",
	kindLshift: "'<<'", kindRshift: "'>>'", kindAnd: "'&'", kindOr: "'|'", kindXor: "'^'", kindNot: "'!'",
	kindSlash: "'/'", kindDash: "'-'", kindPlus: "'+'", kindStar: "'*'", kindAt: "'@'", kindDollar: "'$'",
}

// token is a piece of the source. Its text is cut out of the source when
// someone asks for it.
type token struct {
	kind       kind
	start, end int32
}
