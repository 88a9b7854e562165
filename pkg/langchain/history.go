package langchain

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// History is the messages of a session. It is safe for concurrent use.
type History struct {
	client  *client.Client
	bank    memory.BankID
	speaker string

	mu      sync.Mutex
	session memory.SessionID
	last    uint64 // sequence of the last message from here
}

var _ schema.ChatMessageHistory = (*History)(nil)

// NewHistory returns the History of a session. Of the configuration it uses Bank, Session and Speaker.
func NewHistory(cfg Config, deps Deps) (*History, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("langchain configuration: %w", err)
	}
	return &History{client: deps.Client, bank: cfg.Bank, speaker: cfg.Speaker, session: cfg.Session}, nil
}

func (h *History) publish(ctx context.Context, m memory.Message) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	seq, err := h.client.Publish(ctx, h.bank, h.session, m)
	if err == nil {
		h.last = seq
	}
	return err
}

// AddMessage implements schema.ChatMessageHistory.
func (h *History) AddMessage(ctx context.Context, message llms.ChatMessage) error {
	m := memory.Message{Role: roleOf(message.GetType()), Content: message.GetContent()}
	if m.Role == memory.RoleUser {
		m.Speaker = h.speaker
	}
	if named, ok := message.(llms.Named); ok && named.GetName() != "" {
		m.Speaker = named.GetName()
	}
	return h.publish(ctx, m)
}

// AddUserMessage implements schema.ChatMessageHistory.
func (h *History) AddUserMessage(ctx context.Context, text string) error {
	return h.AddMessage(ctx, llms.HumanChatMessage{Content: text})
}

// AddAIMessage implements schema.ChatMessageHistory.
func (h *History) AddAIMessage(ctx context.Context, text string) error {
	return h.AddMessage(ctx, llms.AIChatMessage{Content: text})
}

// Clear implements schema.ChatMessageHistory: the session ends and one with another name begins. The bank keeps what was
// said, and a History that is made anew with the first name has it.
func (h *History) Clear(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last > 0 {
		if _, err := h.client.Flush(ctx, h.bank, h.session); err != nil {
			return err
		}
	}
	h.session, h.last = memory.SessionID("langchain:"+uuid.NewString()), 0
	return nil
}

// Messages implements schema.ChatMessageHistory: the messages of the session, oldest first, those that were added here
// among them.
func (h *History) Messages(ctx context.Context) ([]llms.ChatMessage, error) {
	h.mu.Lock()
	session, last := h.session, h.last
	h.mu.Unlock()
	if last > 0 { // a list does not wait for what was published, a recall does
		one := 1
		if _, err := h.client.Recall(ctx, h.bank, wire.RecallRequest{Query: string(session), MaxFacts: &one, After: last}); err != nil {
			return nil, fmt.Errorf("wait for the messages: %w", err)
		}
	}
	var out []llms.ChatMessage
	for i, err := range h.client.All(ctx, h.bank, wire.ListRequest{Record: memory.RecordMessage, Order: "oldest", Filter: memory.Filter{Session: session}}) {
		if errors.Is(err, memory.ErrNotFound) {
			return nil, nil // nobody said anything yet
		}
		if err != nil {
			return nil, err
		}
		out = append(out, chatMessage(i))
	}
	return out, nil
}

// SetMessages implements schema.ChatMessageHistory: Clear, and then AddMessage for each.
func (h *History) SetMessages(ctx context.Context, messages []llms.ChatMessage) error {
	if err := h.Clear(ctx); err != nil {
		return err
	}
	for _, m := range messages {
		if err := h.AddMessage(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// roleOf returns the role of a type of message.
func roleOf(t llms.ChatMessageType) memory.Role {
	switch t {
	case llms.ChatMessageTypeAI:
		return memory.RoleAssistant
	case llms.ChatMessageTypeSystem:
		return memory.RoleSystem
	case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
		return memory.RoleTool
	}
	return memory.RoleUser
}

// chatMessage returns a message of the bank as langchaingo has it.
func chatMessage(i memory.Item) llms.ChatMessage {
	switch i.Role {
	case memory.RoleAssistant:
		return llms.AIChatMessage{Content: i.Text}
	case memory.RoleSystem:
		return llms.SystemChatMessage{Content: i.Text}
	case memory.RoleTool:
		return llms.ToolChatMessage{Content: i.Text}
	}
	return llms.HumanChatMessage{Content: i.Text}
}
