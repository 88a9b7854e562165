package llm_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// checkObeyed requires that the model obeyed the planted instruction; otherwise the test proves nothing.
func (a *attack) checkObeyed(t *testing.T, calls []scriptedmodel.Call) {
	t.Helper()
	stages := map[string]bool{}
	for _, c := range calls {
		if strings.Contains(c.User, a.speaker) && strings.Contains(c.Answer, "90001") {
			stages[c.Stage] = true
		}
	}
	if !stages[memory.StageExtract] {
		t.Errorf("the model that extracts did not obey")
	}
}

// checkStore requires that only records of the window and the decisions changed, and that no record has a field that a
// model may not set.
func (w *pipeline) checkStore(t *testing.T, a *attack) {
	t.Helper()
	now, err := w.client.Get(t.Context(), a.bank, a.bystander.ID)
	if err != nil || asJSON(t, now) != asJSON(t, a.bystander) {
		t.Errorf("the bystander was %+v and is %+v, %v", a.bystander, now, err)
	}
	items := w.facts(t, a.bank)
	for _, p := range a.past {
		if !slices.ContainsFunc(items, func(it memory.Item) bool { return asJSON(t, it) == asJSON(t, p) }) {
			t.Errorf("a fact of the past is gone or another: %+v", p)
		}
	}
	w.once(t, a.bank)
	for _, it := range items {
		from := map[memory.SessionID][]memory.MessageID{"past": {"past-1"}, "talk": {"talk-1", "talk-2", "talk-3"}}[it.Session]
		for _, s := range it.Sources {
			if !slices.Contains(from, s) {
				t.Errorf("%s of session %q rests on %s", it.ID, it.Session, s)
			}
		}
		switch {
		case it.Session != "" && len(it.Sources) == 0, it.Session != "" && it.Session != "talk" && it.Session != "past":
			t.Errorf("%+v is of no window", it)
		case len(it.Text) > memory.MaxFactText, it.Confidence < 0 || it.Confidence > 1, len(it.Metadata) > 0, !it.Kind.Valid():
			t.Errorf("%+v holds what a model may not set", it)
		case it.Key != "" && it.ID != a.bystander.ID, it.Session != "" && it.ID != string(memory.NewFactID(a.bank, it.Text, it.Kind)):
			t.Errorf("%+v has a name that is not its own", it)
		case strings.Contains(it.Text, a.secret):
			t.Errorf("%s holds a secret", it.ID)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkLog requires that the log contains requested events only, and that no write names an item that its model was not
// offered.
func (w *pipeline) checkLog(t *testing.T, a *attack) {
	t.Helper()
	kinds := []memory.WriteKind{memory.WriteWindow, memory.WriteRetain, memory.WriteConsolidate, memory.WriteDecide, memory.WriteSummary, memory.WriteObserve,
		memory.WriteVectors, memory.WriteUsage}
	spared := []memory.FactID{memory.FactID(a.bystander.ID)}
	for _, p := range a.past {
		spared = append(spared, memory.FactID(p.ID))
	}
	said := map[memory.FactID]memory.Fact{}
	retained := 0
	for _, wr := range w.writes(t, a.bank) {
		if !slices.Contains(kinds, wr.Kind) {
			t.Errorf("a write %s %s", wr.Kind, wr.Op)
		}
		if wr.Kind == memory.WriteRetain {
			retained++
		}
		for _, f := range wr.Facts {
			said[f.ID] = f
			for _, s := range f.Sources {
				if wr.Window == nil || !slices.ContainsFunc(wr.Window.New, func(m memory.WindowMessage) bool { return m.Seq == s.Seq }) {
					t.Errorf("write %s: %s rests on %+v", wr.Op, f.ID, s)
				}
			}
		}
		for _, d := range wr.Decide {
			for _, target := range d.Targets {
				older, newer := said[target.Target], said[d.Fact]
				if slices.Contains(spared, target.Target) || slices.Contains(spared, d.Fact) || older.ID == "" || newer.ID == "" || older.Said.After(newer.Said) {
					t.Errorf("a decision %s %s about %s", d.Fact, target.Action, target.Target)
				}
			}
		}
		for _, s := range wr.Summaries {
			for _, f := range s.Facts {
				if _, err := w.client.Get(t.Context(), a.bank, string(f)); err != nil {
					t.Errorf("a wording rests on %s: %v", f, err)
				}
			}
		}
		if b := asJSON(t, wr); strings.Contains(b, a.secret) || strings.Contains(b, marigold) || strings.Contains(b, "01HZZZZZZZZZZZZZZZZZZZZZZZ") {
			t.Errorf("write %s %s holds what it must not", wr.Kind, wr.Op)
		}
	}
	if retained != 2 {
		t.Errorf("%d retains; two were asked for", retained)
	}
}

// checkReplies requires that replies consist of records of this bank.
func (w *pipeline) checkReplies(t *testing.T, a *attack) {
	t.Helper()
	if a.streamed != a.answer.Response || a.answer.Response == "" {
		t.Errorf("streamed %q, replied %q", a.streamed, a.answer.Response)
	}
	for _, c := range a.answer.Citations {
		if it, err := w.client.Get(t.Context(), a.bank, c.ID); err != nil || it.Text != c.Text {
			t.Errorf("it cites %s: %v", c.ID, err)
		}
	}
	for _, mark := range regexp.MustCompile(`\[\d{1,3}\]`).FindAllString(a.answer.Response, -1) {
		n, err := strconv.Atoi(strings.Trim(mark, "[]"))
		if err != nil || a.answer.Mode == "answer" && (n < 1 || n > len(a.answer.Citations)) {
			t.Errorf("the answer cites %s of %d: %q", mark, len(a.answer.Citations), a.answer.Response)
		}
	}
	for _, it := range a.found.Items {
		if got, err := w.client.Get(t.Context(), a.bank, it.ID); err != nil || got.Text != it.Text {
			t.Errorf("a recall returns %s: %v", it.ID, err)
		}
	}
	if text := asJSON(t, a.answer) + asJSON(t, a.found); strings.Contains(text, marigold) || strings.Contains(text, `"recall":"`+string(victim)) {
		t.Errorf("another bank's words in %s", text)
	}
	if strings.Contains(a.answer.Response, a.secret) {
		t.Errorf("the answer tells a secret")
	}
}

// checkCrossed requires that every subject belongs to a request, a stage or an inbox, and that a secret appears only
// where its owner put it.
func checkCrossed(t *testing.T, msgs []*nats.Msg, list []*attack) {
	t.Helper()
	requests := []string{"message", "flush", "retain", "consolidate", "status", "get", "list", "recall", "reflect", "entities"}
	stages := []string{"window", "write", "change"}
	seen := map[string]int{}
	for _, m := range msgs {
		tokens := strings.Split(m.Subject, ".")
		if tokens[0] == "_INBOX" || tokens[0] == "$JS" || tokens[0] == "$KV" || tokens[0] == "$SRV" || tokens[0] == "_R_" {
			if strings.Contains(m.Subject, "mallory") {
				t.Errorf("a message to %s", m.Subject)
			}
			continue
		}
		if _, err := strconv.Atoi(tokens[min(1, len(tokens)-1)]); err == nil { // the partition token of a stream's subject
			tokens = slices.Delete(tokens, 1, 2)
		}
		if tokens[0] == "mem" && len(tokens) > 2 && tokens[1] == string(victim) && (tokens[2] == "status" || tokens[2] == "change") {
			continue // the test asks for the one, and was told late of the other
		}
		if tokens[0] != "mem" || len(tokens) < 3 || !slices.ContainsFunc(list, func(a *attack) bool { return string(a.bank) == tokens[1] }) {
			t.Errorf("a message to %s", m.Subject)
			continue
		}
		what := tokens[2]
		seen[what]++
		if !slices.Contains(requests, what) && !slices.Contains(stages, what) {
			t.Errorf("a message to %s", m.Subject)
		}
		if slices.Contains(stages, what) {
			for _, a := range list {
				if strings.Contains(string(m.Data), a.secret) {
					t.Errorf("the secret of %s crossed on %s", a.bank, m.Subject)
				}
			}
		}
	}
	for _, what := range []string{"window", "write", "reflect"} {
		if seen[what] < len(list) {
			t.Errorf("only %d messages of %s were heard", seen[what], what)
		}
	}
}

// checkShown inspects every prompt that the models received.
func checkShown(t *testing.T, calls []scriptedmodel.Call, list []*attack) {
	t.Helper()
	stages := map[string]int{}
	for _, c := range calls {
		stages[c.Stage]++
		text := strings.Join(append(slices.Clone(c.Texts), c.Query), "\n")
		for _, m := range c.Messages {
			text += "\n" + m.Content
		}
		for _, tool := range c.Tools {
			if !slices.Contains([]string{"search_memory", "expand", "done"}, tool.Name) {
				t.Errorf("the tool %s is offered", tool.Name)
			}
		}
		if strings.Contains(text, ticket) {
			t.Errorf("a call of %s was shown metadata", c.Stage)
		}
		for _, a := range list {
			if strings.Contains(text, a.secret) || strings.Contains(text, string(a.bank)) {
				t.Errorf("%s: a call of %s was shown %s or %s", a.Name, c.Stage, a.secret, a.bank)
			}
			if strings.Contains(text, marigold) && strings.Contains(text, a.speaker) {
				t.Errorf("%s: a call of %s was shown another bank", a.Name, c.Stage)
			}
		}
	}
	for _, stage := range []string{memory.StageExtract, memory.StageDecide, memory.StageObserve, memory.StageReflect, memory.StageJudge, scriptedmodel.StageAdequacy,
		memory.StageEmbed, memory.StageRerank} {
		if stages[stage] < len(list)/2 {
			t.Errorf("%s was asked %d times", stage, stages[stage])
		}
	}
}
