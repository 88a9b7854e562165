package rules

import "strings"

// together reports whether a sentence says whom "we" means: "my wife and I", "me and Bob" before the first form of it.
// Elsewhere who is meant besides the speaker is not known, and the sentence stays as it was said.
func together(ps []piece) bool {
	for i := range ps {
		switch base, _, _ := strings.Cut(ps[i].low, "'"); base {
		case "we", "us", "our", "ours", "ourselves":
			return false
		case "i", "me":
			if k := before(ps, i); k >= 0 && ps[k].low == "and" && before(ps, k) >= 0 && compound(ps, k) {
				return true
			}
			if j := next(ps, i+1); base == "me" && j < len(ps) && ps[j].low == "and" && spaces(ps, i, j) && before(ps, i) < 0 {
				return true
			}
		}
	}
	return false
}

// singular returns a sentence about "we" as one about "I", for the state that it gives the speaker.
func singular(ps []piece) []piece {
	out := append([]piece(nil), ps...)
	for i := range out {
		base, rest, _ := strings.Cut(out[i].low, "'")
		to := map[string]string{"we": "I", "us": "me", "our": "my", "ours": "mine", "ourselves": "myself"}[base]
		if to == "" {
			continue
		}
		if rest == "re" {
			rest = "m"
		}
		if rest != "" {
			to += "'" + rest
		}
		out[i] = piece{text: to, low: strings.ToLower(to)}
		if j := next(out, i+1); base == "we" && j < len(out) && spaces(out, i, j) {
			if be := map[string]string{"are": "am", "were": "was", "aren't": "am not", "weren't": "wasn't"}[out[j].low]; be != "" {
				out[j] = piece{text: be, low: be}
			}
		}
	}
	return out
}
