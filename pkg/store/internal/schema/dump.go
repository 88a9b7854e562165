package schema

import (
	"bufio"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Dump writes one JSON array per row: the name of the table, then its values. Two stores with the same content write
// the same bytes, whatever the batches and row numbers they were made with. Not content are the positions in the
// streams, what is still to be published or erased, and the pinned embedder.
func (s Schema) Dump(tx *engine.Tx, w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for t := range s.dumped() {
		err := tx.Each("dump "+t.Name, t.Dump, nil, func(rows *sql.Rows) error { return dumpRow(enc, t.Name, rows) })
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// dumped returns the tables that Dump writes, in its order.
func (s Schema) dumped() func(yield func(Table) bool) {
	return func(yield func(Table) bool) {
		for _, k := range s.Kinds {
			for _, t := range k.Tables {
				if t.Dump != "" && !yield(t) {
					return
				}
			}
		}
	}
}

func dumpRow(enc *json.Encoder, table string, rows *sql.Rows) error {
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	dest := make([]any, len(columns))
	for i := range values {
		dest[i] = &values[i]
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	line := append(make([]any, 0, len(values)+1), table)
	for _, v := range values {
		if raw, ok := v.([]byte); ok {
			v = hex.EncodeToString(raw)
		}
		line = append(line, v)
	}
	return enc.Encode(line)
}

// Counts returns the number of rows of every table that Dump writes, by table.
func (s Schema) Counts(tx *engine.Tx) (map[string]int, error) {
	out := map[string]int{}
	for t := range s.dumped() {
		var n int
		if err := tx.Get("count "+t.Name, "SELECT count(*) FROM "+t.Name, nil, &n); err != nil {
			return nil, err
		}
		out[t.Name] = n
	}
	return out, nil
}
