package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
)

// Parsed is what an answer holds.
type Parsed struct {
	// Drafts are its items in order. One that names a message outside the window,
	// or none, or no statement, is there as refused, with the reason.
	Drafts    []extract.Draft
	Usable    int  // drafts that are not refused
	Truncated bool // the answer ends in the middle of its list
	Repaired  bool // its JSON had to be mended
}

// Parse reads a model's answer about the messages said, which it knows by
// their places from 1 on. An empty list is no facts and no error. The error
// means memory.ErrInvalid and says, without a word of the answer, why nothing of it can be
// used: it holds no list, or every item is refused. It calls nothing.
func Parse(answer string, said []memory.Message) (Parsed, error) {
	items, notes, err := reply.Items(answer, "facts")
	for _, key := range []string{"data", "items"} {
		if err == nil {
			break
		}
		if more, n, other := reply.Items(answer, key); other == nil {
			items, notes, err = more, n, nil
		}
	}
	if err != nil {
		return Parsed{}, err
	}
	out := Parsed{Truncated: notes.Truncated, Repaired: notes.Repaired}
	refused := ""
	for _, raw := range items {
		if len(out.Drafts) == memory.MaxFacts {
			out.Drafts = append(out.Drafts, extract.Draft{Refused: fmt.Sprintf("more than %d facts of one answer", memory.MaxFacts)})
			break
		}
		d := draft(raw, said)
		if d.Refused == "" {
			out.Usable++
		} else if refused == "" {
			refused = d.Refused
		}
		out.Drafts = append(out.Drafts, d)
	}
	for range notes.Broken {
		out.Drafts = append(out.Drafts, extract.Draft{Refused: "is no JSON"})
		refused = "an item is no JSON"
	}
	if len(out.Drafts) > 0 && out.Usable == 0 && !out.Truncated {
		return out, memory.Invalid("answer", "none of its %d facts can be used; the first: %s", len(out.Drafts), refused)
	}
	return out, nil
}

// draft reads one item. A field that is not as it should be is left at its
// default; only what makes the item no fact refuses it.
func draft(raw json.RawMessage, said []memory.Message) extract.Draft {
	var f fields
	if json.Unmarshal(raw, &f) != nil || f == nil {
		return extract.Draft{Refused: "is no object"}
	}
	text := strings.TrimSpace(f.text("f", "fact", "text", "statement", "content"))
	if memory.NormalText(text) == "" {
		return extract.Draft{Refused: "has no statement"}
	}
	numbers, why := f.sources()
	if why != "" {
		return extract.Draft{Refused: why}
	}
	d := extract.Draft{Text: text, Kind: f.kind(), Type: f.typ(), Tags: f.list("g", "tags"), Topic: f.topic(), Outcome: f.outcome()}
	for _, n := range numbers {
		if n < 1 || n > len(said) {
			return extract.Draft{Refused: fmt.Sprintf("rests on message %d; the new messages are 1 to %d", n, len(said))}
		}
		d.Sources = append(d.Sources, said[n-1].ID)
	}
	if d.Confidence, why = f.confidence(); why != "" {
		return extract.Draft{Refused: why}
	}
	d.Occurred = When(f.text("d", "date", "when", "occurred"), said[numbers[0]-1].Time)
	who := naming(f.names("e", "entities"), said)
	d.Entities, d.State, d.Relations = who.entities(), f.state(who), f.relations(who)
	return d
}
