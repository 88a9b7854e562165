package rank

import "github.com/kljensen/snowball/english"

// stem returns the term of a folded word: its dictionary form if the word is irregular ("bought" is "buy"), its English
// stem if it is all ASCII letters, else the word itself.
func stem(fold string) string {
	if base, ok := irregular[fold]; ok {
		fold = base
	}
	if len(fold) < 3 {
		return fold
	}
	for i := 0; i < len(fold); i++ {
		if fold[i] < 'a' || fold[i] > 'z' {
			return fold
		}
	}
	return english.Stem(fold, true)
}

// termOf returns the term of a word: its stem, or its characters where the script has no spaces.
func termOf(w word) string {
	if w.cjk {
		return string(w.fold)
	}
	return stem(string(w.fold))
}
