package date_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

func ExampleFind() {
	said := time.Date(2023, time.May, 8, 13, 0, 0, 0, time.UTC) // a Monday
	for _, d := range date.Find("I ran last Friday. I'll fly in December.", said, "") {
		fmt.Printf("%s: %s\n", d.Text, d)
	}
	// Output:
	// last Friday: 5 May 2023
	// December: December 2023
}

func ExampleAnnotate() {
	said := time.Date(2023, time.May, 8, 13, 0, 0, 0, time.UTC)
	s := "We met yesterday."
	fmt.Println(date.Annotate(s, date.Find(s, said, "")))
	// Output: We met yesterday (7 May 2023).
}

func ExampleAsked() {
	now := time.Date(2024, time.January, 10, 0, 0, 0, 0, time.UTC)
	r := date.Asked(strings.Fields("what did anna do in august"), now)
	fmt.Println(r.From.Format(time.DateOnly), r.To.Format(time.DateOnly))
	// Output: 2023-08-01 2023-09-01
}

func ExampleAskedIn() {
	now := time.Date(2025, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, question := range []string{"Was habe ich im November gekauft?", "我八月去了哪里？", "¿Qué hago mañana?"} {
		fmt.Println(date.AskedIn(question, now, "").From.Format(time.DateOnly))
	}
	// Output:
	// 2024-11-01
	// 2024-08-01
	// 2025-03-03
}
