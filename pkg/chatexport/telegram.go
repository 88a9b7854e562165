package chatexport

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

type telegramMessage struct {
	ID      int64           `json:"id"`
	Type    string          `json:"type"`
	Date    string          `json:"date"`
	Seconds string          `json:"date_unixtime"`
	From    string          `json:"from"`
	FromID  string          `json:"from_id"`
	Text    json.RawMessage `json:"text"`
}

// readTelegram reads result.json: one chat, or all of an account.
func readTelegram(r *reading, src *source) error {
	return src.decode("result*.json", func(d *json.Decoder) error {
		chat := r.telegramChat(d)
		chat["chats"] = func() error {
			return object(d, map[string]func() error{"list": func() error {
				return each(d, func() error { return object(d, r.telegramChat(d)) })
			}})
		}
		return object(d, chat)
	})
}

// telegramChat reads the fields of a chat. Its id precedes its messages.
func (r *reading) telegramChat(d *json.Decoder) map[string]func() error {
	var id json.Number
	return map[string]func() error{
		"id": func() error {
			v, _, err := next[json.Number](d)
			id = v
			return err
		},
		"messages": func() error {
			r.report.Conversations++
			return each(d, func() error {
				m, ok, err := next[telegramMessage](d)
				if err != nil {
					return err
				}
				switch {
				case !ok:
					r.skip("messages of another shape")
					return nil
				case m.Type != "" && m.Type != "message":
					r.skip("notices of the chat")
					return nil
				}
				at := stamp(m.Date, r.opt.Zone)
				if s, err := strconv.ParseFloat(m.Seconds, 64); err == nil {
					at = seconds(s)
				}
				return r.message(id.String(), strconv.FormatInt(m.ID, 10), memory.Message{
					Role: memory.RoleUser, Speaker: cmp.Or(m.From, m.FromID), Content: piecesOf(m.Text), Time: at,
				})
			})
		},
	}
}

// piecesOf joins the pieces of a text: one text, or an array of texts and of objects with a text.
func piecesOf(raw json.RawMessage) string {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		return whole
	}
	var pieces []json.RawMessage
	if json.Unmarshal(raw, &pieces) != nil {
		return ""
	}
	var out strings.Builder
	for _, p := range pieces {
		var piece struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(p, &whole) == nil {
			out.WriteString(whole)
		} else if json.Unmarshal(p, &piece) == nil {
			out.WriteString(piece.Text)
		}
	}
	return out.String()
}
