package rank

import "github.com/eunoe-memory/eunoe/pkg/text"

// match tells which term of the question a word is.
type match struct {
	term   int     // -1 for none
	counts float64 // what it counts: 1 for the term itself, less for a word of its family and one that stands for it
}

// match returns which term of the question w is, of which family it is, or which it stands for.
func (r *reader) match(w text.IndexWord) match {
	if !r.mayMatch(w.Folded) {
		return match{term: -1}
	}
	if m, ok := r.matched[string(w.Folded)]; ok {
		return m
	}
	m := r.find(w)
	r.matched[string(w.Folded)] = m
	return m
}

func (r *reader) find(w text.IndexWord) match {
	if text.IsFunctionWord(string(w.Folded)) {
		return match{term: -1}
	}
	stem := termOf(w, r.q.Language).Stem
	if i, ok := r.index[stem]; ok {
		return match{term: i, counts: 1}
	}
	if i, ok := r.standIns[stem]; ok {
		return match{term: i, counts: r.standIn}
	}
	if r.family > 0 && !w.CJK {
		for i, t := range r.q.Terms {
			if !t.CJK && sameFamily(stem, t.Stem) {
				return match{term: i, counts: r.family}
			}
		}
	}
	return match{term: -1}
}

// addStandIns makes the words that stand for a term count for it, unless they stand for an earlier one.
func (r *reader) addStandIns(term int) {
	if r.standIn == 0 {
		return
	}
	t := r.q.Terms[term]
	for _, w := range t.StandIns {
		stem := termOf(text.IndexWord{Folded: []byte(w)}, t.Language).Stem
		if _, known := r.standIns[stem]; known {
			continue
		}
		r.standIns[stem] = term
		r.allow(stem)
		r.allow(w)
		for _, form := range text.FormsOf(stem) {
			r.allow(form)
		}
	}
}

// allow makes mayMatch hold for words whose stem may be s, or of its family. Stemming keeps the first two letters of a
// word, and the third if a fourth follows, except that a y may become an i: "dying" is "die", and "tying" is "tie".
func (r *reader) allow(s string) {
	if len(s) == 0 {
		return
	}
	if len(s) == 1 {
		r.second[s[0]] = ^uint32(0)
		for i := range r.third {
			r.third[i] = ^uint32(0)
		}
		return
	}
	r.second[s[0]] |= letter(s[1])
	letters := ^uint32(0)
	if len(s) > 3 {
		letters = letter(s[2])
	}
	r.third[s[1]] |= letters
	if s[1] == 'i' {
		r.third['y'] |= letters
	}
}

// letter is the set of a letter and of the one that stemming replaces by it.
func letter(b byte) uint32 {
	if b == 'i' {
		return 1<<('i'%32) | 1<<('y'%32)
	}
	return 1 << (b % 32)
}

// mayMatch reports whether a word begins like a term.
func (r *reader) mayMatch(fold []byte) bool {
	seconds := r.second[fold[0]]
	if len(fold) == 1 {
		return seconds != 0
	}
	return seconds&(1<<(fold[1]%32)) != 0 && (len(fold) == 2 || r.third[fold[1]]&(1<<(fold[2]%32)) != 0)
}
