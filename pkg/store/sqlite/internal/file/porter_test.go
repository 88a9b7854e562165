package file_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/file"
	"github.com/eunoe-memory/eunoe/pkg/text/class"
)

// index is a text index in memory, tokenized as those of a store.
type index struct{ db *sql.DB }

func newIndex(tb testing.TB) index {
	tb.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	tb.Cleanup(func() { _ = db.Close() })
	for _, s := range []string{
		`CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')`,
		`CREATE VIRTUAL TABLE words USING fts5vocab(texts, 'instance')`,
	} {
		if _, err := db.ExecContext(tb.Context(), s); err != nil {
			tb.Fatal(err)
		}
	}
	return index{db}
}

// words returns the words of texts as the index has them, in their order.
func (i index) words(tb testing.TB, texts ...string) [][]string {
	tb.Helper()
	out := make([][]string, len(texts))
	tx, err := i.db.BeginTx(tb.Context(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	insert, err := tx.PrepareContext(tb.Context(), `INSERT INTO texts (rowid, text) VALUES (?, ?)`)
	if err != nil {
		tb.Fatal(err)
	}
	for n, text := range texts {
		if _, err := insert.ExecContext(tb.Context(), n, text); err != nil {
			tb.Fatal(err)
		}
	}
	rows, err := tx.QueryContext(tb.Context(), `SELECT doc, term FROM words ORDER BY doc, offset`)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err reports it
	for rows.Next() {
		var n int
		var term string
		if err := rows.Scan(&n, &term); err != nil {
			tb.Fatal(err)
		}
		out[n] = append(out[n], term)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// latinWords returns the words that a vocabulary has of a text.
func latinWords(text string) []string {
	var out []string
	new(file.File).EachStem(text, func(word []byte) { out = append(out, string(word)) })
	return out
}

// isLatin reports a word that a vocabulary has to hold if the index has it.
func isLatin(word string) bool {
	return slices.Equal(latinWords(word+" "), latinWords(word)) && !strings.ContainsFunc(word, func(r rune) bool { return r > 0x24f && (r < 0x1e00 || r > 0x1eff) })
}

// TestWordsAreStemmedAsTheIndexStemsThem compares words of every ending with the index's own.
func TestWordsAreStemmedAsTheIndexStemsThem(t *testing.T) {
	t.Parallel()
	endings := strings.Fields(`a s es ies sses ss ed eed ied ing ying y ally ational tional enci anci izer logi bli alli entli eli
		ousli ization ation ator alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ness ful al
		ance ence er ic able ible ant ement ment ent ion tion sion ou ism ate iti ous ive ize e ee le lle ll l ts zes 's -up`)
	var texts []string
	for _, begin := range strings.Fields(`a b y ab by try cat hop hopp fall hiss fizz fail fil rel condit val hesit digit conform radic differ vile
		analog vietnam predic oper feud decis hope call form sensit trip electr good reviv allow infer airlin gyro adjust defens irrit
		replac depend adopt homolog commun activ angular effect bowdler rat ceas control roll plast motor conflat troubl siz sky
		queu gaye yoyo xyz eye a1 3d 20 ü né größ señor ø naïv`) {
		texts = append(texts, begin)
		for _, e := range endings {
			texts = append(texts, begin+e)
			for _, f := range endings[:20] {
				texts = append(texts, begin+e+f)
			}
		}
	}
	things := class.Things(strings.Fields("which pets sports cities countries instruments books jobs foods"), "")
	if len(things) < 1000 {
		t.Fatalf("there are %d things", len(things))
	}
	texts = append(texts, things...)
	texts = append(texts, strings.Repeat("x", 62)+"s", strings.Repeat("x", 63)+"s", strings.Repeat("x", 64)+"s", strings.Repeat("é", 32)+"s")
	for n, want := range newIndex(t).words(t, texts...) {
		if got := latinWords(texts[n]); !slices.Equal(got, want) {
			t.Errorf("%q: words %q, the index has %q", texts[n], got, want)
		}
	}
}

// TestAWordNextToAnyCharacterIsFound puts every character into a word. What the index finds as a word of Latin letters is
// one of the words of the text.
func TestAWordNextToAnyCharacterIsFound(t *testing.T) {
	t.Parallel()
	var texts []string
	for r := rune(1); r <= 0x1ffff; r++ {
		if utf8.ValidRune(r) {
			texts = append(texts, fmt.Sprintf("cats%cdogs", r))
		}
	}
	checkWords(t, newIndex(t), texts...)
}

func FuzzLatinWords(f *testing.F) {
	i := newIndex(f)
	for _, s := range []string{"Which pets?", "naïve Café's", "cat猫dog", "a\u0301\u0335b\u0331c", "K\u212a \u017ft", "ǅǲ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Skip("no text of a store")
		}
		checkWords(t, i, s)
	})
}

func checkWords(t *testing.T, i index, texts ...string) {
	t.Helper()
	for n, words := range i.words(t, texts...) {
		have := latinWords(texts[n])
		for _, w := range words {
			if isLatin(w) && !slices.Contains(have, w) {
				t.Errorf("%+q: the index has %q, the words are %q", texts[n], w, have)
			}
		}
	}
}
