package chatexport

import (
	"cmp"
	"encoding/json"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

type discordMessage struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	At      string `json:"timestamp"`
	Content string `json:"content"`
	Author  struct {
		Name     string `json:"name"`
		Nickname string `json:"nickname"`
		Bot      bool   `json:"isBot"`
	} `json:"author"`
}

// readDiscord reads what DiscordChatExporter writes as JSON, one file for each channel.
func readDiscord(r *reading, src *source) error {
	return src.decode("*.json", func(d *json.Decoder) error {
		var channel struct {
			ID string `json:"id"`
		}
		r.report.Conversations++
		return object(d, map[string]func() error{
			"channel": func() error { return d.Decode(&channel) },
			"messages": func() error {
				return each(d, func() error {
					m, ok, err := next[discordMessage](d)
					if err != nil {
						return err
					}
					switch {
					case !ok || m.ID == "":
						r.skip("messages of another shape")
						return nil
					case m.Type != "" && m.Type != "Default" && m.Type != "Reply":
						r.skip("notices of the channel")
						return nil
					}
					role := memory.RoleUser
					if m.Author.Bot {
						role = memory.RoleAssistant
					}
					return r.message(channel.ID, m.ID, memory.Message{
						Role: role, Speaker: cmp.Or(m.Author.Nickname, m.Author.Name), Content: m.Content, Time: stamp(m.At, r.opt.Zone),
					})
				})
			},
		})
	})
}
