package date

import (
	"math/bits"
	"sync"
)

// reader says which tables know a word, a bit each in the order of tables, and of these which know it as a common word
// too.
type reader struct{ all, weak uint32 }

// readers maps each word of the tables to the tables that know it.
var readers = sync.OnceValue(func() map[string]reader {
	m := make(map[string]reader)
	for i, t := range tables() {
		for w, sure := range t.words {
			r := m[w]
			r.all |= 1 << i
			if !sure {
				r.weak |= 1 << i
			}
			m[w] = r
		}
	}
	return m
})

// tableOf returns the table of a language, nil if there is none.
func tableOf(code string) *table {
	for _, t := range tables() {
		if t.code == code {
			return t
		}
	}
	return nil
}

// guess returns the table that knows most words of a text; of equal ones, the first. Words that many languages share
// count less. It returns the English table for a text without known words.
func guess(list []token) *table {
	all, known := tables(), readers()
	var scores [32]int
	cjk, kana, hangul := 0, false, false
	latin := 0
	for _, t := range list {
		if t.cjk {
			cjk++
			switch r := []rune(t.low)[0]; {
			case r >= 0x3040 && r < 0x3100, r == '曜':
				kana = true
			case r >= 0xAC00 && r < 0xD7B0:
				hangul = true
			}
			continue
		}
		if t.mark || t.digits > 0 {
			continue
		}
		latin++
		set := known[t.low]
		worth := 4
		if bits.OnesCount32(set.all) == 1 {
			worth = 6
		}
		for rest := set.all; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros32(rest)
			if set.weak&(1<<i) != 0 {
				scores[i]++
			} else {
				scores[i] += worth
			}
		}
	}
	if cjk > 2*latin {
		code := "zh"
		if kana {
			code = "ja"
		} else if hangul {
			code = "ko"
		}
		if t := tableOf(code); t != nil {
			return t
		}
	}
	best := 0
	for i := range all {
		if scores[i] > scores[best] {
			best = i
		}
	}
	return all[best]
}

// triggers are the words of which one stands in every expression without digits: of each phrase that names a time, the
// longest.
// Each has a bit for every table.
var triggers = sync.OnceValue(func() map[string]uint32 {
	m := make(map[string]uint32)
	for i, t := range tables() {
		t.phrases.names("", 1<<i, m)
		if t.cjk {
			for _, c := range "〇零一二三四五六七八九十" {
				m[string(c)] |= 1 << i
			}
		}
	}
	return m
})

// names adds the longest word of each phrase below that names a time or a unit of time.
func (n *node) names(longest string, bit uint32, out map[string]uint32) {
	for _, s := range n.senses {
		switch s.kind {
		case kMonth, kWeekday, kWeekdays, kUnit, kDay, kRel, kSeason, kHoliday, kNow, kMarkYear, kQuarter, kNumber, kOrdinal:
			if (s.kind == kNumber || s.kind == kOrdinal) && s.value < 4 && s.value >= 0 || s.kind == kOrdinal && s.value < 0 {
				continue
			}
			out[longest] |= bit
		}
	}
	for w, next := range n.next {
		if len(w) < len(longest) {
			w = longest
		}
		next.names(w, bit, out)
	}
}
