package chatexport

import (
	"cmp"
	"encoding/json"
	"html"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

type slackUser struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Real    string `json:"real_name"`
	Profile struct {
		Display string `json:"display_name"`
		Real    string `json:"real_name"`
	} `json:"profile"`
}

type slackMessage struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	User    string `json:"user"`
	Name    string `json:"username"`
	Bot     string `json:"bot_id"`
	Text    string `json:"text"`
	At      string `json:"ts"`
}

// slackAside are the subtypes of messages that people wrote; the others are notices, such as who joined.
var slackAside = map[string]bool{"": true, "me_message": true, "thread_broadcast": true, "file_share": true, "bot_message": true, "file_comment": true}

// readSlack reads the archive of a workspace: users.json, and a folder for each channel with a file for each day.
func readSlack(r *reading, src *source) error {
	users := map[string]string{}
	var days []part
	for _, p := range src.like("*.json") {
		folder := path.Dir(p.name)
		switch name := path.Base(p.name); {
		case src.zip && name == "users.json":
			if err := p.json(func(d *json.Decoder) error { return slackUsers(d, users) }); err != nil {
				return err
			}
		case !src.zip || slackDay.MatchString(name) && folder != ".":
			days = append(days, p)
		}
	}
	channel := "\x00"
	for _, p := range days {
		folder := path.Base(path.Dir(p.name))
		if !src.zip {
			folder = "channel"
		}
		if folder != channel {
			channel = folder
			r.report.Conversations++
		}
		err := p.json(func(d *json.Decoder) error {
			return each(d, func() error {
				m, ok, err := next[slackMessage](d)
				if err != nil {
					return err
				}
				return r.slack(channel, users, m, ok)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var slackDay = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}\.json$`)

func slackUsers(d *json.Decoder, users map[string]string) error {
	return each(d, func() error {
		u, ok, err := next[slackUser](d)
		if ok {
			users[u.ID] = cmp.Or(u.Profile.Real, u.Real, u.Profile.Display, u.Name)
		}
		return err
	})
}

func (r *reading) slack(channel string, users map[string]string, m slackMessage, ok bool) error {
	at, err := strconv.ParseFloat(m.At, 64)
	switch {
	case !ok || err != nil:
		r.skip("messages of another shape")
		return nil
	case !slackAside[m.Subtype]:
		r.skip("notices of the channel")
		return nil
	}
	role := memory.RoleUser
	if m.Bot != "" || m.Subtype == "bot_message" {
		role = memory.RoleAssistant
	}
	return r.message(channel, m.At, memory.Message{
		Role: role, Speaker: cmp.Or(users[m.User], m.Name, m.User), Content: slackText(m.Text, users), Time: seconds(at),
	})
}

var slackLink = regexp.MustCompile(`<([^<>|]+)(?:\|([^<>]*))?>`)

// slackText returns the text with names for the ids of people and channels, and links as their words.
func slackText(s string, users map[string]string) string {
	s = slackLink.ReplaceAllStringFunc(s, func(link string) string {
		m := slackLink.FindStringSubmatch(link)
		switch id := m[1]; {
		case id[0] == '@':
			return cmp.Or(m[2], users[id[1:]], id[1:])
		case id[0] == '#':
			return "#" + cmp.Or(m[2], id[1:])
		case id[0] == '!':
			return "@" + strings.TrimPrefix(cmp.Or(m[2], id[1:]), "@")
		case m[2] != "" && m[2] != id:
			return m[2] + " (" + id + ")"
		default:
			return strings.TrimPrefix(id, "mailto:")
		}
	})
	return html.UnescapeString(s)
}
