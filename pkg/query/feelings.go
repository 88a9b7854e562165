package query

import "github.com/eunoe-memory/eunoe/pkg/analysis"

// feelingWords are the words by which an item speaks of feelings.
var feelingWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range []string{"afraid", "amazed", "angry", "annoyed", "anxious", "ashamed", "bored", "calm", "cheerful", "content", "crushed",
		"delighted", "depressed", "devastated", "disappointed", "embarrassed", "enjoy", "enjoys", "enjoyed", "excited", "exhausted", "fear", "fears", "frustrated",
		"furious", "glad", "grateful", "grief", "guilty", "happy", "hate", "hates", "hated", "heartbroken", "hope", "hopes", "hopeful", "hurt", "jealous", "joy",
		"lonely", "love", "loves", "loved", "mad", "miss", "misses", "missed", "nervous", "overwhelmed", "proud", "relaxed", "relieved", "sad", "scared",
		"shocked", "stressed", "surprised", "tense", "terrified", "thankful", "thrilled", "tired", "touched", "upset", "worried", "worries", "worry"} {
		set[w] = true
	}
	return set
}()

// feels reports whether a text speaks of feelings.
func feels(text string) bool {
	for _, t := range analysis.Terms(text) {
		if feelingWords[t.Text] {
			return true
		}
	}
	return false
}
