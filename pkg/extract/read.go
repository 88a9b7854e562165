package extract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// redacted returns copies of messages in which secrets are replaced.
func redacted(in []memory.Message, redact Redactor) []memory.Message {
	out := slices.Clone(in)
	for i, m := range out {
		out[i].Content = redact.Redact(m.Content)
		out[i].Images = slices.Clone(m.Images)
		for j := range out[i].Images {
			out[i].Images[j].Caption = redact.Redact(m.Images[j].Caption)
		}
	}
	return out
}

// Of a message before the window that is longer than maxContext, the last maxContext bytes are shown, read for secrets
// with beforeContext bytes before them, which a secret that began there does not exceed.
const (
	maxContext    = 8 << 10
	beforeContext = 16 << 10
)

// tails returns messages with their ends alone where they are long.
func tails(in []memory.Message, redact Redactor) []memory.Message {
	out := slices.Clone(in)
	for i := range out {
		if over := len(out[i].Content) - maxContext; over > 0 {
			read := redact.Redact(after(out[i].Content, max(over-beforeContext, 0)))
			out[i].Content = "… " + after(read, max(len(read)-maxContext, 0))
		}
	}
	return redacted(out, redact)
}

// after returns what stands behind the first white space from an offset on, and from the offset where there is none.
func after(s string, from int) string {
	if from == 0 {
		return s
	}
	if i := strings.IndexByte(s[from:], ' '); i >= 0 {
		return s[from+i+1:]
	}
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}
