package llm_test

import (
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract/llm"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The model names messages by their numbers; the draft names them by their ids.
func ExampleParse() {
	said := []memory.Message{{ID: "m1", Role: memory.RoleUser, Speaker: "Ana", Content: "I moved to Porto last Friday!"}}
	parsed, err := llm.Parse(`{"facts":[{"s":[1],"f":"Ana moved to Porto.","y":"event","e":["place:Porto"]},{"s":[7],"f":"Bo left."}]}`, said)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(parsed.Drafts[0].Text, parsed.Drafts[0].Sources)
	fmt.Println(parsed.Drafts[1].Refused)
	// Output:
	// Ana moved to Porto. [m1]
	// rests on message 7; the new messages are 1 to 1
}

func ExampleParseSpan() {
	said := time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC) // a Monday
	for _, s := range []string{"2023-05", "2023-05-01/2023-05-07", "last Friday"} {
		span := llm.ParseSpan(s, said)
		fmt.Println(span.From.Format(time.DateOnly), span.To.Format(time.DateOnly))
	}
	// Output:
	// 2023-05-01 2023-05-31
	// 2023-05-01 2023-05-07
	// 2023-05-05 2023-05-05
}
