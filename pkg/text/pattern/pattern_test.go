package pattern_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// TestMayMatchRulesOut tells apart texts that have what an expression needs from those that cannot match.
func TestMayMatchRulesOut(t *testing.T) {
	t.Parallel()
	for expr, texts := range map[string]struct{ may, cannot []string }{
		`(?i)\b(?:going|plans?|picked)\b.* (?:instead of|rather than) (?:to )?(.+)$`: {
			[]string{"Tom PICKED tea rather than coffee", "plans instead of plans"}, []string{"Tom picked tea", "instead of tea, coffee", ""}},
		`^(\S+) (?:has|have)* ?(?:sold|gave away) (.+)`: {[]string{"Ana sold it", "Ana has gave away it"}, []string{"Ana gave it away"}},
		`\bn[eé]e? (?:in|a[tu]) `:                       {[]string{"née au Mans", "ne in Rom"}, []string{"né en Rome"}},
		`(?:ab|cd)+e?`:                                  {[]string{"xxcd"}, []string{"ac bd e"}},
		`a{2,3}b`:                                       {[]string{"aab"}, []string{"ab"}},
		`x*|y+`:                                         {[]string{"", "z"}, nil},
		`\d+ (?:cups?|\p{Lu}\w+)`:                       {[]string{"3 cups", "3 Tassen"}, nil},
	} {
		p := pattern.New(expr)
		for _, s := range texts.may {
			if !p.MayMatch(s) {
				t.Errorf("%s cannot match %q", expr, s)
			}
		}
		for _, s := range texts.cannot {
			if p.MayMatch(s) {
				t.Errorf("%s may match %q", expr, s)
			}
		}
	}
}

// TestPatternsFindWhatRegexpFinds asks every method of a pattern and of regexp.
func TestPatternsFindWhatRegexpFinds(t *testing.T) {
	t.Parallel()
	const expr = `(?i)(?P<who>\w+) (?:likes|loves) (?P<what>\w+)`
	re, p := regexp.MustCompile(expr), pattern.New(expr)
	upper := func(s string) string { return "<" + s + ">" }
	for _, s := range []string{"", "Nobody came.", "Ida LOVES chess. Ole likes tea.", "liKes loveſ", "Ida loveſ \u212Aale"} {
		same := p.MatchString(s) == re.MatchString(s) && p.FindString(s) == re.FindString(s) &&
			slices.Equal(p.FindStringIndex(s), re.FindStringIndex(s)) &&
			slices.Equal(p.FindStringSubmatch(s), re.FindStringSubmatch(s)) &&
			slices.Equal(p.FindStringSubmatchIndex(s), re.FindStringSubmatchIndex(s)) &&
			p.ReplaceAllString(s, "$what") == re.ReplaceAllString(s, "$what") &&
			p.ReplaceAllStringFunc(s, upper) == re.ReplaceAllStringFunc(s, upper)
		if !same {
			t.Errorf("something differs in %q", s)
		}
	}
	if !slices.Equal(p.SubexpNames(), re.SubexpNames()) || p.SubexpIndex("what") != 2 {
		t.Errorf("the groups are %v", p.SubexpNames())
	}
}

// FuzzMayMatch looks for a match that was ruled out.
func FuzzMayMatch(f *testing.F) {
	for _, expr := range []string{
		`(?i)kiss|stra(?:ß|ss)e`, `^(?:a|bc)?(?:d|ef)*g+h{2}$`, `(?i:Σ)igma|[kK]elvin`, `(?:x[abc]y|zz)(?:\b|q)?`, `(?s).a.|(ab(?:c|))`, `(?i)[st]op|ſ`, `(a|ab)(c|bcd)(d*)`,
		`(?i)\b(?:mon|tues)days?\b`, `\Aüber|Über\z`, `[^a]bc`, `(?:(?:a|b)(?:c|d)){2}`,
	} {
		for _, s := range []string{"", "KISS me", "Straße", "gghh", "ΣIGMA ς", "\u212Aelvin", "xay zz", "abcd", "ſtop", "Mondays", "über", "acbd", "\xffbc"} {
			f.Add(expr, s)
		}
	}
	f.Fuzz(func(t *testing.T, expr, s string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 200 {
			return
		}
		if p := pattern.New(expr); re.MatchString(s) && !p.MayMatch(s) {
			t.Errorf("%q matches %q, which was ruled out", expr, s)
		}
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	w := pattern.NewWords("moved", "mo", "put off", "ß!")
	for s, want := range map[string]bool{"she moved": true, "mo": true, "m": false, "": false, "put  off": false, "he put off": true, "aß!": true, "Moved": false} {
		if w.In(s) != want {
			t.Errorf("%q: %t", s, !want)
		}
	}
	var all []string
	for a := 'A'; a <= 'z'; a++ {
		for b := 'A'; b <= 'z'; b++ {
			all = append(all, string([]rune{a, b}))
		}
	}
	many := pattern.NewWords(all...)
	for _, word := range all {
		if !many.In("1" + word) {
			t.Errorf("%q is not found among many", word)
		}
	}
}
