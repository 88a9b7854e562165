package providertest

import (
	"encoding/json"
	"strings"
	"time"
)

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

// texts gives the texts of a list.
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

// word gives the first of the named fields that is a text or a number.
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
