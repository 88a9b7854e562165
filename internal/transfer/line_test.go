package transfer_test

import (
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestParseLine(t *testing.T) {
	t.Parallel()
	t.Run("an invalid line is reported with its field", func(t *testing.T) {
		t.Parallel()
		for line, field := range map[string]string{
			`{"content":"x"}`: "session",
			`{"session":"s"}`: "content",
			`{"session":"s","content":"x","role":"boss"}`:         "role",
			`{"session":"s","content":"x","bank":"admin"}`:        "bank",
			`{"session":"s","content":"x","id":"seq:4"}`:          "id",
			`{"record":"song"}`:                                   "record",
			`{"record":"write","request":"forget","body":{}}`:     "request",
			`{"record":"write","request":"retain","op":"o"}`:      "body",
			`{"record":"write","request":"retain","body":{}}`:     "op",
			`{"record":"bank","bank":"b"}`:                        "profile",
			`{"record":"export","format":99}`:                     "format",
			`{"flush":true}`:                                      "session",
			`{"session":"s","content":"x","time":"not a moment"}`: "time",
			`{"record":"nested","session":"s"}`:                   "body",
			`{"record":"nested","session":"s","body":[1]}`:        "body",
			`{"record":"nested","session":"s","body":{"seq":1}}`:  "content",
			`{"record":"nested","body":{"content":"x"}}`:          "session",
		} {
			_, err := transfer.ParseLine([]byte(line))
			var fe *memory.FieldError
			if !errors.As(err, &fe) || fe.Field != field {
				t.Errorf("%s: got %v; want an error of %q", line, err, field)
			}
		}
	})
}

func FuzzParseLine(f *testing.F) {
	for _, s := range []string{`{"session":"s","content":"x"}`, `{"session":"s","flush":true}`, `{"record":"write","request":"edit","body":{"id":"f"}}`,
		`{"record":"message","session":"s","seq":3,"images":[{"caption":"c"}],"extra":{"a":1}}`, `{"record":"nested","session":"s","body":{"content":"x","session":[]}}`, `{`, ``, `{"session":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := transfer.ParseLine(data)
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: the error has no meaning: %v", data, err)
		}
	})
}
