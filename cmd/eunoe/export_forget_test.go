package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestAnExportHoldsNothingThatIsForgotten forgets within an export and right before one.
func TestAnExportHoldsNothingThatIsForgotten(t *testing.T) {
	t.Parallel()
	l, environ := startLocal(t, t.TempDir())
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: l.Conn})
	if err != nil {
		t.Fatal(err)
	}
	const others = 300
	fill := func(t *testing.T, bank memory.BankID) {
		t.Helper()
		publish := func(session memory.SessionID, body string) {
			if _, err := c.PublishBody(t.Context(), bank, session, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 20 {
			publish("hemligt", fmt.Sprintf(`{"id":"h%d","speaker":"Signe","content":"Jag har gömt nyckel %d under krukan Vattenlilja."}`, i, i))
		}
		for i := range others {
			publish("vardag", fmt.Sprintf(`{"id":"v%d","speaker":"Signe","content":"Jag sår rad %d med rädisor."}`, i, i))
		}
		if _, err := c.Flush(t.Context(), bank, "hemligt"); err != nil {
			t.Fatal(err)
		}
		ok(t, environ, "status", "--bank", string(bank), "--wait")
		if _, err := c.Retain(t.Context(), bank, wire.RetainRequest{Facts: []memory.FactInput{{Text: "Signe vattnar Vattenlilja.", Sources: []memory.MessageID{"h3"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	// within runs an export in which, with the first bytes that are written, the session is forgotten.
	within := func(t *testing.T, bank memory.BankID, out io.Writer) (*transfer.Exporter, error) {
		t.Helper()
		begun := false
		e := transfer.NewExporter(c, bank, writer(func(p []byte) (int, error) {
			if !begun {
				begun = true
				if _, err := c.Forget(t.Context(), bank, wire.ForgetRequest{Session: "hemligt"}); err != nil {
					t.Error(err)
				}
			}
			return out.Write(p)
		}))
		return e, e.Run(t.Context())
	}
	whole := func(t *testing.T, text string) {
		t.Helper()
		if strings.Contains(text, "Vattenlilja") {
			t.Error("it holds what is forgotten")
		}
		if n := strings.Count(text, "rädisor"); n < others || !strings.Contains(text, `"record":"end"`) {
			t.Errorf("it has %d lines of what stays, or no end", n)
		}
	}
	t.Run("a file is written again", func(t *testing.T) {
		t.Parallel()
		fill(t, "signe")
		path := filepath.Join(t.TempDir(), "signe.jsonl")
		tried := 0
		err := transfer.WriteFile(path, func(w io.Writer) error {
			tried++
			if tried == 1 {
				_, err := within(t, "signe", w)
				return err
			}
			return transfer.NewExporter(c, "signe", w).Run(t.Context())
		})
		text, readErr := os.ReadFile(path)
		if err != nil || readErr != nil || tried < 2 {
			t.Fatalf("tried %d times: %v, %v", tried, err, readErr)
		}
		whole(t, string(text))
	})
	t.Run("what is no file has no end, and the error says why", func(t *testing.T) {
		t.Parallel()
		fill(t, "gunnel")
		var out bytes.Buffer
		e, err := within(t, "gunnel", &out)
		if !errors.Is(err, transfer.ErrForgotten) || !errors.Is(err, memory.ErrConflict) {
			t.Errorf("got %v", err)
		}
		if strings.Contains(out.String(), `"record":"end"`) || e.Records["end"] > 0 {
			t.Error("it has an end")
		}
	})
	t.Run("a file in which something is forgotten each time is not left", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(dir, "alltid.jsonl")
		err := transfer.WriteFile(path, func(w io.Writer) error {
			if _, err := io.WriteString(w, "Vattenlilja"); err != nil {
				return err
			}
			return transfer.ErrForgotten
		})
		if left, readErr := os.ReadDir(dir); !errors.Is(err, transfer.ErrForgotten) || readErr != nil || len(left) > 0 {
			t.Errorf("got %v; left are %v, %v", err, left, readErr)
		}
	})
	t.Run("what was forgotten right before is not in it", func(t *testing.T) {
		t.Parallel()
		fill(t, "maja")
		if _, err := c.Forget(t.Context(), "maja", wire.ForgetRequest{Session: "hemligt"}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "maja.jsonl")
		ok(t, environ, "export", "--bank", "maja", "--out", path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole(t, string(text))
	})
}

// TestAForgetThatForgetsNothingHoldsNoExportUp exports a bank of whose forgets one was refused when it was applied, and one
// can never be.
func TestAForgetThatForgetsNothingHoldsNoExportUp(t *testing.T) {
	t.Parallel()
	l, environ := startLocal(t, t.TempDir())
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: l.Conn})
	if err != nil {
		t.Fatal(err)
	}
	seq, err := c.PublishBody(t.Context(), "birgit", "kök", []byte(`{"id":"a","speaker":"Birgit","content":"Jag odlar chili i köket."}`))
	if err != nil {
		t.Fatal(err)
	}
	ok(t, environ, "recall", "--bank", "birgit", "--after", fmt.Sprint(seq), "chili")
	for op, w := range map[string]memory.Write{
		"okänt":   {Upto: seq, Forget: &memory.ForgetRequest{ID: "finns inte"}},
		"för sen": {Upto: seq + 1000, Forget: &memory.ForgetRequest{Session: "kök"}},
	} {
		w.Bank, w.Kind, w.Op = "birgit", memory.WriteForget, op
		if _, err := l.Conn.AppendWrite(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if text := ok(t, environ, "export", "--bank", "birgit"); !strings.Contains(text, "chili") || !strings.Contains(text, `"record":"end"`) {
		t.Errorf("got %s", text)
	}
}
