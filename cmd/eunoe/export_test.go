package main_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestExport(t *testing.T) {
	t.Parallel()
	l, environ := startLocal(t, t.TempDir())
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: l.Conn})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a message with fields named like those of other lines comes back as it was", func(t *testing.T) {
		t.Parallel()
		body := `{"id":"carta","speaker":"Renske","content":"Ik werk sinds kort bij de haven.","format":"markdown","lines":"drie","profile":"werk",` +
			`"request":7,"body":[1],"op":{"a":1},"item":false,"flush":"straks"}`
		if _, err := c.PublishBody(t.Context(), "renske", "brieven", []byte(body)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Flush(t.Context(), "renske", "brieven"); err != nil {
			t.Fatal(err)
		}
		ok(t, environ, "status", "--bank", "renske", "--wait")
		path := filepath.Join(t.TempDir(), "renske.jsonl")
		ok(t, environ, "export", "--bank", "renske", "--out", path)
		ok(t, environ, "import", "--bank", "renske-2", path)
		if it, err := c.Get(t.Context(), "renske-2", "carta"); err != nil || it.Text != "Ik werk sinds kort bij de haven." {
			t.Errorf("got %+v, %v", it, err)
		}
		again := ok(t, environ, "export", "--bank", "renske-2")
		for _, field := range []string{`"format":"markdown"`, `"lines":"drie"`, `"profile":"werk"`, `"request":7`, `"body":[1]`, `"op":{"a":1}`,
			`"item":false`, `"flush":"straks"`} {
			if !strings.Contains(again, field) {
				t.Errorf("the copy lacks %s:\n%s", field, again)
			}
		}
	})
	t.Run("a message with fields named like those of its line keeps them", func(t *testing.T) {
		t.Parallel()
		for id, fields := range map[string]string{
			"toutes": `"record":"vinyle","bank":{"nom":"Crédit du Nord"},"session":17,"seq":[3,1],"time":"2026-03-04T08:00:00Z"`,
			"une":    `"seq":"B-12","body":{"poids":"80 kg"}`,
			"nulle":  `"record":null`,
			"corps":  `"body":"mince","nested":true`,
		} {
			body := fmt.Sprintf(`{"id":%q,"speaker":"Odile","content":"Je répare des gramophones.",%s}`, id, fields)
			if _, err := c.PublishBody(t.Context(), "odile", "atelier", []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Flush(t.Context(), "odile", "atelier"); err != nil {
			t.Fatal(err)
		}
		ok(t, environ, "status", "--bank", "odile", "--wait")
		messages := func(bank string) map[string]map[string]any {
			out := map[string]map[string]any{}
			for line := range strings.Lines(ok(t, environ, "export", "--bank", bank)) {
				l := apptest.Decode[map[string]any](t, line)
				own := l
				if l["record"] == "nested" {
					own = l["body"].(map[string]any)
				} else {
					for _, name := range []string{"record", "bank", "session", "seq"} {
						delete(own, name)
					}
				}
				if own["content"] != nil {
					out[own["id"].(string)] = own
				}
			}
			return out
		}
		first := messages("odile")
		if len(first) != 4 || first["toutes"]["record"] != "vinyle" || first["toutes"]["session"] != 17.0 || first["une"]["seq"] != "B-12" {
			t.Errorf("the export has %v", first)
		}
		if _, has := first["nulle"]["record"]; !has {
			t.Errorf("a field that is null: %v", first["nulle"])
		}
		path := filepath.Join(t.TempDir(), "odile.jsonl")
		ok(t, environ, "export", "--bank", "odile", "--out", path)
		ok(t, environ, "import", "--bank", "odile-2", path)
		if diff := cmp.Diff(first, messages("odile-2")); diff != "" {
			t.Errorf("-exported +imported and exported again:\n%s", diff)
		}
	})
	t.Run("every setting of the profile comes back", func(t *testing.T) {
		t.Parallel()
		word, keep := "Schreibt über Pilze.", true
		_, err := c.SetBank(t.Context(), "pilze", wire.BankUpdate{Name: &word, Description: &word, Background: &word, Mission: &word, Instructions: &word,
			Disposition: &memory.Disposition{Skepticism: 5, Literalism: 1, Empathy: 2}, KeepRecalls: &keep,
			Quotas: &memory.Quotas{MessagesPerSecond: 40, TokensPerDay: 9000}})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "pilze.jsonl")
		ok(t, environ, "export", "--bank", "pilze", "--out", path)
		ok(t, environ, "import", "--bank", "pilze-2", path)
		a := apptest.Decode[memory.Bank](t, ok(t, environ, "bank", "--bank", "pilze", "--json"))
		b := apptest.Decode[memory.Bank](t, ok(t, environ, "bank", "--bank", "pilze-2", "--json"))
		if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(memory.Bank{}, "ID", "Created", "Version")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an export that fails leaves the earlier file, and nothing else", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(dir, "vorige.jsonl")
		apptest.Write(t, path, "de vorige\n")
		if r := run(t, t.Context(), environ, "", "export", "--bank", "nergens", "--out", path); r.code == 0 {
			t.Errorf("a bank that does not exist: %+v", r)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "de vorige\n" {
			t.Errorf("the earlier file is now %q, %v", text, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
	t.Run("an export of a bank that is written to ends with what was there", func(t *testing.T) {
		t.Parallel()
		const there, most = 1500, 4000
		say := func(ctx context.Context, from, to int) {
			for i := from; i < to; i++ {
				if _, err := c.PublishBody(ctx, "ciarliera", "corso", fmt.Appendf(nil, `{"id":"voce %d","content":"Eccone un'altra, la %d."}`, i, i)); err != nil {
					t.Error(err)
				}
			}
		}
		say(t.Context(), 0, there)
		natstest.Eventually(t, "the bank exists", func() bool {
			_, err := c.Bank(t.Context(), "ciarliera")
			return err == nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), natstest.Patience)
		defer cancel()
		said := there
		e := transfer.NewExporter(c, "ciarliera", writer(func(p []byte) (int, error) {
			more := strings.Count(string(p), "\n") * 2 // twice as fast as they are read
			say(t.Context(), said, said+min(more, most-said))
			said += min(more, most-said)
			return len(p), nil
		}))
		if err := e.Run(ctx); err != nil || e.Records[transfer.RecordMessage] != there {
			t.Errorf("it has %d messages, %v", e.Records[transfer.RecordMessage], err)
		}
	})
}

// writer is a function that takes what is written.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestAFileOfAnExportIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "copia.jsonl"), filepath.Join(dir, "l-copia.jsonl")
	apptest.Write(t, path, "antes\n")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"prima\n", "seconda\n"} {
		if err := transfer.WriteFile(link, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			if now, err := os.ReadFile(path); string(now) == text {
				t.Errorf("it has its name before it is complete: %q, %v", now, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("got %q, %v", now, err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("got %v, %v", info, err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if err := transfer.WriteFile(path, func(io.Writer) error { return io.ErrShortWrite }); err == nil {
		t.Error("a write that fails is no error")
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != "seconda\n" {
		t.Errorf("after a write that failed: %q, %v", now, err)
	}
}
