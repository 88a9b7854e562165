package rank

// talkShare is the share of a talk among people that the candidates are, from 0 to 1. It rises with the mean over those
// with a message before them from noTalk to allTalk, where a message counts in full if people say it and the one before
// it, at once, in few words. Texts that have no message before them are short as in a talk.
func (s *scorer) talkShare() float64 {
	sum, n := 0.0, 0.0
	for i := range s.c {
		c := &s.c[i]
		if c.Prev == nil {
			continue
		}
		n++
		if !c.Machine && !c.Prev.Machine {
			sum += s.near(c, c.Prev) / max(1, float64(s.read[i].own.text.words)/talkWords)
		}
	}
	if n == 0 {
		return 1
	}
	return min(1, max(0, (sum/n-noTalk)/(allTalk-noTalk)))
}

// weights returns the weight of each signal: that in a talk and that elsewhere, mixed as far as the candidates are a
// talk.
func (s *scorer) weights() []float64 {
	talk, out := s.talk, make([]float64, len(s.w.Signals))
	for k, signal := range s.w.Signals {
		out[k] = talk*signal.Talk + (1-talk)*signal.Else
	}
	return out
}

// full returns Scored.Full.
func (s *scorer) full() float64 {
	return s.talk*(fullTalk+fullTalkIDF*s.total) + (1-s.talk)*fullElse
}
