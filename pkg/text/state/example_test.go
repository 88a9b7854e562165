package state_test

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

func ExampleStatements() {
	for _, s := range []string{"Alice now lives in Lisbon.", "Bob no longer works at Acme.", "Bob's favorite color is blue."} {
		for st := range state.Statements(s) {
			fmt.Printf("%s | %s | %s\n", st.Subject, state.Attribute(st.Attribute), st.Value)
		}
	}
	// Output:
	// Alice | residence | lisbon
	// Bob | employer | not acme
	// Bob | favourite color | blue
}

func ExampleAsked() {
	fmt.Println(state.Asked("Where does Alice live?", []string{"age", "employer", "residence"}))
	// Output: [residence]
}
