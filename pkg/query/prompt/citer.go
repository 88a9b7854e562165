package prompt

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMark bounds the bytes of one mark, "[1, 2]".
const maxMark = 64

var (
	mark = regexp.MustCompile(`^\[ *[0-9]{1,3}(?: *, *[0-9]{1,3})* *\]`)
	none = regexp.MustCompile(`(?i)^\[ *none *\]`)
)

// Citer rewrites an answer while it comes. The numbers in marks ("[4, 2]") are replaced by the order in which the answer
// first names the items, from 1. Marks of items that were never shown are dropped, and so is "[none]", by which an answer
// says that it rests on nothing. White space at both ends is trimmed, and what is not UTF-8 is replaced. The result does
// not depend on how the answer is cut into pieces.
type Citer struct {
	shown    func(number int) bool
	order    []int
	invented []string
	rest     string // not yet decided
	space    string // written once more text follows
	began    bool
	dropped  bool // a mark was dropped after the last text
	none     bool
}

// NewCiter returns a citer; shown reports whether an item was shown under a number.
func NewCiter(shown func(number int) bool) *Citer { return &Citer{shown: shown} }

// Write takes the next piece and returns the text that is certain.
func (c *Citer) Write(piece string) string {
	c.rest += piece
	return c.rewrite(false)
}

// End returns the rest of the text when nothing more comes.
func (c *Citer) End() string { return c.rewrite(true) }

// Cited returns the numbers of the items that were cited, in the order of their new numbers.
func (c *Citer) Cited() []int { return slices.Clone(c.order) }

// Invented returns the marks that name nothing that was shown, each once, in order.
func (c *Citer) Invented() []string { return slices.Clone(c.invented) }

// None reports whether the answer says that it rests on nothing.
func (c *Citer) None() bool { return c.none }

// Number cites an item, whether the text names it or not, and returns its new number.
func (c *Citer) Number(shown int) int {
	if i := slices.Index(c.order, shown); i >= 0 {
		return i + 1
	}
	c.order = append(c.order, shown)
	return len(c.order)
}

// Reject adds a name to Invented.
func (c *Citer) Reject(name string) {
	if !slices.Contains(c.invented, name) {
		c.invented = append(c.invented, name)
	}
}

func (c *Citer) rewrite(end bool) string {
	var out strings.Builder
	for c.rest != "" {
		if c.rest[0] == '[' {
			head := c.rest[:min(len(c.rest), maxMark)]
			if m := mark.FindString(head); m != "" {
				c.rest = c.rest[len(m):]
				c.put(&out, c.renumber(m))
				continue
			}
			if m := none.FindString(head); m != "" {
				c.rest, c.none = c.rest[len(m):], true
				c.put(&out, "")
				continue
			}
			if !end && open(c.rest) {
				break
			}
		}
		if !end && !utf8.FullRuneInString(c.rest) {
			break
		}
		r, n := utf8.DecodeRuneInString(c.rest)
		c.rest = c.rest[n:]
		if unicode.IsSpace(r) {
			if c.began && (!c.dropped || c.space == "") {
				c.space += string(r)
			}
			continue
		}
		c.put(&out, string(r))
	}
	return out.String()
}

// put writes text after the white space that waited for it.
func (c *Citer) put(out *strings.Builder, text string) {
	if text == "" {
		c.dropped = true
		return
	}
	if c.dropped && strings.ContainsAny(text[:1], ".,;:!?)") {
		c.space = ""
	}
	out.WriteString(c.space + text)
	c.space, c.began, c.dropped = "", true, false
}

// open reports whether a text that begins with a bracket may still become a mark.
func open(text string) bool {
	if len(text) >= maxMark {
		return false
	}
	word := strings.ToLower(strings.TrimRight(strings.TrimLeft(text[1:], " "), " "))
	return strings.Trim(word, "0123456789, ") == "" || word == "none" || strings.HasPrefix("none", word) && !strings.HasSuffix(text, " ")
}

// renumber returns a mark with the new numbers, "" if none of its items was shown.
func (c *Citer) renumber(m string) string {
	var kept []string
	for part := range strings.SplitSeq(strings.Trim(m, "[]"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || !c.shown(n) {
			c.Reject("[" + strings.TrimSpace(part) + "]")
			continue
		}
		if text := strconv.Itoa(c.Number(n)); !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return "[" + strings.Join(kept, ", ") + "]"
}
