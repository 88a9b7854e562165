package chatexport_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/chatexport"
)

// A conversation of a Claude export becomes lines that `eunoe import` reads.
func ExampleConvert() {
	export := `[{"uuid":"c1","name":"Bees","chat_messages":[
		{"uuid":"m1","sender":"human","text":"I keep bees.","created_at":"2026-04-01T08:00:00Z"}]}]`
	report, err := chatexport.Convert(context.Background(), strings.NewReader(export), int64(len(export)),
		chatexport.Options{Speaker: "Ines"}, os.Stdout)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Format, report.Conversations, report.Messages)
	// Output:
	// {"session":"claude:c1","id":"claude:c1:m1","role":"user","speaker":"Ines","content":"I keep bees.","time":"2026-04-01T08:00:00Z"}
	// {"session":"claude:c1","flush":true}
	// claude 1 1
}
