package chatexport

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

type chatGPTConversation struct {
	ID             string                 `json:"id"`
	ConversationID string                 `json:"conversation_id"`
	CurrentNode    string                 `json:"current_node"`
	Mapping        map[string]chatGPTNode `json:"mapping"`
}

type chatGPTNode struct {
	Parent  string          `json:"parent"`
	Message *chatGPTMessage `json:"message"`
}

type chatGPTMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Created float64 `json:"create_time"`
	Content struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
		Text  string            `json:"text"`
	} `json:"content"`
	Recipient string `json:"recipient"`
	Metadata  struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// readChatGPT reads conversations.json, or conversations-NNN.json of a large export. A conversation is a tree; its
// current branch is read, without the branches of edited and regenerated turns.
func readChatGPT(r *reading, src *source) error {
	return src.decode("conversations*.json", func(d *json.Decoder) error {
		return each(d, func() error {
			c, ok, err := next[chatGPTConversation](d)
			if err != nil {
				return err
			}
			id := c.ConversationID
			if id == "" {
				id = c.ID
			}
			if !ok || id == "" || len(c.Mapping) == 0 {
				r.skip("conversations of another shape")
				return nil
			}
			r.report.Conversations++
			return r.chatGPT(id, c)
		})
	})
}

func (r *reading) chatGPT(id string, c chatGPTConversation) error {
	var branch []string
	for node := c.CurrentNode; node != "" && len(branch) <= len(c.Mapping); node = c.Mapping[node].Parent {
		branch = append(branch, node)
	}
	slices.Reverse(branch)
	shown := make(map[string]bool, len(branch))
	for _, node := range branch {
		shown[node] = true
	}
	for name, node := range c.Mapping {
		if node.Message != nil && !shown[name] {
			r.skip("on a branch that was edited away")
		}
	}
	for _, node := range branch {
		m := c.Mapping[node].Message
		if m == nil {
			continue
		}
		role := memory.Role(m.Author.Role)
		switch {
		case m.Metadata.Hidden || role == memory.RoleSystem:
			r.skip("hidden or of the system")
			continue
		case role == memory.RoleTool, m.Recipient != "" && m.Recipient != "all":
			r.skip("calls and outputs of tools")
			continue
		case role != memory.RoleUser && role != memory.RoleAssistant:
			r.skip("of an unknown author")
			continue
		}
		if err := r.message(id, m.ID, memory.Message{Role: role, Speaker: r.me(role), Content: m.text(), Time: seconds(m.Created)}); err != nil {
			return err
		}
	}
	return nil
}

// text returns the text parts and the transcripts of a message.
func (m *chatGPTMessage) text() string {
	var out []string
	switch m.Content.Type {
	case "text", "multimodal_text", "":
	default: // code for tools, thoughts, results of browsing
		return ""
	}
	for _, p := range m.Content.Parts {
		var text string
		if json.Unmarshal(p, &text) == nil {
			out = append(out, text)
			continue
		}
		var other struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(p, &other) == nil && other.Type == "audio_transcription" {
			out = append(out, other.Text)
		}
	}
	return strings.TrimSpace(strings.Join(append(out, m.Content.Text), "\n"))
}
