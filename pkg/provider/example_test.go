package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

// A language model by its name and address. The server here speaks OpenAI's protocol and stands for a real one.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Lisbon"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":12,"completion_tokens":1}}`)
	}))
	defer server.Close()
	config := provider.DefaultConfig()
	config.Stages = map[string]provider.Model{memory.StageReflect: {Name: "openai:my-model", URL: server.URL + "/v1"}}
	models, err := provider.New(config, provider.Deps{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer models.Close()
	answer, err := models.Language(memory.StageReflect).Complete(context.Background(), memory.Prompt{User: "Where does Ana live?"})
	fmt.Println(answer.Text, answer.Usage.Tokens(), err)
	// Output: Lisbon 13 <nil>
}

// A name is provider and model.
func ExampleSplit() {
	name, model, err := provider.Split("ollama:llama3.1:8b")
	fmt.Println(name, model, err)
	_, _, err = provider.Split("gpt-4o-mini")
	fmt.Println(err != nil)
	// Output:
	// ollama llama3.1:8b <nil>
	// true
}

// A key never appears in text.
func ExampleKey() {
	fmt.Printf("%v\n", provider.Model{Name: "openai:gpt-4o-mini", Key: "sk-very-secret"})
	// Output: {openai:gpt-4o-mini  (set)}
}
