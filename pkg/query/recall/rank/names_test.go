package rank_test

import (
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// A misspelt name names its bearer, another name does not.
func TestMisspeltNamesOfSpeakers(t *testing.T) {
	t.Parallel()
	speakers := []string{"Henrietta Voss", "Tobias", "Joanna"}
	for _, c := range []struct {
		question string
		named    []string
	}{
		{"What does Henrieta collect?", []string{"Henrietta Voss"}},
		{"where did tobais park", []string{"Tobias"}},
		{"Has Tobiass called?", []string{"Tobias"}},
		{"Has Johanna called?", nil},
		{"Which tobacco is it?", nil},
	} {
		if got := rank.ParseQuestion(c.question, time.Unix(0, 0), speakers).Speakers; !slices.Equal(got, c.named) {
			t.Errorf("%s names %q; expected %q", c.question, got, c.named)
		}
	}
}
