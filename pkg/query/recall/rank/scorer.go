package rank

import (
	"math"
	"time"
)

// View is one candidate as a Signal sees it.
type View struct {
	Question  *Question
	Candidate *Candidate

	scorer     *scorer
	own        message // what it holds
	score      float64 // BM25 score over its own words
	words      float64 // BM25F score over its words and its neighbours'
	cover      float64 // share, by idf, of the terms among those words, 0 to 1
	ownCover   float64 // share among its own words
	passage    Passage // the part of its text that scores best, with the parts next to it; zero for all of it
	best       float64 // BM25 score of that part
	bestCover  float64 // share of the terms among the words of that part
	before     float64 // BM25 score of the message before alone
	replies    bool    // another speaker asked something in the message before
	byNamed    bool    // the one participant the question names said it
	namesNoOne bool    // the question names no participant, or several
	session    float64 // summed idf of the terms that its session's candidates have
	nearby     float64 // own scores of messages two to six places away, each divided by its distance
	around     float64 // BM25 score over the words of the messages up to eight places away
}

// Talk is the share of a talk among people that the candidates are, 0 to 1: how far the weights of a talk count.
func (v *View) Talk() float64 { return v.scorer.talk }

// scorer holds what the candidates of one question share.
type scorer struct {
	q        *Question
	c        []Candidate
	w        Weights
	read     []readings  // what each candidate and its neighbours hold
	idf      []float64   // by term
	total    float64     // sum of idf
	tf       [][]float64 // each candidate's own weighted frequencies, by term
	own      []float64   // BM25 of tf
	sessions map[string]*session
	talk     float64 // the share of a talk that the candidates are
	current  View    // the candidate that view was called for last

	around, together []float64 // scratch: frequencies of a neighbour, and with all neighbours', by term
}

// session is what a session's candidates hold together.
type session struct {
	has []bool          // by term
	own map[int]float64 // own score by place in the session
	at  map[int]int     // candidate by place in the session
}

func newScorer(q Question, c []Candidate, stats Stats, w Weights) *scorer {
	s := &scorer{q: &q, c: c, w: w, read: newReader(q, len(c), w).readAll(c), sessions: map[string]*session{},
		tf: make([][]float64, len(c)), own: make([]float64, len(c)), around: make([]float64, len(q.Terms)), together: make([]float64, len(q.Terms))}
	flat := make([]float64, len(c)*len(q.Terms))
	for i := range c {
		s.tf[i], flat = flat[:len(q.Terms):len(q.Terms)], flat[len(q.Terms):]
		s.add(s.tf[i], s.read[i].own, 1, w.Long)
	}
	s.setIDF(stats)
	s.talk = s.talkShare()
	for i := range c {
		s.own[i] = s.bm25(s.tf[i])
		s.join(i)
	}
	return s
}

// setIDF sets the idf of every term: ln(1 + (N - df + 0.5) / (df + 0.5)), above 0 however common the term. What only earlier
// lines of a talk have counts less than what is asked now.
func (s *scorer) setIDF(stats Stats) {
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
		if t.Earlier {
			s.idf[k] *= earlierShare
		}
		s.total += s.idf[k]
	}
}

// join adds candidate i to its session.
func (s *scorer) join(i int) {
	in := s.sessions[s.c[i].Session]
	if in == nil {
		in = &session{has: make([]bool, len(s.q.Terms)), own: map[int]float64{}, at: map[int]int{}}
		s.sessions[s.c[i].Session] = in
	}
	in.at[s.c[i].Pos] = i
	for k, f := range s.tf[i] {
		in.has[k] = in.has[k] || f > 0
	}
	if s.own[i] > 0 {
		in.own[s.c[i].Pos] = s.own[i]
	}
}

// view returns candidate i. It is valid until view is called again.
func (s *scorer) view(i int) *View {
	c, read := &s.c[i], s.read[i]
	copy(s.together, s.tf[i])
	prev := s.near(c, c.Prev)
	s.add(s.together, read.prev, s.w.Prev*prev, s.w.LongNear)
	s.add(s.together, read.prev2, s.w.Prev2*s.near(c, c.Prev2), s.w.LongNear)
	s.add(s.together, read.next, s.w.Next*s.near(c, c.Next), s.w.LongNear)
	clear(s.around)
	s.add(s.around, read.prev, prev, s.w.LongNear)
	s.current = View{Question: s.q, Candidate: c, scorer: s, own: read.own, score: s.own[i], words: s.bm25(s.together), cover: s.cover(s.together),
		ownCover: s.cover(s.tf[i]), before: s.bm25(s.around), replies: c.Prev != nil && c.Prev.Speaker != c.Speaker && read.prev.text.asks,
		namesNoOne: true}
	if len(s.q.Speakers) == 1 && s.q.Speakers[0] != "" {
		s.current.namesNoOne, s.current.byNamed = false, c.Speaker == s.q.Speakers[0]
	}
	s.current.setPassage()
	s.current.session, s.current.nearby = s.session(c)
	s.current.around = s.bm25(s.surroundings(c))
	return &s.current
}

const nearest, farthest = 2, 6 // places, both ways, that "nearby" looks at; closer messages are in "words"

// session returns the summed idf of the terms of a candidate's session, and the scores nearby.
func (s *scorer) session(c *Candidate) (covered, nearby float64) {
	in := s.sessions[c.Session]
	for k, has := range in.has {
		if has {
			covered += s.idf[k]
		}
	}
	for d := nearest; d <= farthest; d++ {
		if d > nearest { // two before is in "words" already
			nearby += in.own[c.Pos-d] / float64(d)
		}
		nearby += in.own[c.Pos+d] / float64(d)
	}
	return covered, nearby
}

const (
	surrounding  = 8   // places, both ways, that "around" looks at
	halfAtPlaces = 4.0 // the distance in places at which a word counts half
)

// surroundings returns the frequencies of the terms in the candidates up to eight places away in the session, which count
// less with the places and the time between. It is valid until the next call.
func (s *scorer) surroundings(c *Candidate) []float64 {
	clear(s.around)
	if s.talk == 1 {
		return s.around // no signal of a talk reads it
	}
	in := s.sessions[c.Session]
	for d := -surrounding; d <= surrounding; d++ {
		i, ok := in.at[c.Pos+d]
		if !ok || d == 0 {
			continue
		}
		weight := s.apart(c, s.c[i].Time) / (1 + math.Abs(float64(d))/halfAtPlaces)
		for k, f := range s.tf[i] {
			s.around[k] += weight * f
		}
	}
	return s.around
}

// share divides a score by the summed idf of the question's terms.
func (v *View) share(score float64) float64 { return score / max(v.scorer.total, 1) }

// pairs returns the mean idf of each pair of the question's terms that stands together in the text, summed.
func (v *View) pairs() float64 {
	sum := 0.0
	for p, together := range v.own.text.pairs {
		if together {
			sum += (v.scorer.idf[v.Question.Pairs[p][0]] + v.scorer.idf[v.Question.Pairs[p][1]]) / 2
		}
	}
	return sum
}

// setPassage finds the part of the text that scores best, the first of equals.
func (v *View) setPassage() {
	v.best, v.bestCover = v.score, v.ownCover
	for i, p := range v.own.text.passages {
		if score := v.scorer.bm25(p.tf); i == 0 || score > v.best {
			v.best, v.bestCover = score, v.scorer.cover(p.tf)
			v.passage = Passage{Start: v.own.text.passages[max(0, i-1)].Start, End: v.own.text.passages[min(i+1, len(v.own.text.passages)-1)].End}
		}
	}
}

// near is how far a candidate and a message next to it belong together: 1 if they were said at once, half as much if
// Apart lies between.
func (s *scorer) near(c *Candidate, n *Neighbour) float64 {
	if n == nil {
		return 1
	}
	return s.apart(c, n.Time)
}

// apart is near of a message that was said at a time; 1 if one of the times is not known.
func (s *scorer) apart(c *Candidate, t time.Time) float64 {
	if s.w.Apart <= 0 || t.IsZero() || c.Time.IsZero() {
		return 1
	}
	return 1 / (1 + t.Sub(c.Time).Abs().Seconds()/s.w.Apart.Seconds())
}

// add counts the words of a message into tf, each as weight, those of its caption as less. Of a text with more words
// than long they count as if it had as many.
func (s *scorer) add(tf []float64, m message, weight, long float64) {
	for _, part := range []struct {
		*reading
		weight float64
	}{{m.text, weight}, {m.caption, weight * s.w.Caption}} {
		if part.words == 0 || part.weight == 0 {
			continue
		}
		w := part.weight
		if long > 0 {
			w /= max(1, float64(part.words)/long)
		}
		for k, f := range part.tf {
			tf[k] += w * f
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
