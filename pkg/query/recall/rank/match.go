package rank

import "github.com/eunoe-memory/eunoe/pkg/text"

// match tells which term of the question a word is.
type match struct {
	term   int  // -1 for none
	family bool // it is only a word of the term's family
}

// match returns which term of the question w is, or of which family.
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
		return match{term: i}
	}
	if r.family > 0 && !w.CJK {
		for i, t := range r.q.Terms {
			if !t.CJK && sameFamily(stem, t.Stem) {
				return match{term: i, family: true}
			}
		}
	}
	return match{term: -1}
}
