package answer

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Quote writes a text as one line that cannot end the fence around it: a JSON
// string in which < and > are escaped.
func Quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true)
	if e.Encode(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")) != nil {
		return `""`
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), `\u0026`, "&")
}

// Fence puts lines, each of them quoted, between the fences of data.
func Fence(lines string) string { return "<memory>\n" + strings.TrimRight(lines, "\n") + "\n</memory>" }
