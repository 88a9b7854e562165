package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func TestImportChecksTheFileFirst(t *testing.T) {
	t.Parallel()
	t.Run("a file with an invalid line is rejected as a whole, with the line's number", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "chats.jsonl")
		apptest.Write(t, path, `{"session":"s","content":"one"}`+"\n\n"+`{"session":"s"}`+"\n")
		r := run(t, t.Context(), nil, "", "import", path)
		if r.code != 2 || !strings.Contains(r.err, "line 3") || !strings.Contains(r.err, "content") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
	})
	t.Run("an unknown field is warned of once, and a byte order mark is none of the text", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "chats.jsonl")
		apptest.Write(t, path, "\ufeff"+`{"session":"s","content":"one"}`+"\n"+`{"session":"s","content":"two","speakr":"Ana"}`+"\n"+`{"session":"s","content":"three","speakr":"Ana"}`+"\n")
		for code, flag := range map[int]string{0: "--dry-run", 5: "--no-flush"} { // a dry run does not connect
			r := run(t, t.Context(), nil, "", "import", flag, path, "--url", "nats://127.0.0.1:1")
			if r.code != code || strings.Count(r.err, "speakr") != 1 ||
				!strings.Contains(r.err, `line 2: unknown field "speakr"`) || strings.Contains(r.err, "session") {
				t.Errorf("%s: exit code %d, %q", flag, r.code, r.err)
			}
		}
	})
	t.Run("a message that the broker does not take is found before anything is sent", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		path := filepath.Join(t.TempDir(), "chats.jsonl")
		apptest.Write(t, path, `{"session":"s","content":"one"}`+"\n"+`{"session":"s","content":"`+strings.Repeat("x", int(conn.NC.MaxPayload()))+`"}`+"\n")
		r := run(t, t.Context(), nil, "", "import", path, "--url", conn.NC.ConnectedUrl())
		if r.code != 8 || !strings.Contains(r.err, "line 2") || !strings.Contains(r.err, "nothing was sent") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
	})
	t.Run("a file without a line is rejected", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "niets.jsonl")
		for _, text := range []string{"", "\n\n \n"} {
			apptest.Write(t, path, text)
			if r := run(t, t.Context(), nil, "", "import", path); r.code != 2 || !strings.Contains(r.err, "is empty") {
				t.Errorf("%q: exit code %d, %q", text, r.code, r.err)
			}
			if r := run(t, t.Context(), nil, text, "import", "-"); r.code != 2 || !strings.Contains(r.err, "standard input is empty") {
				t.Errorf("%q by a pipe: exit code %d, %q", text, r.code, r.err)
			}
		}
	})
	t.Run("a truncated export is rejected", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "bank.jsonl")
		apptest.Write(t, path, `{"record":"export","format":1,"bank":"b"}`+"\n"+`{"record":"message","session":"s","content":"one"}`+"\n")
		if r := run(t, t.Context(), nil, "", "import", path); r.code != 2 || !strings.Contains(r.err, "cut short") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
		apptest.Write(t, path, `{"record":"export","format":1,"bank":"b"}`+"\n"+`{"record":"end","lines":7}`+"\n")
		if r := run(t, t.Context(), nil, "", "import", path); r.code == 0 || !strings.Contains(r.err, "7 lines") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
	})
}

func TestImportOfOtherPrograms(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "My chats.json")
	apptest.Write(t, path, `[{"uuid":"u","chat_messages":[{"uuid":"a","sender":"human","text":"I keep bees.","created_at":"2026-04-01T08:00:00Z"},
		{"uuid":"b","sender":"assistant","content":[]}]}]`)
	t.Run("a dry run says what is in the file and what would be left out", func(t *testing.T) {
		t.Parallel()
		r := run(t, t.Context(), nil, "", "import", "--dry-run", path)
		if want := "holds 1 message in 1 conversation and 0 facts (claude); nothing was sent\nleft out: 1 without text\n"; r.code != 0 || !strings.HasSuffix(r.out, want) {
			t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
		}
	})
	t.Run("an archive that holds no export, or is cut off, is named as one", func(t *testing.T) {
		t.Parallel()
		for want, content := range map[string]string{
			"is a zip archive that cannot be read": "PK\x03\x04 and no more",
			"is no export that is known here": "PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00!\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00x" +
				"PK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00\x00\x00!\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00x" +
				"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00/\x00\x00\x00\x1f\x00\x00\x00\x00\x00",
		} {
			path := filepath.Join(t.TempDir(), "export.zip")
			apptest.Write(t, path, content)
			if r := run(t, t.Context(), nil, "", "import", path); r.code != 2 || !strings.Contains(r.err, want) {
				t.Errorf("exit code %d, %q; expected %q", r.code, r.err, want)
			}
		}
	})
	t.Run("a wrong format and a wrong flag are named", func(t *testing.T) {
		t.Parallel()
		for want, args := range map[string][]string{
			"where an object was expected": {"--from", "telegram"}, "no format": {"--from", "icq"}, "--zone": {"--zone", "Mars/Base"}, "--dates": {"--dates", "ydm"},
		} {
			if r := run(t, t.Context(), nil, "", append([]string{"import", path}, args...)...); r.code != 2 || !strings.Contains(r.err, want) {
				t.Errorf("%v: exit code %d, %q", args, r.code, r.err)
			}
		}
	})
	t.Run("what was imported is remembered, once", func(t *testing.T) {
		t.Parallel()
		l := apptest.Start(t, apptest.Settings(t, nil))
		env := []string{"EUNOE_URL=" + l.URL}
		for _, want := range []string{"imported 1 message, 1 flush", "imported 1 message (1 of them duplicates, with an id that was there before), 1 flush"} {
			if r := run(t, t.Context(), env, "", "import", path, "--speaker", "Ines"); r.code != 0 || !strings.Contains(r.out, want) || !strings.Contains(r.out, "left out: 1 without text") {
				t.Fatalf("exit code %d, %q, %q", r.code, r.out, r.err)
			}
		}
		r := run(t, t.Context(), env, "", "list")
		if r.code != 0 || strings.Count(r.out, "Ines keeps bees.") != 1 {
			t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
		}
	})
}
