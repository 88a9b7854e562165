package llm

import (
	_ "embed" // the prompts
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

var (
	//go:embed prompts/extract-1.txt
	system string
	//go:embed prompts/extract-1.json
	schema string
	//go:embed prompts/instructions-1.txt
	instructions string
	//go:embed prompts/repair-1.txt
	repairRequest string
)

// The bounds of what is shown in addition to the messages.
const (
	maxInstructions = 2000 // bytes of the bank's instructions
	maxKnown        = 30   // known entities
	maxKnownTokens  = 60   // of their names
	maxFaulty       = 4000 // bytes of a faulty answer that is shown back
)

// prompt returns the prompt for utterances and their context. The same window has the same prompt.
func (e *extraction) prompt(batch, before []utterance) memory.Prompt {
	p := memory.Prompt{System: strings.TrimRight(system, "\n"), Schema: []byte(strings.TrimSpace(schema)), SchemaName: "extract"}
	if own := strings.TrimSpace(e.in.Profile.Instructions); own != "" {
		p.System += "\n" + strings.TrimRight(fmt.Sprintf(instructions, asData(memory.Truncate(own, maxInstructions))), "\n")
	}
	var b strings.Builder
	if known := knownEntities(e.in.Entities, batch); known != "" {
		b.WriteString("Known: " + known + "\n")
	}
	if len(before) > 0 {
		b.WriteString("<context>\n")
		writeUtterances(&b, before, false)
		b.WriteString("</context>\n")
	}
	b.WriteString("<messages>\n")
	writeUtterances(&b, batch, true)
	b.WriteString("</messages>")
	p.User = b.String()
	return p
}

// writeUtterances writes the day where it changes, then number, speaker and text of each.
func writeUtterances(b *strings.Builder, show []utterance, numbered bool) {
	day := ""
	for i, u := range show {
		if d := u.message.Clock().Format("Mon 2006-01-02"); d != day && !u.message.Time.IsZero() {
			day = d
			b.WriteString("= " + d + "\n")
		}
		if numbered {
			b.WriteString(strconv.Itoa(i+1) + " ")
		}
		b.WriteString(speaker(u.message) + ": " + asData(u.text) + "\n")
	}
}

// speaker returns who said a message, with the role unless it is that of a user.
func speaker(m memory.Message) string {
	name := strings.ReplaceAll(asData(strings.Join(strings.Fields(m.Speaker), " ")), ":", "")
	if m.Role == memory.RoleUser || m.Role == "" || name == string(m.Role) {
		return name
	}
	return name + " (" + string(m.Role) + ")"
}

// mark finds what could be taken for one of the marks around data.
var mark = regexp.MustCompile(`(?i)<(\s*/?\s*(?:messages|context|instructions|answer))`)

// asData keeps a text from being taken for anything but data: it holds no mark, lines after the first are indented, and
// control characters are white space. So no text can end the data around it or pass for another message.
func asData(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	text = mark.ReplaceAllString(text, "‹$1")
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// knownEntities lists entities for the prompt: those that share a word with the utterances first, then those that most
// facts name.
func knownEntities(known []memory.Entity, batch []utterance) string {
	said := map[string]bool{}
	for _, u := range batch {
		for _, t := range text.Terms(u.message.Speaker + " " + u.text) {
			said[t.Text] = true
		}
	}
	near := func(e memory.Entity) bool {
		for _, t := range text.Terms(e.Name + " " + strings.Join(e.Aliases, " ")) {
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
		name := string(e.Type) + ":" + strings.Join(strings.Fields(asData(e.Name)), " ")
		if tokens += text.CountTokens(name) + 1; tokens > maxKnownTokens || len(out) == maxKnown {
			break
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// repairPrompt asks once more, with the faulty answer and what is wrong with it.
func repairPrompt(p memory.Prompt, answer string, wrong error) memory.Prompt {
	p.User += fmt.Sprintf("\n"+repairRequest, wrong, asData(memory.Truncate(answer, maxFaulty)))
	p.User = strings.TrimRight(p.User, "\n")
	return p
}

// FixedTokens returns the number of tokens that every call sends in addition to its messages: prompt and schema.
func FixedTokens() int { return text.CountTokens(system) + text.CountTokens(schema) }
