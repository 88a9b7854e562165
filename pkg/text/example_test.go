package text_test

import (
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

func ExampleTerms() {
	for _, t := range text.Terms("Carla adopted 2 cats.") {
		fmt.Printf("%-8s %-6s name=%-5t number=%t\n", t.Text, t.Stem, t.Name, t.Number)
	}
	// Output:
	// carla    carla  name=true  number=false
	// adopted  adopt  name=false number=false
	// 2        2      name=false number=true
	// cats     cat    name=false number=false
}

func ExampleContentStems() {
	fmt.Println(strings.Join(text.ContentStems("What was she painting in the paintings of Lisbon?"), " "))
	// Output: paint lisbon
}

func ExampleSentences() {
	for _, s := range text.Sentences("Dr. Chen called at 3.5 past! 🎉 I'm so happy\nMore soon...") {
		fmt.Println(s)
	}
	// Output:
	// Dr. Chen called at 3.5 past! 🎉
	// I'm so happy
	// More soon...
}

func ExampleBaseForm() {
	base, ok := text.BaseForm("bought")
	fmt.Println(base, ok)
	// Output: buy true
}
