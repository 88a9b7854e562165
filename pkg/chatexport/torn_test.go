package chatexport_test

import (
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestATornFileIsNotTakenForAWholeOne reads every beginning of exports that end with a bracket or a directory, and files of
// which one byte is another: a beginning is refused, and whatever else is wrong is an error of the file.
func TestATornFileIsNotTakenForAWholeOne(t *testing.T) {
	t.Parallel()
	const slack = `[{"type":"message","user":"U1","text":"The ferry leaves at noon.","ts":"1767614460.000100"}]`
	archive := zipped(t, "users.json", `[{"id":"U1","profile":{"real_name":"Solveig"}}]`, "allgemein/2026-01-05.json", slack)
	for name, c := range map[string]struct {
		data []byte
		from chatexport.Format
	}{
		"claude": {[]byte(claude), chatexport.Claude}, "chatgpt": {[]byte(chatGPT), chatexport.ChatGPT}, "discord": {[]byte(discord), chatexport.Discord},
		"telegram": {[]byte(telegram), chatexport.Telegram}, "slack": {archive, chatexport.Slack},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := read(t, c.data, chatexport.Options{Format: c.from}); err != nil {
				t.Fatalf("the whole file: %v", err)
			}
			for end := range c.data {
				for _, from := range []chatexport.Format{c.from, ""} {
					if got, _, err := read(t, c.data[:end], chatexport.Options{Format: from}); !errors.Is(err, memory.ErrInvalid) {
						t.Fatalf("the first %d of %d bytes as %q: %q, %v", end, len(c.data), from, got, err)
					}
				}
			}
			for at := range c.data {
				for _, bits := range []byte{0x15, 0x80, 0x01} {
					other := append([]byte(nil), c.data...)
					other[at] ^= bits
					if _, _, err := read(t, other, chatexport.Options{Format: c.from}); err != nil && !errors.Is(err, memory.ErrInvalid) {
						t.Errorf("byte %d changed by %#x: %v", at, bits, err)
					}
				}
			}
		})
	}
}
