package statement

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// foreignOf reads the sentence of a speaker in a language other than English ("Ana: Je fume."). It returns nil for
// other texts. Without a language it detects one, or else takes the first language in which the sentence revokes
// something.
func foreignOf(s string, lang text.Language) *state.Revision {
	_, said, ok := cutSpeaker(s)
	if !ok {
		return nil
	}
	said = state.WithoutAnnotations(said)
	known := lang != ""
	if !known {
		lang = text.LanguageOf(said)
	}
	if r, ok := state.RevisionOf(said, lang); ok {
		return &r
	}
	if !known && lang == "" {
		for _, l := range state.Languages() {
			if r, ok := state.RevisionOf(said, l); ok && r.Cues&state.Ends != 0 {
				return &r
			}
		}
	}
	return nil
}

// cutSpeaker parts what was said from the name of who said it; false where a text does not begin with a name.
func cutSpeaker(s string) (speaker, said string, ok bool) {
	speaker, said, ok = strings.Cut(s, ": ")
	speaker = strings.TrimSuffix(speaker, " said")
	return speaker, said, ok && len(speaker) <= memory.MaxID && len(strings.Fields(speaker)) <= 3
}

// relateForeign is Relate for two sentences of one speaker in another language than English.
func relateForeign(newer, older Reading) Relation {
	n, o := newer.Foreign, older.Foreign
	who, _, _ := cutSpeaker(newer.Text)
	if was, _, ok := cutSpeaker(older.Text); !ok || was != who {
		return Unrelated
	}
	if o != nil && o.Language == n.Language {
		return relateIn(n, o, newer, older)
	}
	if r := foreignOf(older.Text, n.Language); r != nil { // short sentences may be of two languages by their words
		if relation := relateIn(n, r, newer, older); relation != Unrelated {
			return relation
		}
	}
	if o != nil && !ofOthers(n) {
		if r := foreignOf(newer.Text, o.Language); r != nil {
			return relateIn(r, o, newer, older)
		}
	}
	return Unrelated
}

// deciding are the cues of which the newer sentence has one wherever it relates to an older one, unless one of the two denies
// something, or both say what something is.
const deciding = state.NoLonger | state.Stopped | state.Couple | state.Gone | state.CalledOff | state.Retimed | state.Moved | state.Lives |
	state.Quit | state.Works | state.Parted | state.News

// relateIn is relateForeign for two sentences that were read in one language. Both are in the first person as far as
// they tell of where somebody lives or works and whom with.
func relateIn(n, o *state.Revision, newer, older Reading) Relation {
	if len(n.Words) > longestValue || len(o.Words) > longestValue || n.Cues&state.Also != 0 {
		return Unrelated
	}
	has := func(r *state.Revision, c state.Cue) bool { return r.Cues&c != 0 }
	if !has(n, deciding) && n.Cues&o.Cues&state.Is == 0 && has(n, state.Denies) == has(o, state.Denies) || ofOthers(n) && !has(o, state.Another) {
		return Unrelated // as most pairs are: their words need not be compared
	}
	if ofOthers(n) && ofOthers(o) && slices.ContainsFunc(n.Words, func(w string) bool { return otherGender(w, o.Words) }) {
		return Unrelated
	}
	words, were := likings(n.Words), likings(o.Words)
	both, onlyNew, onlyOld := shared(words, were)
	if slices.Contains(words, liking) && slices.Contains(were, liking) {
		both-- // that both are about liking says nothing of what
	}
	stands := o.Cues&state.Ends == 0
	denied := has(o, state.Denies)
	switch {
	case has(n, state.NoLonger) && has(n, state.Has) && !has(o, state.Has) && onlyOld > 0: // "ich habe keinen Hund mehr", "ich mag Hunde"
	case has(n, state.NoLonger), has(n, state.Stopped):
		if stands && !denied && both > 0 && (onlyNew == 0 || onlyOld == 0) {
			return Correction
		}
	case stands && has(n, state.Denies) != denied && len(newer.Dates) > 0 && len(older.Dates) == 0 && !has(n, state.News): // what is not done on one day
	case stands && has(n, state.Denies) != denied && both > 0 && onlyNew == 0 && onlyOld == 0:
		if has(n, state.News|state.Again) {
			return Correction
		}
		return Contradiction
	}
	if has(o, state.Single) && has(n, state.Couple) && n.Cues&(state.Ends|state.Denies) == 0 {
		return Correction
	}
	if !stands || denied || has(n, state.Denies) && !has(n, state.NoLonger) {
		return Unrelated
	}
	switch {
	case has(n, state.Gone|state.CalledOff) && both > 0 && (onlyNew == 0 || onlyOld == 0):
		if has(o, state.Has) || has(n, state.CalledOff) {
			return Correction
		}
		return Contradiction
	case has(n, state.Retimed) && hasDigit(older.Text) && sharesThing(words, were, n.Language):
		return Correction
	case anyPerson[n.Language] && (ofOthers(n) != ofOthers(o) || ofOthers(n) && both == 0) && has(o, state.Lives|state.Works): // of two people
		return Unrelated
	case has(n, state.Moved) && has(o, state.Lives), has(n, state.Lives) && has(o, state.Lives) && has(n, state.News):
		return Correction
	case has(n, state.Quit) && has(o, state.Works) && (onlyNew == 0 || both > 0),
		has(n, state.Works) && has(o, state.Works) && has(n, state.News),
		has(n, state.Parted) && has(o, state.Couple) && (both > 0 || onlyNew == 0):
		if has(n, state.News) && !has(n, state.Quit|state.Parted) {
			return Contradiction
		}
		return Correction
	}
	return foreignValue(n, o, both, onlyNew, onlyOld)
}

// otherGender reports whether a list has a word in its other gender and not the word: "hermano", "hermana".
func otherGender(w string, list []string) bool {
	stem, ok := strings.CutSuffix(w, "o")
	other := stem + "a"
	if !ok {
		if stem, ok = strings.CutSuffix(w, "a"); !ok {
			return false
		}
		other = stem + "o"
	}
	return slices.Contains(list, other) && !slices.Contains(list, w)
}

// sharesThing reports whether two lists of words share one that is not of a date.
func sharesThing(a, b []string, lang text.Language) bool {
	return slices.ContainsFunc(a, func(w string) bool {
		if isNumber(w) || !slices.ContainsFunc(b, func(o string) bool { return state.Alike(w, o) }) {
			return false
		}
		return date.AskedIn(w, anyDay, string(lang)).From.IsZero()
	})
}

// anyDay is one from which a word that names a month or a day of the week has a date.
var anyDay = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)

// anyPerson are languages whose verbs of living and working are alike for the speaker and for others: "j'habite", "elle
// habite". Elsewhere the cues Lives and Works are of the first person.
var anyPerson = map[text.Language]bool{"fr": true, "sv": true, "zh": true, "ja": true, "ko": true}

// ofOthers reports whether a sentence tells what somebody else than its speaker does: "Der Hund meiner Nachbarin ist
// gestorben".
func ofOthers(r *state.Revision) bool {
	return r.Cues&state.Another != 0 && r.Cues&(state.Self|state.Parted) == 0
}

// foreignValue compares two sentences that describe one thing, or the actions of one speaker.
func foreignValue(n, o *state.Revision, both, onlyNew, onlyOld int) Relation {
	if both == 0 || onlyNew > 2 || onlyOld > 2 || onlyNew == 0 || onlyOld == 0 {
		return Unrelated
	}
	isNews := n.Cues&state.News != 0
	states := n.Cues&o.Cues&state.Is != 0
	numbers := slices.ContainsFunc(n.Words, isNumber) && slices.ContainsFunc(o.Words, isNumber)
	switch {
	case states && isNews && (numbers || onlyNew == 1 && onlyOld == 1):
		return Correction
	case isNews, states && numbers:
		return Contradiction
	}
	return Unrelated
}

func isNumber(w string) bool { return strings.ContainsFunc(w, unicode.IsNumber) }

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsNumber) }

// shared counts the words of two lists that are forms of one, and those that one list alone has.
func shared(a, b []string) (both, onlyA, onlyB int) {
	in := func(w string, list []string) bool {
		return slices.ContainsFunc(list, func(o string) bool { return state.Alike(w, o) })
	}
	for _, w := range a {
		if in(w, b) {
			both++
		} else {
			onlyA++
		}
	}
	for _, w := range b {
		if !in(w, a) {
			onlyB++
		}
	}
	return both, onlyA, onlyB
}

// denialAbroad finds the words and endings by which other languages than English deny. It may find one that denies
// nothing ("neu" for "ne"): two sentences of which one has none are then kept apart.
var denialAbroad = pattern.New(`(?i)(?:^|[^\pL])(?:nicht|kein\pL*|nie|niemals|ohne|nichts|niemand|no|nunca|jamás|sin|nada|tampoco|ne|pas|plus|jamais|sans|rien|aucune?|` +
	`non|mai|senza|niente|nessun\pL*|mica|não|nem|sem|jamais|niet|geen|nooit|zonder|niets|inte|ej|aldrig|ingen\pL*|inget|utan|ikke|aldri|uten|uden|nie|nigdy|bez|nic|` +
	`не|нет|никогда|ни|без|ничего|ні|немає|değil|yok|hiç|asla|ei|emme|ette|eivät|nem|nincs|soha|sem|nélkül|niciodată|fără|ne\pL{2,}|není|tidak|bukan|jangan|không|chưa|chẳng|` +
	`δεν|μην|ποτέ|χωρίς|לא|אין|בלי|لا|ليس|لم|لن|नहीं|मत|ไม่)(?:[^\pL]|$)` +
	`|\pL(?:m[ıiuü]yor|maz|mez|mam|mem)\pL*|不|没|沒|别|別|未|无|無|勿|ない|ません|なかっ|なく|ずに|안 |않|못|없|아니|ไม่`)

// deniesAbroad reports whether a sentence that stands as it was said in another language denies something.
func deniesAbroad(r Reading) bool { return r.is(deniedAbroad) }

var deniedAbroad = newQuestion(func(r Reading) bool {
	who, said, ok := strings.Cut(r.Text, ": ")
	return ok && !strings.HasSuffix(who, " said") && denialAbroad.MatchString(state.WithoutAnnotations(said))
})

// likingVerbs are the verbs of other languages by which somebody says that they like something: "j'adore" is taken back by
// "je n'aime plus".
var likingVerbs = text.NewWordSet(`mag magst mögen mochte liebe liebt lieben aime aimes aiment adore adorent adorais gusta gustan encanta encantan piace piacciono adoro amo gosto gosta ` +
	`adora adoramos hou houd houden gillar älskar elsker liker lubię lubi uwielbiam kocham люблю обожаю нравится нравятся seviyorum severim bayılıyorum`)

// liking stands for all of them.
const liking = "♥"

// likings returns the words of a sentence with one word for all verbs of liking.
func likings(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if likingVerbs.Has(w) {
			out[i] = liking
		}
	}
	return out
}
