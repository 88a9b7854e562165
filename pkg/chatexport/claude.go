package chatexport

import (
	"encoding/json"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

type claudeConversation struct {
	ID       string          `json:"uuid"`
	Messages []claudeMessage `json:"chat_messages"`
}

type claudeMessage struct {
	ID      string `json:"uuid"`
	Sender  string `json:"sender"`
	Text    string `json:"text"`
	Created string `json:"created_at"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// readClaude reads conversations.json: an array of conversations with their messages in order.
func readClaude(r *reading, src *source) error {
	return src.decode("conversations*.json", func(d *json.Decoder) error {
		return each(d, func() error {
			c, ok, err := next[claudeConversation](d)
			if err != nil {
				return err
			}
			if !ok || c.ID == "" {
				r.skip("conversations of another shape")
				return nil
			}
			r.report.Conversations++
			for _, m := range c.Messages {
				role, known := map[string]memory.Role{"human": memory.RoleUser, "assistant": memory.RoleAssistant}[m.Sender]
				if !known {
					r.skip("of an unknown author")
					continue
				}
				if err := r.message(c.ID, m.ID, memory.Message{Role: role, Speaker: r.me(role), Content: m.said(), Time: stamp(m.Created, r.opt.Zone)}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// said returns the text blocks of a message, without thinking and tool calls; for older exports its text.
func (m claudeMessage) said() string {
	var out []string
	for _, c := range m.Content {
		if c.Type == "text" {
			out = append(out, c.Text)
		}
	}
	if len(out) == 0 {
		return m.Text
	}
	return strings.Join(out, "\n")
}
