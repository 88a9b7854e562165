package search

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// mostOfWord is how many rows are held of a word, unless a search asks for more.
const mostOfWord = 2048

// rowsAtOnce is how many rows' words are read in one transaction to be indexed, and mostAdded how many new ones within a search.
const rowsAtOnce, mostAdded = 8192, 1000

// latest returns the latest rows of a record that a search without a filter finds by words, as engine.Engine's Words does. Of
// words whose rows are held it reads those that came since.
func (r *Reader) latest(kind schema.Kind, q engine.WordQuery) ([]int64, error) {
	if !r.holds(kind.Record) {
		return r.words(kind, q)
	}
	rows, key, state, query := r.store.rows, sketchKey{r.bank, kind.Record}, r.state(kind.Record), r.store.queryHash(q)
	more := q
	more.Limit += q.Limit / 8 // some will be hidden
	held, known, err := r.indexed(kind, q)
	if err != nil {
		return nil, err
	}
	if !known {
		held, known = rows.find(key, state, query)
	}
	if known && held.upto < state.last {
		since := q
		since.Above = held.upto
		newer, err := r.words(kind, since)
		if err != nil {
			return nil, err
		}
		held.all = held.all && len(newer) < q.Limit
		if len(newer) == q.Limit {
			held.nos = nil
		}
		held.nos = append(newer, held.nos...)
		if most := max(mostOfWord, more.Limit); len(held.nos) > most {
			held.nos, held.all = held.nos[:most:most], false
		}
		rows.hold(key, state, query, held.nos, held.all)
	}
	if known && (held.all || len(held.nos) >= q.Limit) {
		return held.nos[:min(q.Limit, len(held.nos)):min(q.Limit, len(held.nos))], nil
	}
	nos, err := r.words(kind, more)
	if err != nil {
		return nil, err
	}
	rows.hold(key, state, query, nos, len(nos) < more.Limit)
	return nos[:min(q.Limit, len(nos)):min(q.Limit, len(nos))], nil
}

// indexed returns the latest rows of a record that a search without a filter finds by words, from the index that this process
// holds; known is false where there is none, or where it cannot tell.
func (r *Reader) indexed(kind schema.Kind, q engine.WordQuery) (w heldWords, known bool, err error) {
	reads, ok := r.tx.Engine().(engine.WordReader)
	if !ok {
		return w, false, nil
	}
	words, begins, ok, err := reads.AnyOf(q)
	if err != nil || !ok {
		return w, false, err
	}
	w, known = r.store.rows.findIndexed(sketchKey{r.bank, kind.Record}, r.state(kind.Record), words, begins, q.Limit)
	return w, known, nil
}

// readWords reads the words of the rows that came behind the last of an index.
func (r *Reader) readWords(rec memory.Record, behind int64) error {
	kind, _ := r.store.schema.Find(rec)
	var words []indexedWord
	last, all, err := r.tx.Engine().(engine.WordReader).WordsOf(r.tx, kind.TextIndex(), r.bank, behind, mostAdded, func(no int64, word string) {
		words = append(words, indexedWord{no, word})
	})
	if err != nil {
		return err
	}
	state := r.state(rec)
	if all {
		last = state.last
	}
	r.store.rows.extend(sketchKey{r.bank, rec}, state, behind, words, last)
	return nil
}

// indexLater begins to read the words of the bank's records where that is worth it.
func (r *Reader) indexLater(records []memory.Record) {
	if _, ok := r.tx.Engine().(engine.WordReader); !ok {
		return
	}
	s, id, states := r.store, r.id, map[sketchKey]rowsState{}
	for _, rec := range records {
		states[sketchKey{r.bank, rec}] = r.state(rec)
	}
	lacking, end := s.rows.beginIndexes(states)
	if len(lacking) == 0 {
		return
	}
	s.database.Go(func(ctx context.Context) {
		defer end()
		for _, key := range lacking {
			x, began := newWordIndex(states[key]), time.Now()
			all, err := s.readIndex(ctx, id, key, x)
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				s.rows.holdIndex(key, x, all, time.Since(began))
			case !errors.Is(err, memory.ErrNotFound):
				s.database.Warn(err, "reading the words of a bank failed; searches ask the database until it works")
			}
		}
	})
}

// readIndex fills the index of a bank's record, in a transaction for every rowsAtOnce rows. Each sees the rows before as they
// were, or some went and the index is of no state. all is false where it cannot have all rows.
func (s *Store) readIndex(ctx context.Context, id memory.BankID, key sketchKey, x *wordIndex) (all bool, err error) {
	kind, _ := s.schema.Find(key.record)
	fits := true
	for !all && fits && err == nil {
		err = s.readBank(ctx, id, func(r *Reader) (err error) {
			state := r.state(key.record)
			if r.bank != key.bank || state.gone != x.gone {
				x.gone, all = noState, true
				return nil
			}
			x.upto, all, err = r.tx.Engine().(engine.WordReader).WordsOf(r.tx, kind.TextIndex(), r.bank, x.upto, rowsAtOnce, func(no int64, word string) {
				fits = fits && x.add(no, word)
			})
			if all {
				x.upto = state.last
			}
			return err
		})
	}
	return fits, err
}

// words returns the latest rows of a record that have words.
func (r *Reader) words(kind schema.Kind, q engine.WordQuery) ([]int64, error) {
	return r.tx.Engine().Words(r.tx, kind.TextIndex(), q)
}

// queryHash names a search for words: what is asked for may be what somebody has to forget.
func (s *Store) queryHash(q engine.WordQuery) uint64 {
	type asked struct {
		forms, prefix string
		grams         bool
	}
	return maphash.Comparable(s.rowsSeed, asked{strings.Join(q.Forms, "\x00"), q.Prefix, q.Grams})
}
