package file

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// A text index is the FTS5 table "<table>_fts" over the view "<table>_text".

// bankToken is the word that stands for a bank in a text index.
func bankToken(bank int64) string { return "b" + strconv.FormatInt(bank, 10) }

// statements are those by which rows of an index come and go.
type statements struct{ unindex, index string }

// statementsOf returns the statements of an index, which are written once.
func (f *File) statementsOf(i engine.TextIndex) statements {
	if s, ok := f.indexes.Load(i.Table); ok {
		return s.(statements)
	}
	columns := "rowid, bank, " + strings.Join(i.Columns, ", ") + ", grams"
	values := "?, ?" + strings.Repeat(", ?", len(i.Columns)+1)
	s := statements{
		unindex: fmt.Sprintf("INSERT INTO %[1]s (%[1]s, %[2]s) VALUES ('delete', %[3]s)", i.Name(), columns, values),
		index:   fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", i.Name(), columns, values),
	}
	f.indexes.Store(i.Table, s)
	return s
}

// Reindex implements engine.Engine.
func (f *File) Reindex(t *engine.Tx, i engine.TextIndex, no, bank int64, was, now []string) error {
	args := func(texts []string) []any {
		out := append(make([]any, 0, len(texts)+2), no, bankToken(bank))
		for _, text := range texts {
			out = append(out, text)
		}
		return out
	}
	s := f.statementsOf(i)
	if was != nil {
		if err := t.Exec("unindex", s.unindex, args(was)...); err != nil {
			return err
		}
	}
	if now == nil {
		return nil
	}
	return t.Exec("index", s.index, args(now)...)
}

// EraseIndex implements engine.Engine.
func (*File) EraseIndex(t *engine.Tx, i engine.TextIndex, bank int64, upto *uint64) error {
	upper, args := "", []any{bank}
	if upto != nil {
		upper, args = " AND "+i.Number+" <= ?", append(args, int64(*upto))
	}
	unindex := fmt.Sprintf(`INSERT INTO %[1]s_fts (%[1]s_fts, rowid, bank, %[2]s, grams) SELECT 'delete', %[3]s, bank, %[2]s, grams FROM %[1]s_text
WHERE %[3]s IN (SELECT %[3]s FROM %[1]s WHERE bank = ?%[4]s)`, i.Table, strings.Join(i.Columns, ", "), i.Number, upper)
	return t.Exec("unindex the bank's "+i.Table, unindex, args...)
}

// Words implements engine.Engine.
func (*File) Words(t *engine.Tx, i engine.TextIndex, q engine.WordQuery) ([]int64, error) {
	match := match(i, q)
	if match == "" {
		return nil, nil
	}
	above, args := "", []any{match}
	if q.Above > 0 {
		above, args = " AND x.rowid > ?", append(args, q.Above)
	}
	find := "SELECT x.rowid FROM " + i.Name() + " x" + q.From + " WHERE " + i.Name() + " MATCH ?" + above + q.Where + " ORDER BY x.rowid DESC LIMIT ?"
	args = append(append(args, q.Args...), q.Limit)
	return t.Numbers("search "+i.Name()+" by keyword", find, args...)
}

// match writes the FTS5 expression: the bank's token, which is left out where every row has it because that makes the
// search five times as fast, and any of the forms. Forms are quoted, so that nothing in them is syntax. It is "" when
// the forms are empty.
func match(i engine.TextIndex, q engine.WordQuery) string {
	var forms []string
	for _, f := range q.Forms {
		if f = phrase(f); f != "" {
			forms = append(forms, f)
		}
	}
	if p := phrase(q.Prefix); p != "" {
		forms = append(forms, p+" *")
	}
	if len(forms) == 0 {
		return ""
	}
	columns := strings.Join(i.Columns, " ")
	if q.Grams {
		columns = "grams"
	}
	words := fmt.Sprintf(`{%s} : (%s)`, columns, strings.Join(forms, " OR "))
	if q.Alone {
		return words
	}
	return fmt.Sprintf(`bank : "%s" AND %s`, bankToken(q.Bank), words)
}

// phrase quotes a text for an FTS5 expression; "" when there is nothing in it.
func phrase(s string) string {
	if s = strings.TrimSpace(strings.ReplaceAll(s, "\x00", " ")); s == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// Indexed implements engine.Engine.
func (*File) Indexed(i engine.TextIndex) string { return "SELECT id FROM " + i.Name() + "_docsize" }

// CheckIndex implements engine.Engine. FTS5 takes the command as an INSERT.
func (*File) CheckIndex(t *engine.Tx, i engine.TextIndex) error {
	return t.Exec("check the text index of "+i.Table, fmt.Sprintf("INSERT INTO %[1]s (%[1]s, rank) VALUES ('integrity-check', 1)", i.Name()))
}

// Distances implements engine.Engine.
func (*File) Distances(t *engine.Tx, v memory.Vector, number, from string, args []any, limit int, each func(no int64, distance float64)) error {
	find := "SELECT " + number + ", vec_distance_l2(unpacked(x.vector), ?) AS d " + from + " ORDER BY d, " + number + " LIMIT ?"
	all := append(append([]any{v.Bytes()}, args...), limit)
	return t.Batch("compare vectors", 2, find, all, func(row *engine.Rowset) error {
		no, d := row.Int(), row.Float()
		each(no, d)
		return nil
	})
}

// TermTable implements engine.Engine: a row for each term of a node.
func (*File) TermTable() engine.TermTable {
	return engine.TermTable{
		Put:    `INSERT INTO node_terms (bank, level, term, node) SELECT ?1, ?2, value, ?3 FROM json_each(?4) WHERE true ON CONFLICT DO NOTHING`,
		Remove: `DELETE FROM node_terms WHERE bank = ?1 AND level = ?2 AND node = ?3 AND term IN (SELECT value FROM json_each(?4))`,
		Find: `SELECT j.value, (SELECT group_concat(node, ' ') FROM
  (SELECT node FROM node_terms WHERE bank = ?2 AND level = ?3 AND term = j.value LIMIT ?4)) FROM json_each(?1) j`,
		Count: `SELECT count(*) FROM json_each(?4) j CROSS JOIN node_terms t ON t.bank = ?1 AND t.level = ?2 AND t.term = j.value AND t.node = ?3`,
	}
}
