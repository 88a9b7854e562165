// Package secret removes credentials from text: API keys and tokens of current formats, private keys, passwords and
// logins that a sentence states in one of some twenty languages, seed phrases, one-time and backup codes, card numbers that
// pass Luhn's check, bank account numbers (IBAN) whose check digits are right, and US social security numbers.
//
// Redact uses the built-in rules; NewRedactor adds an operator's own patterns to them. Redaction is a net and no proof:
// a secret that looks like ordinary words passes.
package secret

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Redact replaces every secret in text by "[redacted:kind]" and leaves the rest as it is, byte for byte. Redacting
// twice changes nothing more. It is safe for concurrent use.
func Redact(text string) string { return builtin().Redact(text) }

var builtin = sync.OnceValue(func() *Redactor { return &Redactor{rules: builtinRules()} })

// Redactor redacts by the built-in rules and by those it was given. It is safe for concurrent use.
type Redactor struct {
	rules []rule
}

// maxExtra bounds the number of additional patterns.
const maxExtra = 100

// NewRedactor adds regular expressions (RE2 syntax) to the built-in rules. What matches becomes "[redacted:custom]":
// the first group of a pattern that has one, else the whole match. A pattern that does not compile or that matches the
// empty text is memory.ErrInvalid, named by its position.
func NewRedactor(extra []string) (*Redactor, error) {
	if len(extra) > maxExtra {
		return nil, memory.Invalid("patterns", "has %d patterns; at most %d are allowed", len(extra), maxExtra)
	}
	rules := builtinRules()
	for i, pattern := range extra {
		field := fmt.Sprintf("patterns.%d", i)
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, memory.Invalid(field, "is no regular expression: %v", err)
		}
		if re.MatchString("") {
			return nil, memory.Invalid(field, "%q matches the empty text", pattern)
		}
		rules = append(rules, rule{kind: "custom", re: re, group: min(1, re.NumSubexp())})
	}
	return &Redactor{rules: rules}, nil
}

// Redact is the function Redact with the redactor's own rules.
func (r *Redactor) Redact(text string) string {
	if len(text) < 4 {
		return text
	}
	lower, found := "", (*grams)(nil)
	for _, rule := range r.rules {
		if rule.digits > 0 && !hasDigits(text, rule.digits) {
			continue
		}
		if len(rule.words) > 0 {
			if lower == "" {
				if lower = lowered(text); len(text) > longText {
					found = gramsOf(lower)
				}
			}
			if found != nil {
				rule.words = found.held(lower, rule.words)
			}
			if !slices.ContainsFunc(rule.words, func(w string) bool { return strings.Contains(lower, w) }) {
				continue
			}
		}
		if out := rule.apply(text, lower); out != text {
			text, lower = out, ""
		}
	}
	return text
}

// rule is one form of secret.
type rule struct {
	kind   string
	words  []string // lower case; the text must hold one of them, none = always tried
	digits int      // the text must hold that many
	re     *regexp.Regexp
	group  int                                  // what is replaced; 0 = the whole match
	accept func(match, value, rest string) bool // nil = every match
	near   int                                  // bytes around a word that are read of a long text; 0 = many
	within func(text string) []part             // what is read of a long text, nil = the surroundings of words
	prog   func() *syntax.Prog                  // of re, for parts in which words crowd
	holds  string                               // bytes of which a match holds one; "" = not known
	whole  bool                                 // a long text is read as a whole, because a match has no bound
}

// apply replaces what the rule accepts. lower is text in lower case; it is read only where the rule has words.
func (r rule) apply(text, lower string) string {
	var b strings.Builder
	at := 0
	for _, part := range r.parts(text, lower) {
		if r.holds != "" && !strings.ContainsAny(text[part.from:part.to], r.holds) {
			continue
		}
		for _, m := range r.re.FindAllStringSubmatchIndex(text[part.from:part.to], -1) {
			from, to := part.from+m[2*r.group], part.from+m[2*r.group+1]
			if from < at || from == to {
				continue
			}
			value := text[from:to]
			if strings.HasPrefix(value, "[redacted:") || strings.HasPrefix(value, "redacted:") || r.accept != nil && !r.accept(text[part.from+m[0]:part.from+m[1]], value, text[to:]) {
				continue
			}
			b.WriteString(text[at:from])
			b.WriteString("[redacted:" + r.kind + "]")
			at = to
		}
	}
	if at == 0 {
		return text
	}
	b.WriteString(text[at:])
	return b.String()
}

func hasDigits(s string, n int) bool {
	for i := 0; i < len(s) && n > 0; i++ {
		if s[i] >= '0' && s[i] <= '9' {
			n--
		}
	}
	return n <= 0
}
