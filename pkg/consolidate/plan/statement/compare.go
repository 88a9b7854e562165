package statement

import (
	"maps"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Same reports whether two texts say the same in other words. Their numbers, dates, negation, names in order and
// qualifiers must be equal, and the content words of one must stand in the same order within the other's. It is
// symmetric.
func Same(a, b Reading) bool {
	if a.Negated != b.Negated || deniesAbroad(a) != deniesAbroad(b) || !sameDetails(a, b) || !slices.Equal(a.Qualifiers, b.Qualifiers) {
		return false
	}
	return len(a.Words) > 0 && len(b.Words) > 0 && (within(a.Words, b.Words) || within(b.Words, a.Words))
}

// Adds reports whether a text says more than another one that it repeats: it has a content word that the other lacks.
func Adds(a, b Reading) bool { return !within(a.Words, b.Words) }

func sameDetails(a, b Reading) bool {
	return slices.Equal(a.Numbers, b.Numbers) && slices.Equal(a.Dates, b.Dates) && slices.Equal(a.Names, b.Names)
}

// within reports whether the words of a short text occur in order in a long one.
func within(short, long []Word) bool {
	at := 0
	for _, w := range short {
		for at < len(long) && long[at].Stem != w.Stem {
			at++
		}
		if at == len(long) || !sameTense(w.Text, long[at].Text) {
			return false
		}
		at++
	}
	return true
}

// sameTense distinguishes "lives" from "lived", which have one stem and different meanings.
func sameTense(a, b string) bool {
	return strings.HasSuffix(a, "ed") == strings.HasSuffix(b, "ed") && strings.HasSuffix(a, "ing") == strings.HasSuffix(b, "ing")
}

// The cues by which a later statement corrects an earlier one.
var (
	corrections = NewPhrases("actually", "no longer", "not anymore", "anymore", "any more", "instead", "correction", "rather than",
		"stopped", "quit", "quits", "gave up", "changed to", "switched", "has since", "not true", "in fact")
	// denials state that the old statement ended, without a new value.
	denials = NewPhrases("no longer", "anymore", "any more", "not true")
	// stops state the same, unless they are negated themselves.
	stops = NewPhrases("stopped", "quit", "quits", "gave up")
	// cueStems are stems of the cues' content words, which are ignored when contents are compared.
	cueStems = map[string]bool{"actual": true, "longer": true, "anymor": true, "instead": true, "correct": true,
		"want": true, "decid": true, "plan": true, "intend": true, "hope": true,
		"stop": true, "quit": true, "gave": true, "give": true, "chang": true, "switch": true, "true": true, "fact": true, "rather": true}
)

// corrects reports whether the newer statement clearly revokes the older one: it has a cue, the same names and the same
// subject matter, with at most two words on either side that the other does not have.
func corrects(newer, older Reading) bool {
	if !newer.HasPhrase(corrections) || older.HasPhrase(corrections) {
		return false
	}
	denies, stopped := newer.HasPhrase(denials), newer.HasPhrase(stops)
	if (denies || stopped) && (older.Negated || ofAnother(newer, older)) {
		return false
	}
	common, onlyNew, onlyOld := CountStems(newer.Words, older.Words, cueStems)
	if common == 0 || !Subset(older.Names, newer.Names) && !Subset(newer.Names, older.Names) {
		return false
	}
	switch {
	case denies, stopped && !newer.Negated:
		// What is denied in general is denied in particular: "doesn't take sugar any more", "takes two sugars in their tea".
		return onlyOld == 0 && (common > 1 || onlyNew == 0) || onlyNew == 0 && onlyOld <= 2 && common > 1
	case stopped: // "won't quit" takes nothing back
		return false
	}
	return onlyNew > 0 && onlyOld > 0 && onlyNew <= 2 && onlyOld <= 2 && common >= onlyOld
}

// ofAnother reports whether the older statement is about a relative or friend of its subject whom the newer one does not
// name: "Ana's brother plays chess", "Ana stopped playing chess".
func ofAnother(newer, older Reading) bool {
	words := strings.Fields(older.body)
	if len(words) < 2 || !strings.HasSuffix(words[0], "'s") {
		return false
	}
	stem := text.Stem(strings.ToLower(words[1]))
	return (persons[stem] || several[stem]) && !newer.Stems[stem]
}

// likes and dislikes are stems of words with opposite meanings.
var (
	likes    = map[string]bool{"like": true, "love": true, "enjoy": true, "ador": true}
	dislikes = map[string]bool{"hate": true, "dislik": true, "detest": true, "loath": true}
	// refusals express a dislike without a word for it.
	refusals = NewPhrases("can't stand", "cannot stand", "can not stand", "could not stand", "couldn't stand", "can t stand")
)

// liking is 1 if a text states that somebody likes something, -1 if they dislike it, and 0 if it states neither.
func (r Reading) liking() int {
	switch likes, dislikes := r.hasStem(likes), r.hasStem(dislikes) || r.HasPhrase(refusals); {
	case likes == dislikes, dislikes && r.Negated && !r.HasPhrase(refusals):
		return 0
	case likes && !r.Negated:
		return 1
	}
	return -1
}

// contradicts reports whether one text denies what the other states: the same names, numbers, dates and content words,
// and negation on one side alone, or liking on one side and disliking on the other. Words that announce news do not
// count.
func contradicts(a, b Reading) bool {
	if len(a.Words) == 0 || !sameDetails(a, b) {
		return false
	}
	return a.Negated != b.Negated && sameWords(a, b, newsStems, cueStems, reportStems) ||
		a.liking()*b.liking() < 0 && sameWords(a, b, newsStems, likes, dislikes, map[string]bool{"stand": true})
}

// reportStems are the stems of speakers and of verbs of saying.
var reportStems = stemSet("doctor dentist allergist vet test result lab blood say said tell told show found confirm turn")

// sameWords reports whether two texts have the same content words, at least one of which is no name. Stems of the
// ignored sets, and "never", do not count.
func sameWords(a, b Reading, ignored ...map[string]bool) bool {
	skip := map[string]bool{"never": true}
	for _, s := range ignored {
		maps.Copy(skip, s)
	}
	common, onlyA, onlyB := CountStems(a.Words, b.Words, skip)
	return common > 0 && onlyA == 0 && onlyB == 0
}

// CountStems counts the distinct stems that both texts have and that are no names, and those that one side alone has,
// names included. Stems in skip do not count.
func CountStems(a, b []Word, skip map[string]bool) (common, onlyA, onlyB int) {
	inA, inB := stemsOf(a, skip), stemsOf(b, skip)
	for stem, name := range inA {
		if _, ok := inB[stem]; !ok {
			onlyA++
		} else if !name {
			common++
		}
	}
	for stem := range inB {
		if _, ok := inA[stem]; !ok {
			onlyB++
		}
	}
	return common, onlyA, onlyB
}

// stemsOf returns the stems of words, and of each whether it is a name's.
func stemsOf(words []Word, skip map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		if !skip[w.Stem] {
			out[w.Stem] = out[w.Stem] || w.Name
		}
	}
	return out
}

// Subset reports whether every string of a is in b.
func Subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
