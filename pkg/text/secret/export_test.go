package secret

// RedactWhole is Redact where every rule reads all of the text.
func RedactWhole(text string) string {
	rules := builtinRules()
	for i := range rules {
		rules[i].whole = true
	}
	return (&Redactor{rules: rules}).Redact(text)
}

// ReadByExpressions is how many bytes of a text the regular expressions of all rules read together.
func ReadByExpressions(text string) int {
	n := 0
	lower := lowered(text)
	for _, r := range builtinRules() {
		if len(r.words) > 0 {
			if r.words = gramsOf(lower).held(lower, r.words); len(r.words) == 0 {
				continue
			}
		}
		for _, p := range r.parts(text, lower) {
			n += p.to - p.from
		}
	}
	return n
}
