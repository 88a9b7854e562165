package chatexport

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

type mem0Memory struct {
	ID       string         `json:"id"`
	Memory   string         `json:"memory"`
	User     string         `json:"user_id"`
	Agent    string         `json:"agent_id"`
	Created  string         `json:"created_at"`
	Updated  string         `json:"updated_at"`
	Metadata map[string]any `json:"metadata"`
}

// readMem0 reads what get_all returns: {"results":[…]}, {"memories":[…]}, or the array alone.
func readMem0(r *reading, src *source) error {
	return src.decode("*.json", func(d *json.Decoder) error {
		element := func() error {
			m, ok, err := next[mem0Memory](d)
			if err != nil {
				return err
			}
			if !ok || m.ID == "" {
				r.skip("memories of another shape")
				return nil
			}
			return r.fact(m.ID, memory.FactInput{
				Text: m.Memory, Said: r.said(m.Created), Speaker: shorten(cmp.Or(r.opt.Speaker, m.User, m.Agent), memory.MaxName), Metadata: m.Metadata,
			})
		}
		list := func() error { return each(d, element) }
		return walk(d, element, map[string]func() error{"results": list, "memories": list})
	})
}

// said returns when a fact was said, nil where that is not known.
func (r *reading) said(s string) *time.Time {
	if t := stamp(s, r.opt.Zone); !t.IsZero() {
		return &t
	}
	return nil
}

type zepFact struct {
	ID      string `json:"uuid"`
	Fact    string `json:"fact"`
	Created string `json:"created_at"`
	From    string `json:"valid_at"`
	To      string `json:"invalid_at"`
	Expired string `json:"expired_at"`
}

type zepEpisode struct {
	ID      string `json:"uuid"`
	Content string `json:"content"`
	Role    string `json:"role_type"`
	Speaker string `json:"role"`
	Session string `json:"session_id"`
	Valid   string `json:"valid_at"`
	Created string `json:"created_at"`
}

// readZep reads a graph of Zep or Graphiti: its episodes, and the facts of its edges with their validity.
func readZep(r *reading, src *source) error {
	return src.decode("*.json", func(d *json.Decoder) error {
		r.report.Conversations++
		facts := func() error { return each(d, func() error { return r.zepFact(d) }) }
		return object(d, map[string]func() error{
			"edges": facts, "facts": facts,
			"episodes": func() error { return each(d, func() error { return r.zepEpisode(d) }) },
		})
	})
}

func (r *reading) zepFact(d *json.Decoder) error {
	f, ok, err := next[zepFact](d)
	if err != nil {
		return err
	}
	if !ok || f.ID == "" {
		r.skip("facts of another shape")
		return nil
	}
	from, to := r.said(cmp.Or(f.From, f.Created)), r.said(cmp.Or(f.To, f.Expired))
	in := memory.FactInput{Text: f.Fact, Said: from}
	switch {
	case to == nil || to.After(time.Now()): // it holds
	case from == nil:
		r.skip("facts that had ended and have no beginning")
		return nil
	case !to.After(*from):
		r.skip("facts that held at no time")
		return nil
	default:
		in.Valid = &memory.Interval{From: *from, To: to}
	}
	return r.fact(f.ID, in)
}

func (r *reading) zepEpisode(d *json.Decoder) error {
	e, ok, err := next[zepEpisode](d)
	if err != nil {
		return err
	}
	if !ok || e.ID == "" {
		r.skip("episodes of another shape")
		return nil
	}
	role := memory.Role(e.Role)
	if !role.Valid() {
		role = memory.RoleUser
	}
	return r.message(cmp.Or(e.Session, "episodes"), e.ID, memory.Message{
		Role: role, Speaker: cmp.Or(e.Speaker, r.me(role)), Content: e.Content, Time: stamp(cmp.Or(e.Valid, e.Created), r.opt.Zone),
	})
}

type lettaBlock struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Value string `json:"value"`
}

type lettaMessage struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Text    string          `json:"text"`
	Created string          `json:"created_at"`
}

// readLetta reads an agent file: the blocks of its core memory, and its messages.
func readLetta(r *reading, src *source) error {
	return src.decode("*", func(d *json.Decoder) error {
		agent := r.lettaAgent(d)
		agent["agents"] = func() error { return each(d, func() error { return object(d, r.lettaAgent(d)) }) }
		return object(d, agent)
	})
}

// lettaAgent reads the fields of an agent. Its id may follow its messages, whose ids are unique by themselves.
func (r *reading) lettaAgent(d *json.Decoder) map[string]func() error {
	blocks := func() error {
		return each(d, func() error {
			b, ok, err := next[lettaBlock](d)
			if err != nil {
				return err
			}
			if !ok || b.Label == "" {
				r.skip("blocks of another shape")
				return nil
			}
			return r.fact(cmp.Or(b.ID, b.Label), memory.FactInput{Text: b.Value, Tags: []string{shorten(b.Label, memory.MaxName)}})
		})
	}
	return map[string]func() error{
		"blocks": blocks, "core_memory": blocks,
		"messages": func() error {
			r.report.Conversations++
			return each(d, func() error {
				m, ok, err := next[lettaMessage](d)
				if err != nil {
					return err
				}
				role := memory.Role(m.Role)
				switch {
				case !ok || m.ID == "":
					r.skip("messages of another shape")
					return nil
				case role != memory.RoleUser && role != memory.RoleAssistant:
					r.skip("of the system or of tools")
					return nil
				}
				return r.message("agent", m.ID, memory.Message{Role: role, Speaker: r.me(role), Content: cmp.Or(piecesOf(m.Content), m.Text), Time: stamp(m.Created, r.opt.Zone)})
			})
		},
	}
}
