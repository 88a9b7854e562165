package memory

import "unicode/utf8"

// Truncate returns at most the first n bytes of s, without a part of a character at the end.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
