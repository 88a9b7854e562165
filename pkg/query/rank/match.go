package rank

// Forms gives the words an index that stems by itself is asked for a term: the
// word of the question and the irregular forms of the same word; for Chinese,
// Japanese and Korean the characters. They hold letters and digits alone.
func (t Term) Forms() []string {
	if t.CJK {
		return []string{t.Stem}
	}
	return appendNew([]string{t.Word}, formsOf[t.Stem]...)
}
