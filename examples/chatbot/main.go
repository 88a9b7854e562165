// Command chatbot is the smallest bot with a memory. It recalls before it answers, and marks what it repeats from
// memory, so that nothing is extracted from its own words again. Run `eunoe up` first; each line you type is a message.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func main() {
	ctx := context.Background()
	// What is left empty has its default: the broker of `eunoe up` on this machine, and no credentials.
	c, err := client.Connect(ctx, client.Config{URL: os.Getenv("EUNOE_URL"), Creds: os.Getenv("EUNOE_CREDS")})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // every publish was acknowledged
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		found, err := c.Recall(ctx, "chatbot", wire.RecallRequest{Query: in.Text()})
		if err != nil && memory.Code(err) != 404 { // 404: nothing was ever said to it
			log.Fatal(err)
		}
		answer := memory.Message{Role: memory.RoleAssistant, Content: "I see. Tell me more."}
		if len(found.Items) > 0 { // here a bot would ask its model, with the items in the prompt
			answer.Content, answer.Recalled = "I remember: "+found.Items[0].Text, true
		}
		fmt.Println(answer.Content)
		for _, m := range []memory.Message{{Speaker: "Ana", Content: in.Text()}, answer} {
			if _, err := c.Publish(ctx, "chatbot", "terminal", m); err != nil {
				log.Print(err)
			}
		}
	}
	if _, err := c.Flush(ctx, "chatbot", "terminal"); err != nil { // the conversation ends here
		log.Fatal(err)
	}
}
