package rank

import "strings"

// cue is what a word tells about a message besides being a term. Cues combine by OR.
type cue uint8

const (
	cueFirstPerson cue = 1 << iota // I, my, we: the speaker tells about themselves
	cueTime                        // says when: yesterday, week, friday, march, ago
	cueAdverb                      // stands between I and its verb: just, also, finally
)

// cues maps a folded word to its cues. Words of other languages are absent and carry none.
var cues = lexicon(map[cue]string{
	cueFirstPerson: "i im ive id ill my mine me myself we our ours us ourselves",
	cueTime: `yesterday today tonight tomorrow ago last next week weekend month year morning afternoon evening night
		day days weeks weekends months years recently since soon lately just monday tuesday wednesday thursday friday
		saturday sunday january february march april may june july august september october november december
		jan feb mar apr jun jul aug sept sep oct nov dec spring summer fall autumn winter christmas thanksgiving
		halloween easter birthday anniversary earlier later coming upcoming`,
	cueAdverb: "just also recently finally actually already even really had have ve then once",
})

func lexicon(lists map[cue]string) map[string]cue {
	all := make(map[string]cue, 256)
	for c, list := range lists {
		for _, w := range strings.Fields(list) {
			all[w] |= c
		}
	}
	return all
}

// stopwords are the folded words that are never terms: they stand in most questions and say nothing about the answer. Beyond
// the usual list are what is left of contractions at the apostrophe, and contractions typed without one.
var stopwords = set(`a an the and or but if then than so as of at by for with about into through to from in on off over under
	up down out again once here there all any both each few more most other some such no nor not only own same too very can
	will just don should now am is are was were be been being have has had having do does did doing would could might must
	shall may i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
	it its itself they them their theirs themselves what which who whom whose this that these those when where why how
	s t d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn weren won
	wouldn while during before after because until against between further also many much
	im ive id dont didnt doesnt isnt cant`)

func set(list string) map[string]bool {
	s := make(map[string]bool, 256)
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}
