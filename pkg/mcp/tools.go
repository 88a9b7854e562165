package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// tool is what an agent may call.
type tool struct {
	name, does      string
	args            []argument
	core            bool // one of the eight that are offered unless the setting says otherwise
	reads, destroys bool
	call            func(context.Context, *bank, given) (string, error)
}

// answerTool is offered where a language model writes answers, or where it is named.
const answerTool = "memory_answer"

// tools lists all tools, the core first.
func tools() []tool {
	limit := func(n int) argument { return argument{name: "limit", kind: whole, does: fmt.Sprintf("default %d", n)} }
	return []tool{
		{core: true, reads: true, name: "memory_overview", does: "Who and what this memory is about: profile, main subjects, open conflicts. Call it once at the start.", call: overview},
		{core: true, reads: true, name: "memory_recall", does: "Find what memory holds on a question or subject.", call: recall, args: []argument{
			{name: "query", kind: text, does: "a question in full words", required: true}, limit(10), {name: "max_tokens", kind: whole, does: "default 1500"},
			{name: "as_of", kind: moment, does: "what was held true then"}, {name: "from", kind: moment, does: "said or happened since"}, {name: "to", kind: moment},
			{name: "session", kind: text}, {name: "speakers", kind: list}, {name: "entities", kind: list, does: "as person:alice"},
			{name: "detail", kind: text, oneOf: []string{"brief", "full"}}}},
		{core: true, name: "memory_remember", does: "Store one fact for good. Says whether it is new, known or replaces another.", call: remember, args: []argument{
			{name: "text", kind: text, does: "one full sentence with names and dates", required: true}, {name: "key", kind: text, does: "your name for it: the same key replaces the fact"},
			{name: "time", kind: moment, does: "when it was said"}, {name: "entities", kind: list, does: "as person:alice"}, {name: "tags", kind: list}}},
		{core: true, reads: true, name: "memory_get", does: "Read items in full by id.", call: get, args: []argument{
			{name: "ids", kind: list, required: true}, {name: "history", kind: yes, does: "with what they replaced"}}},
		{core: true, reads: true, name: "memory_list", does: "Page through memory, newest first.", call: listed, args: []argument{
			{name: "record", kind: text, oneOf: []string{"fact", "composite", "observation", "message"}}, {name: "session", kind: text}, {name: "entity", kind: text},
			{name: "order", kind: text, oneOf: []string{"newest", "oldest"}}, limit(20), {name: "cursor", kind: text}}},
		{core: true, name: "memory_correct", does: "Give a fact another text; the old one is kept as history.", call: correct, args: []argument{
			{name: "id", kind: text, required: true}, {name: "text", kind: text, required: true}, {name: "version", kind: whole, does: "refuse if it has changed since"}}},
		{core: true, destroys: true, name: "memory_forget", does: "Erase a fact for good, with the messages it rests on. Without confirm it shows what would go and gives the token.", call: forget, args: []argument{
			{name: "id", kind: text}, {name: "confirm", kind: text, does: "the token of the preview"}, {name: "op", kind: text, does: "alone: what became of a forget that was pending"}}},
		{core: true, reads: true, name: answerTool, does: "An answer from memory with citations; without a language model, what bears on it.", call: answer, args: []argument{
			{name: "question", kind: text, required: true}, {name: "as_of", kind: moment}, {name: "max_tokens", kind: whole}}},
		{name: "memory_say", does: "Add a message to a conversation; facts are drawn from it later.", call: say, args: []argument{
			{name: "session", kind: text, required: true}, {name: "content", kind: text, required: true}, {name: "speaker", kind: text}, {name: "role", kind: text, oneOf: []string{"user", "assistant", "system", "tool"}}}},
		{name: "memory_conflicts", does: "List facts that contradict each other, or with id and winner say which holds.", call: conflicts, args: []argument{
			{name: "id", kind: text}, {name: "winner", kind: text, does: "id of the fact that holds"}, {name: "dismiss", kind: yes, does: "both hold"}}},
		{name: "memory_feedback", does: "Say which items of a recall helped.", call: feedback, args: []argument{
			{name: "used", kind: list, does: "ids", required: true}, {name: "outcome", kind: text, oneOf: []string{"success", "failure", "correction", "unknown"}}}},
		{reads: true, name: "memory_entities", does: "List people, places and things that memory knows.", call: entities, args: []argument{
			{name: "match", kind: text, does: "a part of the name"}, limit(50)}},
		{reads: true, name: "memory_status", does: "How much memory holds, and what is not worked up yet.", call: status},
		{reads: true, name: "memory_recalls", does: "What was recalled lately, where the memory keeps that.", call: recalls, args: []argument{limit(50)}},
		{reads: true, name: "memory_snapshot", does: "What to curate: pending, conflicts, recent, stats, health.", call: snapshot, args: []argument{
			{name: "scopes", kind: list, does: "pending, conflicts, stats, health, entity:NAME, topic:NAME, recent:N, query:TEXT"}, {name: "max_tokens", kind: whole, does: "default 4000"}}},
		{name: "memory_apply", does: "Several changes at once, all or none.", call: apply, args: []argument{
			{name: "changes", kind: objects, required: true, does: `as {"op":"merge","ids":[…]}; ops: remember, edit, pin, supersede, merge, split, conflict, resolve, dismiss, link, unlink, topic, alias, merge_entities`},
			{name: "dry_run", kind: yes}}},
		{name: "memory_undo", does: "Take an apply back, unless what it changed has changed since.", call: undo, args: []argument{
			{name: "apply", kind: text, does: "its op", required: true}, {name: "dry_run", kind: yes}}},
		{reads: true, name: "search", does: "Find items; returns their ids.", call: search, args: []argument{{name: "query", kind: text, required: true}}},
		{reads: true, name: "fetch", does: "Read one item by id.", call: fetch, args: []argument{{name: "id", kind: text, required: true}}},
	}
}

// Overview returns what memory_overview answers: who and what a bank is about; "" for a bank that nobody has made.
func Overview(ctx context.Context, c *client.Client, id memory.BankID) (string, error) {
	text, err := overview(ctx, &bank{id, c}, nil)
	if errors.Is(err, memory.ErrNotFound) {
		return "", nil
	}
	return text, err
}

func overview(ctx context.Context, b *bank, _ given) (string, error) {
	profile, err := b.client.Bank(ctx, b.id)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "memory %s", profile.ID)
	for _, part := range []string{profile.Name, profile.Description, profile.Background, profile.Mission} {
		if part != "" {
			fmt.Fprintf(&out, " · %s", line(part))
		}
	}
	for _, record := range []memory.Record{memory.RecordComposite, memory.RecordFact} {
		page, err := client.Call(ctx, b.client, wire.List, b.id, wire.ListRequest{Record: record, Limit: 10})
		if err != nil {
			return "", err
		}
		if len(page.Items) > 0 {
			fmt.Fprintf(&out, "\n\nnewest %ss:\n%s", record, lines(page.Items, false))
		}
	}
	open, err := b.client.Conflicts(ctx, b.id, wire.ConflictRequest{State: memory.ConflictOpen})
	if err == nil && len(open.Items) > 0 {
		fmt.Fprintf(&out, "\n\nopen conflicts:\n%s", contradictions(open.Items))
	}
	return out.String(), err
}

func recall(ctx context.Context, b *bank, g given) (string, error) {
	a, err := bind[struct {
		Query, Session, Detail string
		Limit                  int
		MaxTokens              int        `json:"max_tokens"`
		AsOf                   *time.Time `json:"as_of"`
		From, To               *time.Time
		Speakers, Entities     []string
	}](g)
	if err != nil {
		return "", err
	}
	limit, tokens := cmp.Or(a.Limit, 10), cmp.Or(a.MaxTokens, 1500)
	r, err := b.client.Recall(ctx, b.id, wire.RecallRequest{Query: a.Query, MaxFacts: &limit, MaxTokens: &tokens, Filter: memory.Filter{
		Session: memory.SessionID(a.Session), From: a.From, To: a.To, AsOf: a.AsOf, Speakers: a.Speakers, Entities: a.Entities}})
	if err != nil {
		return "", err
	}
	return noted(lines(r.Items, a.Detail == "full"), r.Degraded), nil
}

func remember(ctx context.Context, b *bank, g given) (string, error) {
	a, err := bind[struct {
		Text, Key      string
		Time           *time.Time
		Entities, Tags []string
	}](g)
	if err != nil {
		return "", err
	}
	r, err := b.client.Retain(ctx, b.id, wire.RetainRequest{Facts: []memory.FactInput{{Text: a.Text, Key: a.Key, Said: a.Time, Entities: a.Entities, Tags: a.Tags}}})
	if err != nil {
		return "", err
	}
	var out []string
	for _, w := range r.Results {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s [%s] %s", w.Outcome, w.ID, w.Reason)))
	}
	return strings.Join(out, "\n"), nil
}

func get(ctx context.Context, b *bank, g given) (string, error) {
	a, err := bind[struct {
		IDs     []string `json:"ids"`
		History bool     `json:"history"`
	}](g)
	if err != nil {
		return "", err
	}
	var items []memory.Item
	for _, id := range a.IDs {
		if a.History {
			h, err := client.Call(ctx, b.client, wire.History, b.id, wire.HistoryRequest{ID: id})
			if err != nil {
				return "", err
			}
			items = append(items, h.Items...)
			continue
		}
		i, err := client.Call(ctx, b.client, wire.Get, b.id, wire.GetRequest{ID: id})
		if err != nil {
			return "", err
		}
		items = append(items, i)
	}
	return lines(items, true), nil
}

func listed(ctx context.Context, b *bank, g given) (string, error) {
	a, err := bind[struct {
		Record, Session, Entity, Order, Cursor string
		Limit                                  int
	}](g)
	if err != nil {
		return "", err
	}
	r := wire.ListRequest{Record: memory.Record(a.Record), Order: a.Order, Cursor: a.Cursor, Limit: cmp.Or(a.Limit, 20), Filter: memory.Filter{Session: memory.SessionID(a.Session)}}
	if a.Entity != "" {
		r.Entities = []string{a.Entity}
	}
	page, err := client.Call(ctx, b.client, wire.List, b.id, r)
	out := lines(page.Items, false)
	if page.Next != "" {
		out += "\nmore: cursor " + page.Next
	}
	return out, err
}

func correct(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.EditRequest](g)
	if err != nil {
		return "", err
	}
	e, err := b.client.Edit(ctx, b.id, r)
	return fmt.Sprintf("corrected: [%s] holds now, version %d", e.ID, e.Version), err
}

// forget erases what its preview showed: the token is made of what that was.
func forget(ctx context.Context, b *bank, g given) (string, error) {
	a, err := bind[struct {
		ID      string `json:"id"`
		Confirm string `json:"confirm"`
		Op      string `json:"op"`
	}](g)
	if err != nil {
		return "", err
	}
	if a.Op != "" && a.ID == "" {
		return receipt(ctx, b, a.Op)
	}
	item, err := client.Call(ctx, b.client, wire.Get, b.id, wire.GetRequest{ID: a.ID})
	if err != nil {
		return "", err
	}
	would, err := b.client.Forget(ctx, b.id, wire.ForgetRequest{ID: a.ID, Preview: true})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d %v %d %v", b.id, item.ID, item.Text, would.Messages, would.Preview.Messages, would.Facts, would.Preview.Facts))
	token := hex.EncodeToString(sum[:4])
	if a.Confirm != token {
		said := ""
		if a.Confirm != "" {
			said = "this token is of something else, or it changed since. "
		}
		return fmt.Sprintf("%swould erase for good %s:\n%s\nto do it, ask the user, then call with confirm %s", said, erases(would), lines([]memory.Item{item}, true), token), nil
	}
	wait := memory.Duration(forgetWait)
	r, err := b.client.Forget(ctx, b.id, wire.ForgetRequest{ID: a.ID, WriteControl: wire.WriteControl{Wait: &wait}})
	return erased(r), err
}

// forgetWait is how long a forget waits for its receipt.
const forgetWait = 10 * time.Second

// receipt tells what a forget erased, by its op.
func receipt(ctx context.Context, b *bank, op string) (string, error) {
	wait := memory.Duration(forgetWait)
	r, err := b.client.Forget(ctx, b.id, wire.ForgetRequest{WriteControl: wire.WriteControl{Op: op, Wait: &wait}})
	return erased(r), err
}

func erased(r wire.ForgetReply) string {
	if r.Pending {
		return "accepted and being erased; what went is known later: call again with op " + r.Op + " alone"
	}
	return fmt.Sprintf("erased: %d facts, %d messages", r.Facts, r.Messages)
}

// erases describes what a forget would erase, with the ids of the other facts that would be removed.
func erases(r wire.ForgetReply) string {
	out := fmt.Sprintf("%d facts, %d messages, %d observations", r.Facts, r.Messages, r.Observations)
	for _, s := range r.Preview.Sessions {
		out += fmt.Sprintf(", %d of session %s", s.Messages, line(string(s.Session)))
	}
	if len(r.Preview.Facts) > 1 {
		out += fmt.Sprintf("; facts %v", r.Preview.Facts)
	}
	return out
}

func answer(ctx context.Context, b *bank, g given) (string, error) {
	a, err := bind[struct {
		Question  string     `json:"question"`
		AsOf      *time.Time `json:"as_of"`
		MaxTokens *int       `json:"max_tokens"`
	}](g)
	if err != nil {
		return "", err
	}
	r, err := b.client.Reflect(ctx, b.id, wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: a.Question, MaxTokens: a.MaxTokens, Filter: memory.Filter{AsOf: a.AsOf}}})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(r.Response)
	for i, c := range r.Citations {
		fmt.Fprintf(&out, "\n[%d] = [%s]", i+1, c.ID)
	}
	return noted(out.String(), r.Degraded), nil
}
