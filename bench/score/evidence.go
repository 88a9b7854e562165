package score

import (
	"regexp"
	"slices"
	"strconv"
)

var (
	turnID    = regexp.MustCompile(`D\s*:?\s*(\d+)\s*:\s*(\d+)`)
	turnRange = regexp.MustCompile(`D\s*:?\s*(\d+)\s*:\s*(\d+)\s*-\s*D\s*:?\s*(\d+)\s*:\s*(\d+)`)
)

// longestRange bounds the turns that one range label may stand for.
const longestRange = 60

// CleanEvidence reads the ids of turns out of evidence labels as they are written: several in one string, a stray
// colon, zero padding, ranges within one session. Each id is returned once, and only if it is in valid, unless valid is
// nil.
func CleanEvidence(labels []string, valid map[string]bool) []string {
	var out []string
	add := func(session, turn int) {
		id := "D" + strconv.Itoa(session) + ":" + strconv.Itoa(turn)
		if (valid == nil || valid[id]) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, label := range labels {
		for _, m := range turnRange.FindAllStringSubmatch(label, -1) {
			session, first, sameSession, last := number(m[1]), number(m[2]), number(m[3]), number(m[4])
			if session != sameSession || last > first+longestRange {
				continue
			}
			for i := first; i <= last; i++ {
				add(session, i)
			}
		}
		for _, m := range turnID.FindAllStringSubmatch(turnRange.ReplaceAllString(label, " "), -1) {
			add(number(m[1]), number(m[2]))
		}
	}
	return out
}

// number returns -1 for digits that are too large for an int.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}
