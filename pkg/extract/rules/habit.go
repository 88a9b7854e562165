package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// maxHabit bounds what is read of one message for a habit, in bytes.
const maxHabit = 1000

// habits returns the language that each speaker of a window writes, by what they say in it, and under "" that of all. A
// language that nothing shows is left out.
func habits(in extract.Input) map[string]text.Language {
	said := map[string]*strings.Builder{"": {}}
	for _, list := range [][]memory.Message{in.Context, in.New} {
		for _, m := range list {
			who := nameOf(m)
			if said[who] == nil {
				said[who] = &strings.Builder{}
			}
			part := memory.Truncate(m.Content, maxHabit)
			for _, b := range []*strings.Builder{said[who], said[""]} {
				b.WriteString(part)
				b.WriteByte('\n')
			}
		}
	}
	out := make(map[string]text.Language, len(said))
	for who, b := range said {
		if l := text.LanguageOf(b.String()); l != "" {
			out[who] = l
		}
	}
	return out
}

// habit returns the language that a speaker writes, else the one that is written in the session.
func (c cast) habit(who string) text.Language {
	if l := c.habits[who]; l != "" {
		return l
	}
	return c.habits[""]
}
