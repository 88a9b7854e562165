package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// List gives up to limit records that pass f, ordered by when they were said,
// and the place after the last.
func (r *reader) List(rec memory.Record, f memory.Filter, oldestFirst bool, from query.Place, limit int) ([]memory.Item, query.Place, error) {
	n, err := r.narrow(f)
	if err != nil {
		return nil, query.Place{}, err
	}
	number, said, where, args := listing(rec, n)
	if number == "" {
		return []memory.Item{}, query.Place{}, nil
	}
	direction, past := "DESC", "<"
	if oldestFirst {
		direction, past = "ASC", ">"
	}
	p, err := r.listed(rec, n)
	if err != nil {
		return nil, query.Place{}, err
	}
	rows := tables[rec].rows
	args = append([]any{r.bank}, args...)
	if p.few {
		rows, where, args = tables[rec].among(), "1", []any{jsonList(p.nos), r.bank}
	}
	sqlText := fmt.Sprintf(`SELECT %s, %s FROM %s WHERE %s AND %s`, number, said, rows, tables[rec].inBank(), where)
	if !from.IsZero() {
		sqlText += fmt.Sprintf(" AND (%[1]s, %[2]s) %[3]s (?, ?)", said, number, past)
		args = append(args, from.At, from.No)
	}
	sqlText += fmt.Sprintf(" ORDER BY %[1]s %[3]s, %[2]s %[3]s LIMIT ?", said, number, direction)
	var nos []int64
	var last query.Place
	err = r.scanAll("list "+string(rec)+"s", sqlText, append(args, limit+1), func(rows *sql.Rows) error {
		var p query.Place
		if err := rows.Scan(&p.No, &p.At); err != nil {
			return err
		}
		if len(nos) < limit {
			last = p
		}
		nos = append(nos, p.No)
		return nil
	})
	if err != nil {
		return nil, query.Place{}, err
	}
	if len(nos) <= limit {
		last = query.Place{}
	} else {
		nos = nos[:limit]
	}
	items, err := r.Items(rec, nos)
	return items, last, err
}

// listing gives the number and time columns of a record and its conditions. A
// composite passes a filter when all facts beneath it do.
func listing(rec memory.Record, n narrowing) (number, said, where string, args []any) {
	switch rec {
	case memory.RecordFact:
		return "f.no", "f.said", n.facts, n.factArgs
	case memory.RecordMessage:
		return "m.seq", "m.time", n.messages, n.messageArgs
	case memory.RecordComposite:
		if n.plain {
			return "c.no", "c.said", "1", nil
		}
		return "c.no", "c.said", `NOT EXISTS (WITH RECURSIVE t(no) AS (SELECT c.no UNION ALL SELECT k.no FROM t CROSS JOIN composites k ON k.parent = t.no)
SELECT 1 FROM t CROSS JOIN facts f ON f.parent = t.no WHERE NOT (` + n.facts + `))`, n.factArgs
	case memory.RecordObservation:
		return "o.no", "o.said", n.observed, n.observedArgs
	}
	return "", "", "", nil
}

// Item gives one record by id as an item; nil if there is none.
func (r *reader) Item(id string) (*memory.Item, error) {
	for _, look := range []struct {
		rec memory.Record
		sql string
	}{
		{memory.RecordFact, `SELECT no FROM facts WHERE id = ?2 AND bank = ?1`},
		{memory.RecordComposite, `SELECT no FROM composites WHERE id = ?2 AND bank = ?1`},
		{memory.RecordObservation, `SELECT no FROM observations WHERE id = ?2 AND bank = ?1`},
		{memory.RecordMessage, `SELECT seq FROM messages WHERE bank = ?1 AND id = ?2`},
	} {
		var no int64
		err := r.tx.QueryRowContext(r.ctx, look.sql, r.bank, id).Scan(&no)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look up record %q: %w", id, err)
		}
		items, err := r.Items(look.rec, []int64{no})
		if err != nil || len(items) == 0 {
			return nil, err
		}
		return &items[0], nil
	}
	return nil, nil
}
