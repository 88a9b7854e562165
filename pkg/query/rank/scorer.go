package rank

import "math"

// scorer holds what the candidates of one question share.
type scorer struct {
	q      Question
	c      []Candidate
	w      Weights
	read   []lines   // what each candidate holds
	idf    []float64 // by term
	total  float64   // sum of idf
	avgLen float64
	tf     [][]float64 // each candidate's own weighted frequencies, by term
	own    []float64   // BM25 of tf
	named  string      // the one participant the question names, "" for none or several
	spread map[string]*spread

	around, together []float64 // scratch: frequencies of a neighbour, and with all neighbours', by term
}

// spread is what a session's candidates hold together.
type spread struct {
	has []bool          // by term
	own map[int]float64 // own score by place in the session
}

func newScorer(q Question, c []Candidate, stats Stats, w Weights) *scorer {
	s := &scorer{q: q, c: c, w: w, read: newReader(q, len(c), w.Kin).readAll(c), spread: map[string]*spread{}, avgLen: stats.AvgLen,
		tf: make([][]float64, len(c)), own: make([]float64, len(c)), around: make([]float64, len(q.Terms)), together: make([]float64, len(q.Terms))}
	if len(q.Speakers) == 1 {
		s.named = q.Speakers[0]
	}
	flat := make([]float64, len(c)*len(q.Terms))
	words := 0
	for i := range c {
		s.tf[i], flat = flat[:len(q.Terms):len(q.Terms)], flat[len(q.Terms):]
		s.add(s.tf[i], s.read[i].own, 1)
		words += s.length(i)
	}
	if s.avgLen <= 0 && len(c) > 0 {
		s.avgLen = float64(words) / float64(len(c))
	}
	s.weigh(stats)
	for i := range c {
		if w.B > 0 && s.avgLen > 0 {
			norm := 1 - w.B + w.B*float64(s.length(i))/s.avgLen
			for k := range s.tf[i] {
				s.tf[i][k] /= norm
			}
		}
		s.own[i] = s.bm25(s.tf[i])
		s.join(i)
	}
	return s
}

// weigh sets the idf of every term: ln(1 + (N - df + 0.5) / (df + 0.5)), above 0 however common the term.
func (s *scorer) weigh(stats Stats) {
	s.idf = make([]float64, len(s.q.Terms))
	n := max(stats.N, len(s.c))
	for k, t := range s.q.Terms {
		df := 0
		if stats.DF != nil {
			df = min(max(stats.DF(t.Stem), 0), n)
		} else {
			for _, tf := range s.tf {
				if tf[k] > 0 {
					df++
				}
			}
		}
		s.idf[k] = math.Log1p((float64(n-df) + 0.5) / (float64(df) + 0.5))
		s.total += s.idf[k]
	}
}

// join adds candidate i to its session.
func (s *scorer) join(i int) {
	in := s.spread[s.c[i].Session]
	if in == nil {
		in = &spread{has: make([]bool, len(s.q.Terms)), own: map[int]float64{}}
		s.spread[s.c[i].Session] = in
	}
	for k, f := range s.tf[i] {
		in.has[k] = in.has[k] || f > 0
	}
	if s.own[i] > 0 {
		in.own[s.c[i].Pos] = s.own[i]
	}
}

func (s *scorer) length(i int) int {
	return s.read[i].own.text.words + s.read[i].own.caption.words
}

// add counts the words of a message into tf, each as weight, those of its caption less.
func (s *scorer) add(tf []float64, l line, weight float64) {
	for _, part := range []struct {
		*reading
		weight float64
	}{{l.text, weight}, {l.caption, weight * s.w.Caption}} {
		if part.words == 0 || part.weight == 0 {
			continue
		}
		for k, f := range part.tf {
			tf[k] += part.weight * f
		}
	}
}

// bm25 returns the sum over terms of idf × tf × (k1 + 1) / (tf + k1).
func (s *scorer) bm25(tf []float64) float64 {
	sum := 0.0
	for k, f := range tf {
		if f > 0 {
			sum += s.idf[k] * f * (s.w.K1 + 1) / (f + s.w.K1)
		}
	}
	return sum
}

// cover returns the share, by idf, of the terms with a frequency above 0, from 0 to 1.
func (s *scorer) cover(tf []float64) float64 {
	if s.total == 0 {
		return 0
	}
	sum := 0.0
	for k, f := range tf {
		if f > 0 {
			sum += s.idf[k]
		}
	}
	return sum / s.total
}

// alone returns the BM25 score of a neighbour by itself.
func (s *scorer) alone(l line) float64 {
	clear(s.around)
	s.add(s.around, l, 1)
	return s.bm25(s.around)
}

// context returns candidate i's own frequencies with its neighbours' added,
// weighted. It holds until it is called again.
func (s *scorer) context(i int) []float64 {
	copy(s.together, s.tf[i])
	s.add(s.together, s.read[i].prev, s.w.Prev)
	s.add(s.together, s.read[i].prev2, s.w.Prev2)
	s.add(s.together, s.read[i].next, s.w.Next)
	return s.together
}
