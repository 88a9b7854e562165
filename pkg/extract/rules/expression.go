package rules

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled when it is first used: most runs of the programs read no sentence.
type expression func() *regexp.Regexp

func newExpression(expr string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func (e expression) MatchString(s string) bool              { return e().MatchString(s) }
func (e expression) FindStringIndex(s string) []int         { return e().FindStringIndex(s) }
func (e expression) FindStringSubmatch(s string) []string   { return e().FindStringSubmatch(s) }
func (e expression) FindStringSubmatchIndex(s string) []int { return e().FindStringSubmatchIndex(s) }
func (e expression) ReplaceAllString(s, with string) string { return e().ReplaceAllString(s, with) }
func (e expression) ReplaceAllStringFunc(s string, f func(string) string) string {
	return e().ReplaceAllStringFunc(s, f)
}
