package rules_test

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func ExampleExtractor() {
	said := time.Date(2023, time.May, 8, 13, 0, 0, 0, time.UTC)
	drafts, err := rules.New().Extract(context.Background(), extract.Input{New: []memory.Message{
		{ID: "m1", Speaker: "Ana", Role: memory.RoleUser, Time: said, Content: "Hey! I moved to Lisbon last week. Thanks so much!"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range drafts {
		fmt.Println(d.Text)
		fmt.Println(d.Type, d.State.Subject, d.State.Attribute, d.State.Value)
	}
	// Output:
	// Ana moved to Lisbon last week (1 to 7 May 2023).
	// event person:ana residence lisbon
}
