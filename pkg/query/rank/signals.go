package rank

import (
	"math"
	"time"
)

const (
	nearest, farthest = 2, 6 // Nearby looks as many places away, both ways; closer ones are in Words

	captionThings = 0.7 // what an image of things counts, however many they are

	daysAfter  = 10.0 // days after a time in which a message about it falls to 1/e: people tell what happened
	daysBefore = 5.0  // the same before it: and, less far ahead, what they plan
)

// signals returns the signals of candidate i, not yet weighted.
func (s *scorer) signals(i int) (f Signals) {
	c := &s.c[i]
	own := s.read[i].own.text
	all := s.context(i)
	f[Words] = s.bm25(all)
	f[Cover], f[CoverOwn] = s.cover(all), s.cover(s.tf[i])
	f[Before] = s.alone(s.read[i].prev)
	if c.Prev != nil && c.Prev.Speaker != c.Speaker && s.read[i].prev.text.asks {
		f[Answer] = f[Before]
	}
	if s.named != "" && c.Speaker == s.named {
		f[Speaker] = f[Words]
		f[Told] = one(own.cues&cueFirstPerson != 0)
	}
	f[Session], f[Nearby] = s.session(c)
	for p, together := range own.pairs {
		if together {
			f[Pair] += (s.idf[s.q.Pairs[p][0]] + s.idf[s.q.Pairs[p][1]]) / 2
		}
	}
	if own.words > 0 {
		f[Asks] = float64(own.asked) / float64(own.words)
	}
	f[Length] = math.Log1p(float64(own.words))
	f[Names] = math.Min(float64(own.names), 3)
	if s.q.Kind == KindWhen {
		f[SaysWhen] = one(own.cues&cueTime != 0)
	}
	f[InTime] = s.q.When.closeness(c.Time)
	s.tells(c, s.read[i].own, &f)
	return f
}

// tells fills in the signals that ask for no word of the question.
func (s *scorer) tells(c *Candidate, own line, f *Signals) {
	things := float64(own.text.things)
	if own.caption.things > 0 {
		things += captionThings
	}
	f[Things] = math.Min(things, 2)
	if s.named == "" || c.Speaker == s.named {
		f[Deeds] = math.Min(float64(own.text.deeds), 2)
	}
}

// session returns Session and Nearby for a candidate.
func (s *scorer) session(c *Candidate) (covered, nearby float64) {
	in := s.spread[c.Session]
	for k, has := range in.has {
		if has {
			covered += s.idf[k]
		}
	}
	for d := nearest; d <= farthest; d++ {
		if d > nearest { // two before is in Words already
			nearby += in.own[c.Pos-d] / float64(d)
		}
		nearby += in.own[c.Pos+d] / float64(d)
	}
	return covered, nearby
}

// closeness is 1 inside the range and falls off exponentially with the days outside it; 0 without a range or a time.
func (r Range) closeness(t time.Time) float64 {
	if r.IsZero() || t.IsZero() {
		return 0
	}
	if after := t.Sub(r.To).Hours() / 24; after >= 0 {
		return math.Exp(-after / daysAfter)
	}
	if before := r.From.Sub(t).Hours() / 24; before > 0 {
		return math.Exp(-before / daysBefore)
	}
	return 1
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
