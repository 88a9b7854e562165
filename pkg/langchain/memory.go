// Package langchain is Eunoe for programs built on langchaingo: Memory is a schema.Memory for chains and agents, History a
// schema.ChatMessageHistory. Both keep what is said in a session of a bank, over a connection of package client.
package langchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	lcmemory "github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Config says whose memory it is.
type Config struct {
	Bank    memory.BankID
	Session memory.SessionID
	Speaker string // who the user is; "" = the role
	Key     string // the variable of the prompt that memory fills; "" = "history"
	Input   string // the input that the user says; "" = the only one
	Output  string // the output that the assistant says; "" = the only one
	Tokens  int    // of memory in a prompt, about; 0 = 1000
}

// Validate returns an error that names the wrong field.
func (c Config) Validate() error {
	_, bank := memory.ParseBankID(string(c.Bank))
	_, session := memory.ParseSessionID(string(c.Session))
	var tokens error
	if c.Tokens < 0 {
		tokens = memory.Invalid("tokens", "is %d; it must not be negative", c.Tokens)
	}
	return errors.Join(bank, session, tokens)
}

// Deps holds the collaborators.
type Deps struct {
	Client *client.Client // the caller closes it
}

// Memory fills a variable of a prompt with what memory holds on the input, and keeps input and output. It is safe for
// concurrent use.
type Memory struct {
	cfg     Config
	history *History

	mu     sync.Mutex
	filled bool // what was loaded last held something
}

var _ schema.Memory = (*Memory)(nil)

// NewMemory returns a Memory.
func NewMemory(cfg Config, deps Deps) (*Memory, error) {
	h, err := NewHistory(cfg, deps)
	if err != nil {
		return nil, err
	}
	cfg.Key, cfg.Tokens = cmp.Or(cfg.Key, "history"), cmp.Or(cfg.Tokens, 1000)
	return &Memory{cfg: cfg, history: h}, nil
}

// GetMemoryKey implements schema.Memory.
func (m *Memory) GetMemoryKey(context.Context) string { return m.cfg.Key }

// MemoryVariables implements schema.Memory.
func (m *Memory) MemoryVariables(context.Context) []string { return []string{m.cfg.Key} }

// LoadMemoryVariables implements schema.Memory: it recalls with the input. What was found is fenced and told to be data;
// the text is empty where nothing was.
func (m *Memory) LoadMemoryVariables(ctx context.Context, inputs map[string]any) (map[string]any, error) {
	query, err := lcmemory.GetInputValue(inputs, m.cfg.Input)
	if err != nil {
		return nil, err
	}
	r, err := m.history.client.Recall(ctx, m.cfg.Bank, wire.RecallRequest{Query: query, MaxTokens: &m.cfg.Tokens})
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return nil, fmt.Errorf("recall: %w", err)
	}
	text, _ := prompt.Remembered(r.Items, 4*m.cfg.Tokens, secret.Redact)
	m.mu.Lock()
	m.filled = text != ""
	m.mu.Unlock()
	return map[string]any{m.cfg.Key: text}, nil
}

// SaveContext implements schema.Memory. An output that followed a memory that held something is marked as recalled: no fact
// is drawn from it.
func (m *Memory) SaveContext(ctx context.Context, inputs, outputs map[string]any) error {
	said, err := lcmemory.GetInputValue(inputs, m.cfg.Input)
	if err != nil {
		return err
	}
	answer, err := lcmemory.GetInputValue(outputs, m.cfg.Output)
	if err != nil {
		return err
	}
	m.mu.Lock()
	filled := m.filled
	m.mu.Unlock()
	if err := m.history.publish(ctx, memory.Message{Role: memory.RoleUser, Speaker: m.cfg.Speaker, Content: said}); err != nil {
		return err
	}
	return m.history.publish(ctx, memory.Message{Role: memory.RoleAssistant, Content: answer, Recalled: filled})
}

// Clear implements schema.Memory: the conversation ends and another one begins. The bank forgets nothing.
func (m *Memory) Clear(ctx context.Context) error { return m.history.Clear(ctx) }
