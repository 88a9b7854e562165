// Package pattern finds regular expressions in sentences. Most sentences match none of the hundreds that are looked for, and
// a search costs the package regexp several microseconds, so a Pattern first looks for words without which its expression
// matches nothing. It finds what regexp finds.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. It is compiled when it is first used: most runs of the programs read no sentence. It is safe
// for concurrent use.
type Pattern struct {
	compiled func() compiled
}

type compiled struct {
	re    *regexp.Regexp
	needs []*Words // of each a match has one
}

// New returns the pattern of an expression in the syntax of the package regexp. A wrong expression panics when it is first used.
func New(expr string) *Pattern {
	return &Pattern{sync.OnceValue(func() compiled {
		return compiled{regexp.MustCompile(expr), neededBy(expr)}
	})}
}

// MayMatch reports whether s has of everything that the expression needs. Without that, nothing in s matches.
func (p *Pattern) MayMatch(s string) bool { return p.compiled().mayMatch(s) }

func (c compiled) mayMatch(s string) bool {
	if len(c.needs) == 0 {
		return true
	}
	s = folded(s)
	for _, n := range c.needs {
		if !n.In(s) {
			return false
		}
	}
	return true
}

// MatchString is that of regexp.Regexp.
func (p *Pattern) MatchString(s string) bool {
	c := p.compiled()
	return c.mayMatch(s) && c.re.MatchString(s)
}

// FindString is that of regexp.Regexp.
func (p *Pattern) FindString(s string) string {
	if at := p.FindStringIndex(s); at != nil {
		return s[at[0]:at[1]]
	}
	return ""
}

// FindStringIndex is that of regexp.Regexp.
func (p *Pattern) FindStringIndex(s string) []int {
	c := p.compiled()
	if !c.mayMatch(s) {
		return nil
	}
	return c.re.FindStringIndex(s)
}

// FindStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatch(s string) []string {
	c := p.compiled()
	if !c.mayMatch(s) {
		return nil
	}
	return c.re.FindStringSubmatch(s)
}

// FindStringSubmatchIndex is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	c := p.compiled()
	if !c.mayMatch(s) {
		return nil
	}
	return c.re.FindStringSubmatchIndex(s)
}

// ReplaceAllString is that of regexp.Regexp.
func (p *Pattern) ReplaceAllString(s, with string) string {
	c := p.compiled()
	if !c.mayMatch(s) {
		return s
	}
	return c.re.ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is that of regexp.Regexp.
func (p *Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	c := p.compiled()
	if !c.mayMatch(s) {
		return s
	}
	return c.re.ReplaceAllStringFunc(s, with)
}

// SubexpNames is that of regexp.Regexp.
func (p *Pattern) SubexpNames() []string { return p.compiled().re.SubexpNames() }

// SubexpIndex is that of regexp.Regexp.
func (p *Pattern) SubexpIndex(name string) int { return p.compiled().re.SubexpIndex(name) }
