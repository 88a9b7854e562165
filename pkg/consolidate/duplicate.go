package consolidate

import (
	"maps"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// sameStatement is the guard beside the cosine: it reports whether two texts
// say the same in other words. Numbers, dates, negation, names in their order
// and the small words that turn a sentence must be equal, and the content words
// of one side must stand in the same order within the other's. It is symmetric.
func sameStatement(a, b reading) bool {
	if a.negated != b.negated || !slices.Equal(a.numbers, b.numbers) || !slices.Equal(a.dates, b.dates) ||
		!slices.Equal(a.names, b.names) || !slices.Equal(a.hinges, b.hinges) {
		return false
	}
	if len(a.words) == 0 || len(b.words) == 0 {
		return false
	}
	return within(a.words, b.words) || within(b.words, a.words)
}

// within reports whether the short text's words stand in order in the long one's.
func within(short, long []word) bool {
	at := 0
	for _, w := range short {
		for at < len(long) && long[at].stem != w.stem {
			at++
		}
		if at == len(long) || !sameTense(w.text, long[at].text) {
			return false
		}
		at++
	}
	return true
}

// sameTense tells "lives" from "lived": they have one stem and say two things.
func sameTense(a, b string) bool {
	return strings.HasSuffix(a, "ed") == strings.HasSuffix(b, "ed") && strings.HasSuffix(a, "ing") == strings.HasSuffix(b, "ing")
}

// duplicates reports whether two facts are one statement in two wordings.
func duplicates(a, b memory.Fact, ra, rb reading) bool {
	switch {
	case a.Type != b.Type || a.Kind != b.Kind,
		a.Key != "" && b.Key != "" && a.Key != b.Key,
		!sameSpan(a.Occurred, b.Occurred),
		a.State != nil && b.State != nil && *a.State != *b.State:
		return false
	}
	return sameStatement(ra, rb)
}

// sameSpan reports whether two facts can have happened at one time; a fact
// without a time fits only one without.
func sameSpan(a, b memory.Span) bool {
	return sameInstant(a.From, b.From) && sameInstant(a.To, b.To)
}

func sameInstant(a, b *memory.Instant) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// corrections are the words by which a later statement takes an earlier one back.
var corrections = []string{"actually", "no longer", "not anymore", "anymore", "any more", "instead", "correction", "rather than",
	"stopped", "quit", "quits", "gave up", "changed to", "switched", "is now", "are now", "has since", "not true", "in fact"}

// denials among them say that the old statement ended, without a new value.
var denials = []string{"no longer", "anymore", "any more", "not true"}

// stops say so too, unless they are denied themselves.
var stops = []string{"stopped", "quit", "quits", "gave up"}

// correctionWords are content words of the cues, which are no part of what is said.
var correctionWords = map[string]bool{"actual": true, "longer": true, "anymor": true, "instead": true, "correct": true,
	"stop": true, "quit": true, "gave": true, "give": true, "chang": true, "switch": true, "true": true, "fact": true, "rather": true}

// hasCue reports whether one of the cues stands in a reading's plain words.
func hasCue(plain string, cues []string) bool {
	for _, c := range cues {
		if strings.Contains(plain, " "+c+" ") {
			return true
		}
	}
	return false
}

// corrects reports whether the newer statement plainly takes back the older:
// it holds a cue, speaks of the same names and shares its subject matter, with
// at most two words on either side that the other does not have.
func corrects(newer, older reading) bool {
	if !hasCue(newer.plain, corrections) || hasCue(older.plain, corrections) {
		return false
	}
	if older.negated && (hasCue(newer.plain, denials) || hasCue(newer.plain, stops)) {
		return false
	}
	common, onlyNew, onlyOld := compare(newer.words, older.words, correctionWords)
	if common == 0 || !subset(older.names, newer.names) && !subset(newer.names, older.names) {
		return false
	}
	switch {
	case hasCue(newer.plain, denials), hasCue(newer.plain, stops) && !newer.negated:
		return onlyOld == 0 && (common > 1 || onlyNew == 0) || onlyNew == 0 && onlyOld == 1 && common > 1
	case hasCue(newer.plain, stops): // "won't quit" takes nothing back
		return false
	}
	return onlyNew > 0 && onlyOld > 0 && onlyNew <= 2 && onlyOld <= 2 && common >= onlyOld
}

// likes and dislikes are stems of words that say the opposite of each other.
var (
	likes    = map[string]bool{"like": true, "love": true, "enjoy": true, "ador": true}
	dislikes = map[string]bool{"hate": true, "dislik": true, "detest": true, "loath": true}
)

// contradicts reports whether one text denies what the other states: the same
// names, numbers, dates and content words, and negation on one side alone, or
// liking on one side and disliking on the other.
func contradicts(a, b reading) bool {
	if len(a.words) == 0 || !slices.Equal(a.numbers, b.numbers) || !slices.Equal(a.dates, b.dates) || !slices.Equal(a.names, b.names) {
		return false
	}
	if a.negated == b.negated {
		opposed := a.has(likes) && b.has(dislikes) || a.has(dislikes) && b.has(likes)
		return opposed && sameBut(a, b, likes, dislikes)
	}
	return sameBut(a, b)
}

// has reports whether one of the words has a stem of the set.
func (r reading) has(stems map[string]bool) bool {
	return slices.ContainsFunc(r.words, func(w word) bool { return stems[w.stem] })
}

// sameBut reports whether two texts have the same content words, those of the
// given sets left out, and at least one that is no name.
func sameBut(a, b reading, sets ...map[string]bool) bool {
	skip := map[string]bool{"never": true}
	for _, s := range sets {
		maps.Copy(skip, s)
	}
	common, onlyA, onlyB := compare(a.words, b.words, skip)
	return common > 0 && onlyA == 0 && onlyB == 0
}

// compare counts the distinct stems both have that are no names, and those of
// one side alone (names too); stems in skip do not count.
func compare(a, b []word, skip map[string]bool) (common, onlyA, onlyB int) {
	in := func(ws []word) map[string]bool {
		m := map[string]bool{}
		for _, w := range ws {
			if !skip[w.stem] {
				m[w.stem] = m[w.stem] || w.name
			}
		}
		return m
	}
	ma, mb := in(a), in(b)
	for s, name := range ma {
		if _, ok := mb[s]; !ok {
			onlyA++
		} else if !name {
			common++
		}
	}
	for s := range mb {
		if _, ok := ma[s]; !ok {
			onlyB++
		}
	}
	return common, onlyA, onlyB
}

func subset(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return true
}
