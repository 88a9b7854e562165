package scriptedmodel

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// item is one thing a prompt shows: a message, a fact, a piece of memory.
type item struct {
	label   string // as it is named there; "" = it has no name
	number  int    // of the label; 0 = it is none
	section string // the mark it stands in, as "messages"
	group   string // what it stands under: a question of several, a composite
	before  bool   // shown to explain, and not to be worked on
	speaker string
	day     time.Time // when it was said; zero = not shown
	text    string
	fields  object // of an item shown as JSON
}

var (
	openMark  = regexp.MustCompile(`^<([a-z_]+)(?: [^<>]*)?>$`)
	closeMark = regexp.MustCompile(`^</([a-z_]+)>$`)
	dayLine   = regexp.MustCompile(`^=* ?(?:[A-Z][a-z]{2,8},? )?(\d{4}-\d\d-\d\d)(?:[ T]\S*)?$`)
	heading   = regexp.MustCompile(`^(?:#+ .+|[A-Z][A-Za-z ,]{2,60}:)$`)
	bracketed = regexp.MustCompile(`^[ \t]*[-*]?[ \t]*\[([A-Za-z]{0,8}[ _]?\d{1,6})\]:?[ \t]+(.*)$`)
	numbered  = regexp.MustCompile(`^[ \t]*[-*]?[ \t]*([A-Za-z]{0,2}\d{1,6})[.):]?[ \t]+(.*)$`)
	spoken    = regexp.MustCompile(`^([^:"{}\[\]]{1,128}?)(?: \((?:user|assistant|system|tool)\))?: (.*)$`)
	inText    = regexp.MustCompile(`\b(\d{4}-\d\d-\d\d)\b`)
)

// show reads what a call shows as data, in order: the user's messages and the results of tools.
func show(req *Request) []item {
	var out []item
	for _, m := range req.Messages {
		if m.Role == "user" || m.Role == "tool" {
			out = append(out, showText(m.Content)...)
		}
	}
	return out
}

// reader reads one text line by line.
type reader struct {
	out     []item
	section string
	group   string
	day     time.Time
}

func showText(text string) []item {
	r := &reader{}
	for rest := text; rest != ""; {
		if items, after, ok := jsonItems(rest, r.section); ok {
			r.out, rest = append(r.out, items...), after
			continue
		}
		line, after, _ := strings.Cut(rest, "\n")
		r.line(strings.TrimRight(line, "\r"))
		rest = after
	}
	return slices.DeleteFunc(r.out, func(it item) bool { return it.text == "" || it.text == "as shown above" })
}

func (r *reader) line(line string) {
	bare := strings.TrimSpace(line)
	if m := openMark.FindStringSubmatch(bare); m != nil && line == bare {
		r.section, r.group, r.day = m[1], "", time.Time{}
		return
	}
	if m := closeMark.FindStringSubmatch(bare); m != nil && line == bare {
		r.section = ""
		return
	}
	switch r.section {
	case "question", "answer", "instructions":
		return
	}
	if m := dayLine.FindStringSubmatch(line); m != nil {
		r.day, _ = time.Parse(time.DateOnly, m[1]) //nolint:errcheck // zero is what is not shown
		return
	}
	if m := bracketed.FindStringSubmatch(line); m != nil {
		r.put(m[1], m[2])
		return
	}
	if r.section == "" {
		if heading.MatchString(line) {
			r.group = strings.Trim(line, "#: ")
		}
		if m := numbered.FindStringSubmatch(line); m == nil || !strings.Contains(m[2], " ") {
			return
		}
	}
	indented := strings.HasPrefix(line, "  ")
	if m := numbered.FindStringSubmatch(line); m != nil && !indented {
		r.put(m[1], m[2])
		return
	}
	switch {
	case bare == "":
	case indented && len(r.out) > 0 && r.out[len(r.out)-1].section == r.section:
		last := &r.out[len(r.out)-1]
		last.text += "\n" + bare
	case heading.MatchString(line):
		r.group = strings.Trim(line, "#: ")
	case spoken.MatchString(line):
		r.put("", line)
	}
}

// put adds an item from what stands behind its label.
func (r *reader) put(label, rest string) {
	it := item{label: label, number: digits(label), section: r.section, group: r.group, before: before(r.section), day: r.day}
	if text, after, ok := quoted(rest); ok {
		it.text = text
		if m := inText.FindStringSubmatch(after); m != nil {
			it.day, _ = time.Parse(time.DateOnly, m[1]) //nolint:errcheck // zero is what is not shown
		}
		if _, by, found := strings.Cut(after, `by "`); found {
			it.speaker, _, _ = strings.Cut(by, `"`)
		}
		r.out = append(r.out, it)
		return
	}
	if m := spoken.FindStringSubmatch(rest); m != nil && r.section != "facts" {
		it.speaker, rest = m[1], m[2]
	}
	it.text = strings.TrimSpace(rest)
	r.out = append(r.out, it)
}

// before reports whether a section only explains.
func before(section string) bool {
	return section == "context" || section == "before" || section == "earlier"
}

func digits(label string) int {
	n, err := strconv.Atoi(strings.TrimLeft(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_ "))
	if err != nil {
		return 0
	}
	return n
}

// question returns the question a call is about: what stands between the marks,
// else the last line of the user that is one, else the user's text.
func question(req *Request) string {
	if _, after, ok := strings.Cut(req.User, "<question>\n"); ok {
		inside, _, _ := strings.Cut(after, "\n</question>")
		if text, _, ok := quoted(strings.TrimSpace(inside)); ok {
			return text
		}
		return strings.TrimSpace(inside)
	}
	all := strings.Split(req.User, "\n")
	for _, line := range slices.Backward(all) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, "?") {
			_, text, cut := strings.Cut(line, "uestion: ")
			if !cut {
				text = line
			}
			return text
		}
	}
	return strings.TrimSpace(req.User)
}

// quoted reads a JSON string at the beginning of a text.
func quoted(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", text, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&value) != nil {
		return "", text, false
	}
	return value, text[d.InputOffset():], true
}

// jsonItems reads items from JSON at the beginning of a text.
func jsonItems(text, section string) (out []item, rest string, ok bool) {
	if text[0] != '{' && text[0] != '[' {
		return nil, text, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d)
	if err != nil {
		return nil, text, false
	}
	rest = strings.TrimLeft(text[d.InputOffset():], ",\r")
	rest = strings.TrimPrefix(rest, "\n")
	walkItems(v, section, "", &out)
	return out, rest, len(out) > 0
}

func walkItems(v any, section, group string, out *[]item) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			walkItems(e, section, group, out)
		}
	case object:
		label := word(v, "n", "number", "id", "i", "index", "no", "subject")
		if text := word(v, "text", "content", "fact", "statement", "name"); text != "" {
			it := item{label: label, number: digits(label), section: section, group: group, before: before(section), text: text, fields: v,
				speaker: word(v, "speaker", "by", "who")}
			if m := inText.FindStringSubmatch(word(v, "time", "said", "date", "day", "when")); m != nil {
				it.day, _ = time.Parse(time.DateOnly, m[1]) //nolint:errcheck // zero is what is not shown
			}
			*out = append(*out, it)
		}
		for _, f := range v {
			switch list := f.value.(type) {
			case []any, object:
				for _, text := range texts(list) {
					*out = append(*out, item{label: label, number: digits(label), section: section, group: label, text: text})
				}
				walkItems(f.value, f.name, label, out)
			}
		}
	}
}

// texts returns the texts of a list.
func texts(list any) []string {
	var out []string
	all, _ := list.([]any) //nolint:errcheck // it is none
	for _, e := range all {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// word returns the first of the named fields that is a text or a number.
func word(o object, names ...string) string {
	for _, n := range names {
		switch v := o.get(n).(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
	}
	return ""
}
