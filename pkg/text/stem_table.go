package text

import "strings"

// ending is a suffix and what takes its place.
type ending struct{ ending, with string }

// step holds the endings of a step of Porter2 in the order in which they are tried.
type step struct {
	endings []ending
	finals  uint32 // the last letters of the endings, a bit each, modulo 32
}

// endings reads a list of "ending:replacement". An ending without a colon is dropped.
func endings(list string) step {
	var out step
	for f := range strings.FieldsSeq(list) {
		e, with, _ := strings.Cut(f, ":")
		out.endings = append(out.endings, ending{e, with})
		out.finals |= 1 << (e[len(e)-1] & 31)
	}
	return out
}

// The steps. Where one ending is the end of another, the longer one comes first.
var (
	possessives    = endings(`'s' 's '`)
	plurals        = endings(`sses:ss ied ies us:us ss:ss s`)
	participles    = endings(`eedly:ee ingly edly ing eed:ee ed`)
	participleEnds = endings(`at:ate bl:ble iz:ize bb dd ff gg mm nn pp rr tt`)
	derivations    = endings(`ational:ate fulness:ful iveness:ive ization:ize ousness:ous biliti:ble lessli:less tional:tion
		alism:al aliti:al ation:ate entli:ent fulli:ful iviti:ive ousli:ous anci:ance abli:able alli:al ator:ate enci:ence
		izer:ize bli:ble ogi:og li`)
	secondDerivations = endings(`ational:ate tional:tion alize:al icate:ic ative iciti:ic ical:ic ful ness`)
	residues          = endings(`ement ance ence able ible ment ent ant ism ate iti ous ive ize ion al er ic`)
)

// stemExceptions are the words that Porter2 stems by a list.
var stemExceptions = func() map[string]string {
	m := make(map[string]string)
	for f := range strings.FieldsSeq(`skis:ski skies:sky dying:die lying:lie tying:tie idly:idl gently:gentl ugly:ugli early:earli
		only:onli singly:singl sky news howe atlas cosmos bias andes inning innings:inning outing outings:outing canning
		cannings:canning herring herrings:herring earring earrings:earring proceed proceeds:proceed proceeded:proceed
		proceeding:proceed exceed exceeds:exceed exceeded:exceed exceeding:exceed succeed succeeds:succeed
		succeeded:succeed succeeding:succeed`) {
		word, stem, given := strings.Cut(f, ":")
		if !given {
			stem = word
		}
		m[word] = stem
	}
	return m
}()
