package server

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// AnyOf implements engine.WordReader.
func (s *Server) AnyOf(q engine.WordQuery) (words []string, begins string, ok bool, err error) {
	m, err := s.matcher(q)
	return m.any, m.begins, err == nil && len(m.phrases) == 0, err
}

// WordsOf implements engine.WordReader.
func (*Server) WordsOf(t *engine.Tx, i engine.TextIndex, bank, behind int64, limit int, each func(no int64, word string)) (last int64, all bool, err error) {
	find := fmt.Sprintf(`SELECT x.rowid, tsvectorsend(x.words) FROM %[1]s x WHERE x.bank = ?1 AND x.rowid > ?2 AND x.rowid <= (
  SELECT max(n.rowid) FROM (SELECT DISTINCT rowid FROM %[1]s WHERE bank = ?1 AND rowid > ?2 ORDER BY rowid LIMIT ?3) n) ORDER BY x.rowid`, i.Name())
	rows := 0
	last = behind
	err = t.Batch("read the words of "+i.Name(), 2, find, []any{bank, behind, limit}, func(row *engine.Rowset) error {
		if no := row.Int(); no != last { // or another part of it
			rows, last = rows+1, no
		}
		return eachLexeme(row.Text(), func(l string) {
			if l[0] == 'w' || l[0] == 'g' {
				each(last, l)
			}
		})
	})
	return last, rows < limit, err
}

// eachLexeme calls each with the lexemes of a tsvector as the server sends it: how many there are in four bytes, and each with a
// zero byte behind it and the number of its positions in two bytes, which is 0.
func eachLexeme(sent string, each func(lexeme string)) error {
	rest, found := sent, len(sent) >= 4
	if !found {
		return fmt.Errorf("a tsvector of %d bytes; expected 4 at least", len(sent))
	}
	n := binary.BigEndian.Uint32([]byte(rest[:4]))
	for rest = rest[4:]; n > 0; n-- {
		var l string
		if l, rest, found = strings.Cut(rest, "\x00"); !found || l == "" || len(rest) < 2 || rest[:2] != "\x00\x00" {
			return fmt.Errorf("a tsvector of %d bytes; expected lexemes without positions", len(sent))
		}
		each(l)
		rest = rest[2:]
	}
	if rest != "" {
		return fmt.Errorf("a tsvector of %d bytes; expected %d less", len(sent), len(rest))
	}
	return nil
}
