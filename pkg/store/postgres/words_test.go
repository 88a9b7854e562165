package postgres_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// indexed is a text of a row.
type indexed struct {
	bank, no int64
	text     string
}

// inTwoBanks returns the texts of a large bank and of a smaller one among its numbers. Every fourth row of both tells of rain,
// every twentieth of a harbour or of its master, and a few of a lighthouse.
func inTwoBanks() (rows []indexed) {
	for no := int64(1); no <= 16_000; no++ {
		text := fmt.Sprintf("entry %d", no)
		if no%4 == 0 {
			text += " rain"
		}
		switch no % 40 {
		case 7:
			text += " harbour"
		case 27:
			text += " harbourmaster"
		}
		if no%3000 == 5 {
			text += " lighthouse"
		}
		rows = append(rows, indexed{1 + no%5/4, no, text})
	}
	return rows
}

// TestASearchForAWordFindsTheSameHoweverItIsDone searches for words of which nothing is known, of which it is known how many
// rows have them, and of which more rows have them since, in a bank that is alone in the index and in two that share it.
func TestASearchForAWordFindsTheSameHoweverItIsDone(t *testing.T) {
	t.Parallel()
	words := []struct {
		form, begin string
		has         func(no int64) bool
	}{
		{form: "rain", has: func(no int64) bool { return no%4 == 0 }},
		{form: "harbour", has: func(no int64) bool { return no%40 == 7 }},
		{form: "lighthouse", has: func(no int64) bool { return no%3000 == 5 }},
		{form: "harbour", begin: "harbour", has: func(no int64) bool { return no%20 == 7 }},
		{form: "desert", has: func(int64) bool { return false }},
	}
	for _, alone := range []bool{true, false} {
		t.Run(fmt.Sprintf("alone %t", alone), func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			index := engine.TextIndex{Table: "messages", Number: "seq", Columns: []string{"content"}}
			var there []indexed
			for _, part := range [][]indexed{inTwoBanks()[:5000], inTwoBanks()[5000:]} {
				err := s.Write(t.Context(), func(tx *engine.Tx) error {
					for _, r := range part {
						if alone && r.bank != 1 {
							continue
						}
						there = append(there, r)
						if err := s.Reindex(tx, index, r.no, r.bank, nil, []string{r.text, ""}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					for _, w := range words {
						for _, limit := range []int{10, 1000} {
							checkWord(t, s, index, there, engine.WordQuery{Bank: 1, Alone: alone, First: 1, Last: part[len(part)-1].no,
								Forms: []string{w.form}, Prefix: w.begin, Limit: limit}, w.has)
						}
					}
				}
			}
		})
	}
}

// checkWord compares what a search finds with the latest rows of its bank that have the word.
func checkWord(t *testing.T, s engine.Database, index engine.TextIndex, there []indexed, q engine.WordQuery, has func(no int64) bool) {
	t.Helper()
	var want, got []int64
	for _, r := range slices.Backward(there) {
		if r.bank == q.Bank && has(r.no) && len(want) < q.Limit {
			want = append(want, r.no)
		}
	}
	err := s.Read(t.Context(), func(tx *engine.Tx) (err error) {
		got, err = s.Words(tx, index, q)
		return err
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v and what begins with %q, the latest %d: %d rows %v, %v; expected %d", q.Forms, q.Prefix, q.Limit, len(got),
			got[:min(5, len(got))], err, len(want))
	}
}
