package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// phrase returns the latest rows, up to the limit, that have words in succession in one column: it reads the rows that
// have the longest of the words.
func (s *Server) phrase(t *engine.Tx, i engine.TextIndex, q engine.WordQuery, words []string) ([]int64, error) {
	kind, columns := "w", i.Columns
	if q.Grams {
		kind, columns = "g", []string{"grams"}
	}
	longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	all := q
	all.Limit = 1 << 40
	candidates, err := s.latest(t, i, all, matcher{any: []string{lexeme(kind, longest)}})
	if err != nil {
		return nil, err
	}
	var out []int64
	for page := range slices.Chunk(candidates, 500) {
		has := map[int64]bool{}
		read := fmt.Sprintf(`SELECT v.%[1]s, %[2]s FROM json_each(?) j JOIN %[3]s_text v ON v.%[1]s = j.value`, i.Number, strings.Join(columns, ", "), i.Table)
		err := t.Batch("read texts", len(columns)+1, read, []any{engine.List(page)}, func(row *engine.Rowset) error {
			no := row.Int()
			for range columns {
				in, err := s.words.Cut(row.Text())
				if err != nil {
					return err
				}
				has[no] = has[no] || succeed(in, words)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, no := range page {
			if has[no] {
				out = append(out, no)
			}
		}
		if len(out) >= q.Limit {
			break
		}
	}
	return out, nil
}

// succeed reports whether words stand in succession in a text.
func succeed(text, words []string) bool {
	for i := 0; i+len(words) <= len(text); i++ {
		if slices.Equal(text[i:i+len(words)], words) {
			return true
		}
	}
	return false
}
