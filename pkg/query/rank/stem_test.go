package rank

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Words are left unread by how they begin, so a stem has to begin as its words do.
func TestAStemBeginsAsItsWordsDo(t *testing.T) {
	var unread []string
	try := func(w string) {
		r := newReader(Question{Terms: []Term{{Stem: stem(w), Word: stem(w)}}}, 0, 0)
		if !r.mayBe([]byte(w)) {
			unread = append(unread, w)
		}
	}
	letters := "abcdefghijklmnopqrstuvwxyz"
	for _, a := range letters {
		for _, b := range letters {
			for _, end := range []string{"", "s", "y", "ed", "ing", "ly", "ies", "er", "ion"} {
				try(string(a) + string(b) + end)
				for _, c := range letters {
					try(string(a) + string(b) + string(c) + end)
				}
			}
		}
	}
	if diff := cmp.Diff([]string(nil), unread); diff != "" {
		t.Errorf("words that are never read as their own stem:\n%s", diff)
	}
}
