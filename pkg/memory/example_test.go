package memory_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Ids are parsed where they come in, and hashed from what they name: the same statement has one id.
func ExampleNewFactID() {
	bank, err := memory.ParseBankID("team-7")
	if err != nil {
		panic(err)
	}
	a := memory.NewFactID(bank, "Alice lives in  Lisbon.", memory.KindWorld)
	b := memory.NewFactID(bank, "alice lives in Lisbon", memory.KindWorld)
	fmt.Println(a == b)
	fmt.Println(memory.NewEntityID(memory.EntityPerson, " Alice  B."))
	// Output:
	// true
	// person:alice b.
}

// Times of events are in UTC, to the microsecond; a time without a zone is refused.
func ExampleParseTime() {
	t, err := memory.ParseTime("said", "2026-05-20T11:14:00.1234567+02:00")
	fmt.Println(t.Format(time.RFC3339Nano), err)
	_, err = memory.ParseTime("said", "2026-05-20 11:14")
	fmt.Println(errors.Is(err, memory.ErrInvalid))
	// Output:
	// 2026-05-20T09:14:00.123456Z <nil>
	// true
}

// A fact is valid in a list of intervals. It is live while the last one is open.
func ExampleFact_ValidAt() {
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	until := year(2021)
	paris := memory.Fact{Text: "Alice lives in Paris.", Valid: []memory.Interval{{From: year(2019), To: &until}, {From: year(2024)}}}
	fmt.Println(paris.ValidAt(year(2020)), paris.ValidAt(year(2022)), paris.ValidAt(year(2025)))
	fmt.Println(paris.Live())
	// Output:
	// true false true
	// true
}

// An error names the field, keeps its meaning, and maps to a code on the wire.
func ExampleCode() {
	err := memory.Disposition{Skepticism: 9, Literalism: 3, Empathy: 3}.Validate()
	var field *memory.FieldError
	fmt.Println(err)
	fmt.Println(errors.As(err, &field), field.Field, memory.Code(err))
	fmt.Println(errors.Is(memory.FromCode(404), memory.ErrNotFound))
	// Output:
	// disposition.skepticism: is 9; expected 1 to 5
	// true disposition.skepticism 400
	// true
}
