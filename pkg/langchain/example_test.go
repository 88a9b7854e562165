package langchain_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tmc/langchaingo/schema"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/langchain"
)

// A memory for a chain: chains.NewConversation(llm, memory). `eunoe up` must run.
func ExampleNewMemory() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the program ends
	var memory schema.Memory
	memory, err = langchain.NewMemory(langchain.Config{Bank: "alice", Session: "chat", Speaker: "Alice"}, langchain.Deps{Client: c})
	if err != nil {
		log.Fatal(err)
	}
	known, err := memory.LoadMemoryVariables(ctx, map[string]any{"input": "What am I allergic to?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(known["history"])
}
