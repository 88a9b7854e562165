package langchain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/langchain"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func connect(t *testing.T) *client.Client {
	t.Helper()
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"LOG": "fatal"}))
	c, err := client.Connect(t.Context(), client.Config{URL: l.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAModelIsToldOfAnotherConversation(t *testing.T) {
	t.Parallel()
	c := connect(t)
	script := &scriptedmodel.Script{}
	for range 3 {
		script.Answer("", "Noted.")
	}
	model := scriptedmodel.Start(t, script)
	llm, err := openai.New(openai.WithBaseURL(model.URL), openai.WithToken("none"), openai.WithModel("testmodel"))
	if err != nil {
		t.Fatal(err)
	}
	// What a chain does with its memory.
	ask := func(m *langchain.Memory, question string) {
		t.Helper()
		inputs := map[string]any{"input": question}
		known, err := m.LoadMemoryVariables(t.Context(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		text, err := llms.GenerateFromSinglePrompt(t.Context(), llm, known[m.GetMemoryKey(t.Context())].(string)+"\nHuman: "+question)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.SaveContext(t.Context(), inputs, map[string]any{"text": text}); err != nil {
			t.Fatal(err)
		}
	}
	talk := func(session memory.SessionID) *langchain.Memory {
		m, err := langchain.NewMemory(langchain.Config{Bank: "ann", Session: session, Speaker: "Ann"}, langchain.Deps{Client: c})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := talk("monday")
	for _, said := range []string{"My boat is called Marlin.", "My dog is called Tibbles."} {
		ask(m, said)
	}
	if err := m.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WaitSettled(t.Context(), "ann", nil); err != nil {
		t.Fatal(err)
	}
	ask(talk("tuesday"), "What is my boat called?")
	calls := model.Calls("")
	if asked := calls[len(calls)-1].User; !strings.Contains(asked, "Marlin") || !strings.Contains(asked, "<memory>") {
		t.Errorf("the model was asked %s", asked)
	}
	h, err := langchain.NewHistory(langchain.Config{Bank: "ann", Session: "monday"}, langchain.Deps{Client: c})
	if err != nil {
		t.Fatal(err)
	}
	if messages, err := h.Messages(t.Context()); err != nil || len(messages) != 4 || messages[0].GetContent() != "My boat is called Marlin." || messages[1].GetType() != llms.ChatMessageTypeAI {
		t.Errorf("%+v, %v", messages, err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	c := connect(t)
	h, err := langchain.NewHistory(langchain.Config{Bank: "ann", Session: "s"}, langchain.Deps{Client: c})
	if err != nil {
		t.Fatal(err)
	}
	texts := func(want ...string) {
		t.Helper()
		messages, err := h.Messages(t.Context())
		var got []string
		for _, m := range messages {
			got = append(got, string(m.GetType())+" "+m.GetContent())
		}
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q, %v; expected %q", got, err, want)
		}
	}
	texts()
	if err := errors.Join(h.AddUserMessage(t.Context(), "Hello"), h.AddAIMessage(t.Context(), "Hi"), h.AddMessage(t.Context(), llms.SystemChatMessage{Content: "Be kind."})); err != nil {
		t.Fatal(err)
	}
	texts("human Hello", "ai Hi", "system Be kind.")
	if err := h.SetMessages(t.Context(), []llms.ChatMessage{llms.ToolChatMessage{Content: "7"}, llms.GenericChatMessage{Role: "user", Name: "Bo", Content: "Seven"}}); err != nil {
		t.Fatal(err)
	}
	texts("tool 7", "human Seven")
	if err := h.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	texts()
	if s, err := c.WaitSettled(t.Context(), "ann", nil); err != nil || s.Conservation.Published != 5 {
		t.Errorf("the bank holds %+v, %v", s.Conservation, err)
	}
}

func TestWhatIsNoConfiguration(t *testing.T) {
	t.Parallel()
	for _, c := range []langchain.Config{{Session: "s"}, {Bank: "b"}, {Bank: "b", Session: "s", Tokens: -1}} {
		if _, err := langchain.NewMemory(c, langchain.Deps{}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	m, err := langchain.NewMemory(langchain.Config{Bank: "b", Session: "s", Input: "said"}, langchain.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.LoadMemoryVariables(context.Background(), map[string]any{"asked": "x"}); err == nil || !strings.Contains(err.Error(), "said") {
		t.Errorf("an input that is missing: %v", err)
	}
}
