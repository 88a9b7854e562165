package statement_test

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
)

func ExampleSame() {
	stored := statement.Read("Alice adopted a small brown dog.", nil)
	for _, text := range []string{"Alice adopted a brown dog.", "Alice adopted two brown dogs.", "Alice did not adopt a brown dog."} {
		fmt.Println(statement.Same(statement.Read(text, nil), stored))
	}
	// Output:
	// true
	// false
	// false
}

func ExampleRelate() {
	older := statement.Read("Alice eats meat.", nil)
	for _, text := range []string{"Alice no longer eats meat.", "Alice does not eat meat.", "Alice eats fish."} {
		switch statement.Relate(statement.Read(text, nil), older) {
		case statement.Correction:
			fmt.Println("a correction")
		case statement.Contradiction:
			fmt.Println("a contradiction")
		case statement.Unrelated:
			fmt.Println("both may hold")
		}
	}
	// Output:
	// a correction
	// a contradiction
	// both may hold
}
