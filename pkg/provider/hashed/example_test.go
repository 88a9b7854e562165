package hashed_test

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

func ExampleEmbedder_Embed() {
	vectors, err := hashed.New().Embed(context.Background(), []string{
		"Alice lives in Lisbon.", "Alice is living in Lisbon", "Bob bought a red bicycle.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(memory.Cosine(vectors[0], vectors[1]) > 0.85, memory.Cosine(vectors[0], vectors[2]) > 0.3)
	// Output: true false
}
