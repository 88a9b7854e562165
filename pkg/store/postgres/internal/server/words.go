package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// A text index is the table "<table>_fts" with a row (or several, of a text with very many words) for each row of the
// table: the words of the view "<table>_text" as the lexemes of a tsvector with a GIN index. A lexeme begins with what it
// is: w = a word of the columns, g = of the grams, b = the bank, c = the bank and a run of row numbers. By the last, a word
// that many rows have is looked for among the latest ones alone.

const (
	// run is how many row numbers in succession share a lexeme.
	run = 4096
	// longest is the size of a lexeme in bytes, from which the rest of a word is hashed: PostgreSQL has none beyond 2,046.
	longest = 240
	// most is how many bytes of lexemes a row has at most: PostgreSQL has none beyond a MiB.
	most = 900_000
	// steps is how many runs are looked at before all of the bank: 1, 2, 4, 8 and 16 of the latest.
	steps = 5
	// fewRows is how many rows may have a word for all of them to be read at once, and fewBegin how many one that begins alike.
	// In an index of 100,000 rows 1,500 take 1 ms and 5,000 take 3.6, run after run 2.0 and 2.7; with words that begin alike,
	// which every query looks up anew, 1.5 and 5.0 instead of 3.4 and 4.8.
	fewRows, fewBegin = 2500, 5000
	// unknownIn is how many rows a bank may have for a word to be taken for rare that nobody has looked for yet. The first
	// search for a common one takes 10 ms then among 100,000 rows.
	unknownIn = 200_000
	// singles is how many runs are looked at one by one at most. Several in one query take half as long again as each in its
	// own, but a query takes 25 µs.
	singles = 12
)

func bankLexeme(bank int64) string { return "b" + strconv.FormatInt(bank, 10) }

func runLexeme(bank, run int64) string { return fmt.Sprintf("c%d.%d", bank, run) }

// lexeme returns a word as it stands in an index.
func lexeme(kind, word string) string {
	if len(word) <= longest {
		return kind + word
	}
	sum := sha256.Sum256([]byte(word))
	cut := longest
	for cut > 0 && !utf8.RuneStart(word[cut]) {
		cut--
	}
	return kind + word[:cut] + hex.EncodeToString(sum[:8])
}

// lexemes returns those of a row in parts, each with the lexemes of its bank and run. texts are the columns with the grams
// last.
func (s *Server) lexemes(no, bank int64, texts []string) ([][]string, error) {
	seen := map[string]bool{}
	parts, size := [][]string{{bankLexeme(bank), runLexeme(bank, no/run)}}, 0
	for i, text := range texts {
		kind := "w"
		if i == len(texts)-1 {
			kind = "g"
		}
		words, err := s.words.Cut(text)
		if err != nil {
			return nil, err
		}
		for _, w := range words {
			l := lexeme(kind, w)
			if seen[l] {
				continue
			}
			seen[l] = true
			if size += len(l); size > most {
				parts, size = append(parts, []string{bankLexeme(bank), runLexeme(bank, no/run)}), len(l)
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], l)
		}
	}
	return parts, nil
}

// Reindex implements engine.Engine.
func (s *Server) Reindex(t *engine.Tx, i engine.TextIndex, no, bank int64, was, now []string) error {
	if was != nil {
		if err := t.Exec("unindex", `DELETE FROM `+i.Name()+` WHERE bank = ? AND rowid = ?`, bank, no); err != nil {
			return err
		}
	}
	if now == nil {
		return nil
	}
	parts, err := s.lexemes(no, bank, now)
	if err != nil {
		return err
	}
	for n, part := range parts {
		put := `INSERT INTO ` + i.Name() + ` (bank, rowid, part, words) VALUES (?, ?, ?, array_to_tsvector(string_to_array(?, chr(1))))`
		if err := t.Exec("index", put, bank, no, n, strings.Join(part, "\x01")); err != nil {
			return err
		}
	}
	return nil
}

// EraseIndex implements engine.Engine.
func (*Server) EraseIndex(t *engine.Tx, i engine.TextIndex, bank int64, upto *uint64) error {
	erase, args := `DELETE FROM `+i.Name()+` WHERE bank = ?`, []any{bank}
	if upto != nil {
		erase, args = erase+` AND rowid <= ?`, append(args, int64(*upto))
	}
	return t.Exec("unindex the bank's "+i.Table, erase, args...)
}

// Indexed implements engine.Engine.
func (*Server) Indexed(i engine.TextIndex) string { return "SELECT DISTINCT rowid FROM " + i.Name() }

// matcher is what of a query a row must have one of.
type matcher struct {
	any     []string   // lexemes
	begins  string     // or one that begins like this; "" for none
	phrases [][]string // words in succession
}

// matcher cuts the forms of a query into words.
func (s *Server) matcher(q engine.WordQuery) (m matcher, err error) {
	kind := "w"
	if q.Grams {
		kind = "g"
	}
	for _, form := range q.Forms {
		words, err := s.words.Cut(engine.Text(form))
		switch {
		case err != nil:
			return m, err
		case len(words) == 1:
			m.any = append(m.any, lexeme(kind, words[0]))
		case len(words) > 1:
			m.phrases = append(m.phrases, words)
		}
	}
	words, err := s.words.Cut(engine.Text(q.Prefix))
	if len(words) > 0 { // a beginning of several words is not asked for: the last is taken
		last := words[len(words)-1]
		m.begins = kind + last[:min(len(last), longest)]
	}
	return m, err
}

// quoted writes a lexeme of a tsquery.
func quoted(lexeme string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(lexeme) + "'"
}

// Words implements engine.Engine.
func (s *Server) Words(t *engine.Tx, i engine.TextIndex, q engine.WordQuery) ([]int64, error) {
	m, err := s.matcher(q)
	if err != nil {
		return nil, err
	}
	var out []int64
	if len(m.any) > 0 || m.begins != "" {
		if out, err = s.latest(t, i, q, m); err != nil {
			return nil, err
		}
	}
	for _, p := range m.phrases {
		found, err := s.phrase(t, i, q, p)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b int64) int { return cmp.Compare(b, a) })
	out = slices.Compact(out)
	return out[:min(len(out), q.Limit)], nil
}

// latest returns the latest rows, up to the limit, that have one of the lexemes.
func (s *Server) latest(t *engine.Tx, i engine.TextIndex, q engine.WordQuery, m matcher) ([]int64, error) {
	var lexemes []string
	for _, l := range m.any {
		lexemes = append(lexemes, quoted(l))
	}
	few := fewRows
	if m.begins != "" {
		lexemes, few = append(lexemes, quoted(m.begins)+":*"), fewBegin
	}
	either := "(" + strings.Join(lexemes, " | ") + ")"
	if q.Above > 0 {
		q.First, q.Where, q.Args = max(q.First, q.Above+1), q.Where+" AND x.rowid > ?", append(slices.Clone(q.Args), q.Above)
		return latestRuns(t, i, q, either, singles)
	}
	n, known := s.common.get(i, q, either)
	var out []int64
	var err error
	if known && n <= few || !known && q.Last-q.First < unknownIn {
		out, err = allRows(t, i, q, either)
	} else {
		alone := 0
		if known && m.begins == "" { // by and large the runs that have as many rows as are asked for
			alone = int(min(singles, 1+1.2*float64(q.Limit)*float64(q.Last-q.First+1)/float64(max(1, n)*run)))
		}
		out, err = latestRuns(t, i, q, either, alone)
	}
	if err == nil {
		s.common.put(i, q, either, out)
	}
	return out, err
}

// allRows returns the latest of the rows that have one of few lexemes.
func allRows(t *engine.Tx, i engine.TextIndex, q engine.WordQuery, lexemes string) ([]int64, error) {
	if !q.Alone {
		lexemes = quoted(bankLexeme(q.Bank)) + " & " + lexemes
	}
	// OFFSET 0 keeps the server from planning for each query.
	find := `SELECT m.rowid FROM (SELECT ? AS query OFFSET 0) q JOIN LATERAL (
  SELECT DISTINCT x.rowid FROM ` + i.Name() + ` x` + q.From + ` WHERE x.words @@ q.query::tsquery` + q.Where + ` ORDER BY x.rowid DESC
) m ON TRUE LIMIT ?`
	return t.Numbers("search "+i.Name()+" by rare keyword", find, append(append([]any{lexemes}, q.Args...), q.Limit)...)
}

// latestRuns looks for the latest of many rows among the latest runs first, some of them alone.
func latestRuns(t *engine.Tx, i engine.TextIndex, q engine.WordQuery, lexemes string, alone int) ([]int64, error) {
	var queries []string
	var below []int64
	at := q.Last / run
	for step := 0; step < alone+steps && at >= q.First/run; step++ {
		var runs []string
		for n := 0; n < 1<<max(0, step-alone) && at >= q.First/run; n++ {
			runs = append(runs, quoted(runLexeme(q.Bank, at)))
			at--
		}
		queries, below = append(queries, fmt.Sprintf("(%s) & %s", strings.Join(runs, " | "), lexemes)), append(below, 1<<62)
	}
	if at >= q.First/run {
		queries, below = append(queries, fmt.Sprintf("%s & %s", quoted(bankLexeme(q.Bank)), lexemes)), append(below, (at+1)*run)
	}
	find := `SELECT m.rowid FROM unnest(?, ?) WITH ORDINALITY AS q(query, below, step) JOIN LATERAL (
  SELECT DISTINCT x.rowid FROM ` + i.Name() + ` x` + q.From + ` WHERE x.words @@ q.query::tsquery AND x.rowid < q.below` + q.Where + ` ORDER BY x.rowid DESC
) m ON TRUE LIMIT ?`
	args := append(append([]any{engine.List(queries), engine.List(below)}, q.Args...), q.Limit)
	return t.Numbers("search "+i.Name()+" by keyword", find, args...)
}
