package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// CheckIndex implements engine.Engine.
func (s *Server) CheckIndex(t *engine.Tx, i engine.TextIndex) error {
	columns := append(slices.Clone(i.Columns), "grams")
	type row struct {
		no, bank int64
		texts    []string
	}
	last := int64(-1)
	for {
		var rows []row
		read := fmt.Sprintf(`SELECT v.%[1]s, t.bank, %[2]s FROM %[3]s_text v JOIN %[3]s t ON t.%[1]s = v.%[1]s WHERE v.%[1]s > ? ORDER BY v.%[1]s LIMIT 500`,
			i.Number, "v."+strings.Join(columns, ", v."), i.Table)
		err := t.Batch("read texts", len(columns)+2, read, []any{last}, func(r *engine.Rowset) error {
			next := row{no: r.Int(), bank: r.Int()}
			for range columns {
				next.texts = append(next.texts, r.Text())
			}
			rows = append(rows, next)
			return nil
		})
		if err != nil || len(rows) == 0 {
			return errors.Join(err, s.strayEntries(t, i))
		}
		for _, r := range rows {
			parts, err := s.lexemes(r.no, r.bank, r.texts)
			if err != nil {
				return err
			}
			want := slices.Sorted(slices.Values(slices.Concat(parts...)))
			got, err := engine.Column[string](t, "read an entry", `SELECT unnest(tsvector_to_array(words)) FROM `+i.Name()+` WHERE bank = ? AND rowid = ?`, r.bank, r.no)
			if err != nil {
				return err
			}
			slices.Sort(got)
			if !slices.Equal(slices.Compact(want), slices.Compact(got)) {
				return fmt.Errorf("the entry of row %d has other words than the row", r.no)
			}
			last = r.no
		}
	}
}

// strayEntries refuses entries without a row.
func (*Server) strayEntries(t *engine.Tx, i engine.TextIndex) error {
	var n int
	count := fmt.Sprintf(`SELECT count(*) FROM %[1]s x WHERE NOT EXISTS (SELECT 1 FROM %[2]s t WHERE t.%[3]s = x.rowid AND t.bank = x.bank)`, i.Name(), i.Table, i.Number)
	if err := t.Get("look for stray entries", count, nil, &n); err != nil || n == 0 {
		return err
	}
	return fmt.Errorf("%d entries have no row", n)
}
