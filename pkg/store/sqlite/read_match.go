package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// table says where a record lives and how its rows are searched.
type table struct {
	rows, fts, number, columns string
}

// among is the table as rows whose numbers are given as JSON.
func (t table) among() string {
	return "json_each(?) j CROSS JOIN " + t.rows + " ON " + t.number + " = j.value"
}

// inBank is the condition that takes the bank.
func (t table) inBank() string {
	alias, _, _ := strings.Cut(t.number, ".")
	return alias + ".bank = ?"
}

var tables = map[memory.Record]table{
	memory.RecordMessage:     {"messages m", "messages_fts", "m.seq", "content caption"},
	memory.RecordFact:        {"facts f", "facts_fts", "f.no", "text"},
	memory.RecordComposite:   {"composites c", "composites_fts", "c.no", "text"},
	memory.RecordObservation: {"observations o", "observations_fts", "o.no", "text"},
}

// Matching gives the numbers of rows whose text has the term, latest first, and
// how many there are in all: counted below limit, estimated from there on.
func (r *reader) Matching(rec memory.Record, t query.Term, limit int) ([]int64, int, error) {
	tab, ok := tables[rec]
	alone, err := r.alone(rec)
	if err != nil {
		return nil, 0, err
	}
	match := r.match(tab, t, alone)
	if !ok || match == "" || limit <= 0 {
		return nil, 0, nil
	}
	passed, err := r.passing(rec)
	if err != nil || passed.few && len(passed.nos) == 0 {
		return nil, 0, err
	}
	from, where, args := "", "", []any{match}
	switch {
	case rec == memory.RecordMessage && r.filter.plain:
		where, args = noneReplaced("x.rowid"), append(args, r.bank)
	case rec == memory.RecordMessage:
		from, where, args = " CROSS JOIN messages m ON m.seq = x.rowid", " AND "+r.filter.messages, append(args, r.filter.messageArgs...)
	case rec == memory.RecordFact && r.filter.plain:
		where, args = noneEnded("x.rowid"), append(args, r.bank)
	case rec == memory.RecordFact:
		from, where, args = " CROSS JOIN facts f ON f.no = x.rowid", " AND "+r.filter.facts, append(args, r.filter.factArgs...)
	}
	if n := len(passed.nos); n > 0 { // what passes often stands together
		where, args = where+" AND x.rowid BETWEEN ? AND ?", append(args, passed.nos[0], passed.nos[n-1])
	}
	nos, err := r.numbers("search "+tab.fts+" by keyword", "SELECT x.rowid FROM "+tab.fts+" x"+from+
		" WHERE "+tab.fts+" MATCH ?"+where+" ORDER BY x.rowid DESC LIMIT ?", append(args, limit)...)
	if err != nil || len(nos) < limit {
		return nos, len(nos), err
	}
	all, err := r.estimate(rec, nos)
	return nos, all, err
}

// What is left out by default is looked up among the few rows of a partial
// index, not in the table of all rows. Both conditions take the bank.

func noneReplaced(message string) string {
	return ` AND NOT EXISTS (SELECT 1 FROM messages d INDEXED BY messages_replaced WHERE d.bank = ? AND d.seq = ` + message + ` AND d.replaced IS NOT NULL)`
}

func noneEnded(fact string) string {
	return ` AND NOT EXISTS (SELECT 1 FROM facts d INDEXED BY facts_ended WHERE d.bank = ? AND d.no = ` + fact + ` AND d.live = 0)`
}

// estimate says about how many rows there are of which the latest are given: as
// many in every stretch of rows as in the stretch that these fill.
func (r *reader) estimate(rec memory.Record, latest []int64) (int, error) {
	var n int
	var first, last int64
	err := r.tx.QueryRowContext(r.ctx, `SELECT n, first, last FROM row_counts WHERE bank = ? AND record = ?`, r.bank, string(rec)).Scan(&n, &first, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return len(latest), nil
	}
	if err != nil {
		return 0, fmt.Errorf("read how many %ss there are: %w", rec, err)
	}
	stretch := float64(last-latest[len(latest)-1]+1) / float64(last-first+1)
	return max(len(latest), min(n, int(float64(len(latest))/stretch))), nil
}

func parseNumbers(s string) ([]int64, error) {
	if s == "" {
		return nil, nil
	}
	out := make([]int64, 0, strings.Count(s, " ")+1)
	for part := range strings.SplitSeq(s, " ") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read row number: %w", err)
		}
		out = append(out, n)
	}
	return out, nil
}

// alone reports whether no other bank has rows of the record. Then the bank's
// token is in every row of the index, and leaving it out makes the search five
// times as fast. What is found is read by its bank in any case.
func (r *reader) alone(rec memory.Record) (bool, error) {
	if known, ok := r.only[rec]; ok {
		return known, nil
	}
	var others bool
	err := r.tx.QueryRowContext(r.ctx, `SELECT EXISTS (SELECT 1 FROM row_counts WHERE record = ? AND bank <> ? AND n > 0)`, string(rec), r.bank).Scan(&others)
	if err != nil {
		return false, fmt.Errorf("look for other banks' %ss: %w", rec, err)
	}
	if r.only == nil {
		r.only = map[memory.Record]bool{}
	}
	r.only[rec] = !others
	return !others, nil
}

// match writes the full text expression for a term: the bank's token and any
// of the forms, each quoted, so that nothing in them is syntax. "" when no
// form holds anything to look for.
func (r *reader) match(tab table, t query.Term, alone bool) string {
	var forms []string
	for _, f := range t.Forms {
		if f = phrase(f); f != "" {
			forms = append(forms, f)
		}
	}
	if p := phrase(t.Prefix); p != "" {
		forms = append(forms, p+" *")
	}
	if len(forms) == 0 {
		return ""
	}
	columns := tab.columns
	if t.Grams {
		columns = "grams"
	}
	words := fmt.Sprintf(`{%s} : (%s)`, columns, strings.Join(forms, " OR "))
	if alone {
		return words
	}
	return fmt.Sprintf(`bank : "b%d" AND %s`, r.bank, words)
}

// phrase quotes a text for the full text expression; "" when nothing is in it.
func phrase(s string) string {
	if s = strings.TrimSpace(strings.ReplaceAll(s, "\x00", " ")); s == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// Size gives how many rows of the record the bank has.
func (r *reader) Size(rec memory.Record) (int, error) {
	const count = `SELECT coalesce((SELECT n FROM row_counts WHERE bank = ? AND record = ?), 0)`
	var n int
	if err := r.tx.QueryRowContext(r.ctx, count, r.bank, string(rec)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count %ss: %w", rec, err)
	}
	return n, nil
}

// States gives facts that give a subject a state, the one said last first.
func (r *reader) States(subject memory.EntityID, limit int) ([]query.StateRow, error) {
	var out []query.StateRow
	args := append([]any{r.bank, string(subject)}, r.filter.factArgs...)
	err := r.scanAll("find facts by subject", `SELECT f.no, f.attribute FROM facts f WHERE f.bank = ? AND f.subject = ? AND f.value NOT LIKE 'not %' AND `+
		r.filter.facts+` ORDER BY f.said DESC, f.no LIMIT ?`, append(args, limit), func(rows *sql.Rows) error {
		var s query.StateRow
		err := rows.Scan(&s.Fact, &s.Attribute)
		out = append(out, s)
		return err
	})
	return out, err
}

// Within gives up to limit facts or messages said or happened in [from, to], newest first.
func (r *reader) Within(rec memory.Record, from, to time.Time, limit int) ([]int64, error) {
	lo, hi := bounds(&from, &to)
	switch rec {
	case memory.RecordMessage:
		args := append([]any{r.bank, lo, hi}, r.filter.messageArgs...)
		return r.numbers("find messages by time", `SELECT m.seq FROM messages m WHERE m.bank = ? AND m.time BETWEEN ? AND ? AND `+
			r.filter.messages+` ORDER BY m.time DESC, m.seq DESC LIMIT ?`, append(args, limit)...)
	case memory.RecordFact:
		// The newest of both are among the newest of each: of what was said an
		// index gives those, however long the time is.
		newest := r.filter.facts + " ORDER BY f.said DESC, f.no LIMIT ?"
		args := append(append([]any{r.bank, lo, hi}, r.filter.factArgs...), limit, r.bank, hi, lo)
		args = append(append(args, r.filter.factArgs...), limit, limit)
		return r.numbers("find facts by time", `SELECT no FROM (
  SELECT * FROM (SELECT f.no, f.said FROM facts f WHERE f.bank = ? AND f.said BETWEEN ? AND ? AND `+newest+`)
  UNION SELECT * FROM (SELECT f.no, f.said FROM facts f INDEXED BY facts_occurred WHERE f.bank = ? AND f.occurred_from IS NOT NULL AND f.occurred_from <= ?
    AND coalesce(f.occurred_to, f.occurred_from) >= ? AND `+newest+`)
) ORDER BY said DESC, no LIMIT ?`, args...)
	}
	return nil, nil
}

// Recent gives up to limit facts or messages, the latest said first.
func (r *reader) Recent(rec memory.Record, limit int) ([]int64, error) {
	where, args, order := r.filter.messages, r.filter.messageArgs, "m.time DESC, m.seq DESC"
	switch rec {
	case memory.RecordMessage:
	case memory.RecordFact:
		where, args, order = r.filter.facts, r.filter.factArgs, "f.said DESC, f.no"
	default:
		return nil, nil
	}
	p, err := r.passing(rec)
	if err != nil {
		return nil, err
	}
	tab := tables[rec]
	from := tab.rows
	args = append([]any{r.bank}, args...)
	if p.few {
		from, where, args = tab.among(), "1", []any{jsonList(p.nos), r.bank}
	}
	return r.numbers("list recent "+string(rec)+"s", fmt.Sprintf("SELECT %s FROM %s WHERE %s AND %s ORDER BY %s LIMIT ?",
		tab.number, from, tab.inBank(), where, order), append(args, limit)...)
}
