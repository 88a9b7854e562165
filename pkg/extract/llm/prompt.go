package llm

import (
	_ "embed" // the prompts
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var (
	//go:embed prompts/extract-1.txt
	system string
	//go:embed prompts/extract-1.json
	schema string
	//go:embed prompts/instructions-1.txt
	instructions string
	//go:embed prompts/repair-1.txt
	repairing string
)

// The most that is told beside the messages.
const (
	maxInstructions = 2000 // bytes of the bank's instructions
	maxKnown        = 30   // names of known entities
	maxKnownTokens  = 60   // and their size
	maxFaulty       = 4000 // bytes of a faulty answer that are shown back
)

// prompt puts lines and what explains them into one prompt. The same window
// gives the same prompt.
func (r *run) prompt(batch, before []line) memory.Prompt {
	p := memory.Prompt{System: strings.TrimRight(system, "\n"), Schema: []byte(strings.TrimSpace(schema)), SchemaName: "extract"}
	if own := strings.TrimSpace(r.in.Profile.Instructions); own != "" {
		p.System += "\n" + strings.TrimRight(fmt.Sprintf(instructions, fenced(clip(own, maxInstructions))), "\n")
	}
	var b strings.Builder
	if known := names(r.in.Entities, batch); known != "" {
		b.WriteString("Known: " + known + "\n")
	}
	if len(before) > 0 {
		b.WriteString("<context>\n")
		write(&b, before, false)
		b.WriteString("</context>\n")
	}
	b.WriteString("<messages>\n")
	write(&b, batch, true)
	b.WriteString("</messages>")
	p.User = b.String()
	return p
}

// write shows lines: the day where it changes, then number, speaker and words.
func write(b *strings.Builder, show []line, numbered bool) {
	day := ""
	for i, l := range show {
		if d := l.message.Time.UTC().Format("Mon 2006-01-02"); d != day && !l.message.Time.IsZero() {
			day = d
			b.WriteString("= " + d + "\n")
		}
		if numbered {
			b.WriteString(strconv.Itoa(i+1) + " ")
		}
		b.WriteString(speaker(l.message) + ": " + fenced(l.text) + "\n")
	}
}

// speaker is who said a message, and as what unless as a user.
func speaker(m memory.Message) string {
	name := strings.ReplaceAll(fenced(strings.Join(strings.Fields(m.Speaker), " ")), ":", "")
	if m.Role == memory.RoleUser || m.Role == "" || name == string(m.Role) {
		return name
	}
	return name + " (" + string(m.Role) + ")"
}

// fence finds what could be taken for one of the marks around data.
var fence = regexp.MustCompile(`(?i)<(\s*/?\s*(?:messages|context|instructions|answer))`)

// fenced makes a text one that cannot leave its place: no mark around data can
// stand in it, lines after the first are indented, and control characters are
// white space. So no text can close its fence or pass for another message.
func fenced(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	text = fence.ReplaceAllString(text, "‹$1")
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// names gives known entities whose names are worth knowing here: those that
// share a word with the lines first, then those most facts name.
func names(known []memory.Entity, batch []line) string {
	said := map[string]bool{}
	for _, l := range batch {
		for _, t := range analysis.Terms(l.message.Speaker + " " + l.text) {
			said[t.Text] = true
		}
	}
	near := func(e memory.Entity) bool {
		for _, t := range analysis.Terms(e.Name + " " + strings.Join(e.Aliases, " ")) {
			if !t.Stop && said[t.Text] {
				return true
			}
		}
		return false
	}
	order := slices.DeleteFunc(slices.Clone(known), func(e memory.Entity) bool { return e.Name == "" || e.Redirect != "" })
	slices.SortStableFunc(order, func(a, b memory.Entity) int {
		if na, nb := near(a), near(b); na != nb {
			if na {
				return -1
			}
			return 1
		}
		return b.Facts - a.Facts
	})
	var out []string
	tokens := 0
	for _, e := range order {
		name := string(e.Type) + ":" + strings.Join(strings.Fields(fenced(e.Name)), " ")
		if tokens += analysis.CountTokens(name) + 1; tokens > maxKnownTokens || len(out) == maxKnown {
			break
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// repair asks once more, with the faulty answer and what is wrong with it.
func repair(p memory.Prompt, answer string, wrong error) memory.Prompt {
	p.User += fmt.Sprintf("\n"+repairing, wrong, fenced(clip(answer, maxFaulty)))
	p.User = strings.TrimRight(p.User, "\n")
	return p
}

// FixedTokens is the size of what every call is told beside its messages:
// prompt and schema.
func FixedTokens() int { return analysis.CountTokens(system) + analysis.CountTokens(schema) }
