package search

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

const (
	// manyForms is the number of forms of a term from which those that the bank does not have are left out of a search:
	// the text index takes as long to miss a word as to find it.
	manyForms = 16
	// maxVocabularyRows is the largest number of rows whose words are kept. In a larger bank few of many forms are missing.
	maxVocabularyRows = 20_000
	// maxVocabularies bounds the banks, a record each, and maxStems the stems of all of them: 16 MB.
	maxVocabularies, maxStems = 8192, 4 << 20
	// forgetEvery is how often what is held of rows that went is dropped in a process in which nobody searches.
	forgetEvery = 5 * time.Second
)

// vocabularies are the stems that rows of banks have, as this process read them, by bank and record: at least those that
// the rows have, and of a few rows perhaps some that went since. The ones used least recently are dropped.
type vocabularies struct {
	mu     sync.Mutex
	held   *simplelru.LRU[sketchKey, vocabulary]
	stems  int // of all held
	closed bool
	seed   maphash.Seed
}

// vocabulary is the set of stems of the rows of a bank's record, as they were in one state. It is not changed once it is
// held.
type vocabulary struct {
	state rowCount
	stems []uint32 // hashes by the seed of the process, ascending; nil = it was asked for once and is not read yet
}

// rowCount is a state of the rows of a bank's record.
type rowCount struct {
	n, last int64 // rows, and no number is greater than last
	gone    int64 // how often words went
}

func newVocabularies() *vocabularies {
	v := &vocabularies{seed: maphash.MakeSeed()}
	v.held, _ = simplelru.NewLRU(maxVocabularies, func(_ sketchKey, gone vocabulary) { v.stems -= len(gone.stems) }) // the size is positive
	return v
}

// get returns what is held of a bank's record.
func (v *vocabularies) get(key sketchKey) (vocabulary, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.held.Get(key)
}

// put holds a vocabulary, unless a later one is held already.
func (v *vocabularies) put(key sketchKey, now vocabulary) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if was, found := v.held.Peek(key); v.closed || found && (was.state.gone > now.state.gone || was.state.gone == now.state.gone && was.state.n > now.state.n) {
		return
	}
	v.held.Remove(key)
	v.held.Add(key, now)
	v.stems += len(now.stems)
	for v.stems > maxStems {
		v.held.RemoveOldest()
	}
}

// keys returns the keys of what is held.
func (v *vocabularies) keys() []sketchKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.held.Keys()
}

// drop drops what is held of a state before words went.
func (v *vocabularies) drop(key sketchKey, gone int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if was, found := v.held.Peek(key); found && was.state.gone < gone {
		v.held.Remove(key)
	}
}

// end drops everything, for good.
func (v *vocabularies) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.held.Purge()
}

// stem returns the hash of a stem.
func (v *vocabularies) stem(word []byte) uint32 { return uint32(maphash.Bytes(v.seed, word)) } //nolint:gosec // its low half

// has reports whether every word of a form is among the stems.
func (v *vocabularies) has(stemmer engine.Stemmer, stems []uint32, form string) bool {
	found := true
	stemmer.EachStem(form, func(word []byte) {
		if found {
			_, found = slices.BinarySearch(stems, v.stem(word))
		}
	})
	return found
}

// present returns those of many forms that a row of the record may have, and all of few. What is left out no row has.
func (r *Reader) present(kind schema.Kind, forms []string) ([]string, error) {
	stemmer, known := r.tx.Engine().(engine.Stemmer)
	if !known || len(forms) < manyForms || kind.Record != memory.RecordMessage && kind.Record != memory.RecordFact {
		return forms, nil
	}
	stems, known := r.stems[kind.Record]
	if !known {
		var err error
		if stems, err = r.readStems(kind, stemmer); err != nil {
			return nil, err
		}
		r.stems[kind.Record] = stems
	}
	if stems == nil {
		return forms, nil
	}
	return slices.DeleteFunc(slices.Clone(forms), func(f string) bool { return !r.store.vocabularies.has(stemmer, stems, f) }), nil
}

// readStems returns the stems of all rows that the reader sees of a kind, and perhaps others; nil where they are not kept:
// there are too many rows, or this is the first time somebody asks, which costs less without them.
func (r *Reader) readStems(kind schema.Kind, stemmer engine.Stemmer) ([]uint32, error) {
	counts := r.counts[kind.Record]
	now := rowCount{n: int64(counts.n), last: counts.last, gone: counts.gone}
	if now.n == 0 || now.n > maxVocabularyRows {
		return nil, nil
	}
	all, key := r.store.vocabularies, sketchKey{r.bank, kind.Record}
	held, found := all.get(key)
	switch {
	case !found:
		r.hold(key, vocabulary{state: now})
		return nil, nil
	case held.state.gone > now.gone: // the reader still sees rows that went
		return nil, nil
	case held.stems == nil || held.state.gone < now.gone:
		held = vocabulary{}
	case held.state.n >= now.n:
		return held.stems, nil
	}
	stems, rows, err := r.stemsSince(kind, stemmer, held.state.last)
	if err == nil && held.state.n+rows != now.n && held.stems != nil { // rows with lower numbers came later
		held = vocabulary{}
		stems, _, err = r.stemsSince(kind, stemmer, 0)
	}
	if err != nil {
		return nil, err
	}
	stems = append(stems, held.stems...)
	slices.Sort(stems)
	stems = slices.Clip(slices.Compact(stems))
	r.hold(key, vocabulary{now, stems})
	return stems, nil
}

// stemsSince returns the stems of the rows behind a number, some of them more than once, and how many rows there are.
func (r *Reader) stemsSince(kind schema.Kind, stemmer engine.Stemmer, last int64) (stems []uint32, rows int64, err error) {
	// The bank's rows are found by an index of it, whatever other banks have behind the number.
	find := fmt.Sprintf(`SELECT %[1]s FROM %[2]s_text WHERE %[3]s IN (SELECT %[3]s FROM %[2]s WHERE bank = ? AND +%[3]s > ?)`,
		strings.Join(kind.Indexed, ` || ' ' || `), kind.Table, kind.Number)
	stems, seen := []uint32{}, map[uint32]struct{}{}
	err = r.tx.Batch(fmt.Sprintf("read the words of %ss", kind.Record), 1, find, []any{r.bank, last}, func(row *engine.Rowset) error {
		rows++
		stemmer.EachStem(row.Text(), func(word []byte) {
			h := r.store.vocabularies.stem(word)
			if _, again := seen[h]; !again {
				seen[h] = struct{}{}
				stems = append(stems, h)
			}
		})
		return nil
	})
	return stems, rows, err
}

// hold holds a vocabulary and follows what goes, once there is one.
func (r *Reader) hold(key sketchKey, now vocabulary) {
	r.store.vocabularies.put(key, now)
	r.store.followGone()
}

// followGone drops what is held of rows that went, every forgetEvery from the first call on.
func (s *Store) followGone() {
	s.following.Do(func() { s.database.Go(s.dropEach) })
}

func (s *Store) dropEach(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.dropGone(ctx); ctx.Err() == nil {
			s.database.Warn(err, "looking for rows that went failed; it is tried again")
		}
	}
}

// dropGone drops the vocabularies whose words went, and the rows that are held of records of which some went.
func (s *Store) dropGone(ctx context.Context) error {
	keys := append(s.vocabularies.keys(), s.rows.keys()...)
	if len(keys) == 0 {
		return nil
	}
	return s.database.Read(ctx, func(tx *engine.Tx) error {
		for _, key := range keys {
			var gone int64
			const find = `SELECT gone FROM row_counts WHERE bank = ? AND record = ?`
			if _, err := tx.Find("look for rows that went", find, []any{key.bank, string(key.record)}, &gone); err != nil {
				return err
			}
			s.vocabularies.drop(key, gone)
			s.rows.drop(key, gone)
		}
		return nil
	})
}
