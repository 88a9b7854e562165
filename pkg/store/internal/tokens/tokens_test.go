package tokens_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the index that is compared with

	"github.com/eunoe-memory/eunoe/pkg/store/internal/tokens"
)

// indexed returns the words by which FTS5 indexes a text, as the SQLite store configures it, in their order.
func indexed(t *testing.T, db *sql.DB, text string) []string {
	t.Helper()
	for _, s := range []string{`DELETE FROM words`, `INSERT INTO words (text) VALUES (?1)`} {
		if _, err := db.ExecContext(t.Context(), s, text); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.QueryContext(t.Context(), `SELECT term FROM vocabulary ORDER BY "offset"`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // it was only read
	var out []string
	for rows.Next() {
		var term string
		if err := rows.Scan(&term); err != nil {
			t.Fatal(err)
		}
		out = append(out, term)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func FuzzWordsAreThoseOfTheIndex(f *testing.F) {
	for _, s := range []string{"", "Running dogs ran", "Él vivía en São Paulo, ß µ ÅÄÖ", "ひらがな 漢字 한국어", "a\x00b", "U.S. don't 3.5 e-mail", "😀 ok", "\xff\xfe x",
		strings.Repeat("long", 10000)} {
		f.Add(s)
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		f.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	f.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.Error(err)
		}
	})
	for _, s := range []string{`CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')`,
		`CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'instance')`} {
		if _, err := db.ExecContext(f.Context(), s); err != nil {
			f.Fatal(err)
		}
	}
	cutter, err := tokens.New()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(cutter.Close)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") { // the store keeps none
			text = strings.ReplaceAll(text, "\x00", " ")
		}
		got, err := cutter.Cut(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range got { // an index keeps so much of a word
			got[i] = w[:min(len(w), 32768)]
		}
		if want := indexed(t, db, text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, the index has %q", text, got, want)
		}
	})
}
