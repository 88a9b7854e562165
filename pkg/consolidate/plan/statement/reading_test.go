package statement_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
)

// BenchmarkRead reads facts of a kind that consolidation meets most: few of them tell a change.
func BenchmarkRead(b *testing.B) {
	facts := []string{
		"Farah rides her bicycle to the harbour every Thursday.",
		"Joost's grandmother taught him to bake rye bread with caraway seeds when he was nine.",
		"Ines said: The workshop on letterpress printing was fully booked, so I joined the waiting list.",
		"Malik plans to paint the hallway yellow before his parents visit on 14 May 2024.",
		"Sofie quit the rowing club because of her shoulder.",
		"Teun and Lotte adopted a greyhound named Pebble from the shelter in Arnhem.",
	}
	for i := 0; b.Loop(); i++ {
		statement.Read(facts[i%len(facts)], nil)
	}
}
