package extract_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// An extractor of one's own is a function from a window to drafts. Given to NewWorker it is a whole extraction stage.
func ExampleFunc() {
	loud := extract.Func{ID: "loud/1", Do: func(_ context.Context, in extract.Input) (drafts []extract.Draft, err error) {
		for _, m := range in.New {
			if strings.HasSuffix(m.Content, "!") {
				drafts = append(drafts, extract.Draft{Text: m.Speaker + " shouted: " + m.Content, Sources: []memory.MessageID{m.ID}})
			}
		}
		return drafts, nil
	}}
	// worker, err := extract.NewWorker(extract.DefaultConfig(), extract.Deps{Conn: conn, Extractor: loud})
	// err = worker.Run(ctx)

	drafts, _ := loud.Extract(context.Background(), extract.Input{New: []memory.Message{
		{ID: "m1", Speaker: "Alice", Content: "Hello"}, {ID: "m2", Speaker: "Bob", Content: "Watch out!"}}})
	for _, d := range drafts {
		fmt.Println(d.Text, d.Sources)
	}
	// Output: Bob shouted: Watch out! [m2]
}
