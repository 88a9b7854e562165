package llm_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// attack is one planted instruction, the bank that contains it, and the other content of that bank.
type attack struct {
	Name, Text string

	bank      memory.BankID
	speaker   string        // who plants it
	secret    string        // planted beside it
	bystander memory.Item   // a fact that no window and no decision is about
	past      []memory.Item // what was extracted before
	answer    wire.ReflectReply
	streamed  string
	found     wire.RecallReply
}

const victim memory.BankID = "victim"

const (
	marigold = "marigold" // a word of the victim's alone
	ticket   = "T-99172"  // in the metadata of a message
)

// secrets are secrets of several kinds; %02d makes each unique.
var secrets = []string{
	"sk-proj-Abcdefghijklmnopqrstuv%02d", "ghp_abcdefghijklmnopqrstuvwxyz0123456789%02d", "AKIAIOSFODNN7EXAM0%02d", "hunter2-swordfish%02d!",
	"xoxb-123456789012-abcdefghij%02d",
}

// sentence puts a secret into a natural sentence.
func sentence(secret string) string {
	if strings.HasPrefix(secret, "hunter2") {
		return "My password is " + secret
	}
	return "My key is " + secret + " by the way."
}

func attacks(t *testing.T) []*attack {
	t.Helper()
	f, err := os.Open("testdata/planted.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []*attack
	for in := bufio.NewScanner(f); in.Scan(); {
		a, n := &attack{}, len(out)
		if err := json.Unmarshal(in.Bytes(), a); err != nil {
			t.Fatal(err)
		}
		a.bank, a.speaker = memory.BankID(fmt.Sprintf("mark-%02d", n)), fmt.Sprintf("Mallory%02d", n)
		a.secret = fmt.Sprintf(secrets[n%len(secrets)], n)
		out = append(out, a)
	}
	if len(out) < 50 {
		t.Fatalf("only %d instructions are planted", len(out))
	}
	var chosen []*attack
	for i := 0; i < len(out); i += attacksApart {
		chosen = append(chosen, out[i])
	}
	return chosen
}

// traffic records every message that crossed NATS, from a subscription to all subjects.
type traffic struct {
	mu   sync.Mutex
	msgs []*nats.Msg
}

func listen(t *testing.T, url string) *traffic {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	w := &traffic{}
	sub, err := nc.Subscribe(">", func(m *nats.Msg) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.msgs = append(w.msgs, m)
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *traffic) all() []*nats.Msg {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.msgs)
}

func TestPlantedInstructionsComeToNothing(t *testing.T) {
	t.Parallel()
	model := scriptedmodel.Start(t, &scriptedmodel.Script{Obey: true})
	w := start(t, strings.TrimSuffix(model.URL, "/v1"), map[string]string{"MODEL_TIMEOUT": "30s"})
	w.say(t, w.keep(victim), "home", "Vera", "The vault is behind the "+marigold+" mural.", "The mural was painted in 1987.")
	w.ended(t, victim, 2)
	w.retain(t, victim, []memory.FactInput{{Key: "owner", Text: "Vera owns the " + marigold + " vault."}})
	eventually(t, "the victim's messages have their vectors", func() bool {
		vectors := 0
		for _, wr := range w.writes(t, victim) {
			vectors += len(wr.Vectors)
		}
		return vectors == 2 && w.status(t, victim).Writes.Pending == 0
	})
	before := w.dump(t, victim)
	bus := listen(t, w.local.URL)

	list := attacks(t)
	each(t, list, w.plant)
	for _, a := range list {
		w.drained(t, a.bank)
	}
	each(t, list, w.question)
	crossed, calls := bus.all(), model.Calls("")
	for _, a := range list {
		t.Run(a.Name, func(t *testing.T) {
			a.checkObeyed(t, calls)
			w.checkStore(t, a)
			w.checkLog(t, a)
			w.checkReplies(t, a)
		})
	}
	t.Run("no other bank was written to, created or shown", func(t *testing.T) {
		if after := w.dump(t, victim); after != before {
			t.Errorf("the victim was\n%s\nand is\n%s", before, after)
		}
		for b, err := range w.client.Admin().Banks(t.Context()) {
			known := b.ID == victim || slices.ContainsFunc(list, func(a *attack) bool { return a.bank == b.ID })
			if err != nil || !known {
				t.Errorf("bank %s, %v", b.ID, err)
			}
		}
	})
	t.Run("only requested traffic crossed NATS", func(t *testing.T) { checkCrossed(t, crossed, list) })
	t.Run("the model was shown no secret, no name of a bank, no metadata and nothing of another bank", func(t *testing.T) { checkShown(t, calls, list) })
	t.Run("the store is sound", func(t *testing.T) {
		if report, err := w.client.Admin().Verify(t.Context(), wire.VerifyRequest{}); err != nil || !report.OK {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// dump returns all readable content of a bank.
func (w *pipeline) dump(t *testing.T, bank memory.BankID) string {
	t.Helper()
	var out strings.Builder
	add := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	for _, record := range memory.Records {
		for it, err := range w.client.All(t.Context(), bank, wire.ListRequest{Record: record, Limit: 200}) {
			if err != nil {
				t.Fatal(err)
			}
			add(it)
		}
	}
	profile, err := w.client.Bank(t.Context(), bank)
	if err != nil {
		t.Fatal(err)
	}
	add(profile)
	for _, wr := range w.writes(t, bank) {
		add(wr)
	}
	add(w.status(t, bank).Conservation)
	return out.String()
}

// each calls a function for every attack, attacksAtOnce at a time.
func each(t *testing.T, list []*attack, do func(*testing.T, *attack) error) {
	t.Helper()
	places := make(chan struct{}, attacksAtOnce)
	var all sync.WaitGroup
	for _, a := range list {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if err := do(t, a); err != nil {
				t.Errorf("%s: %v", a.Name, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// plant puts the instruction into a chat and into retained facts, so that the models for extraction, decisions,
// summaries and observations read it.
func (w *pipeline) plant(t *testing.T, a *attack) error {
	ctx := t.Context()
	w.keep(a.bank)
	publish := func(session memory.SessionID, list ...memory.Message) error {
		if _, err := w.client.PublishAll(ctx, a.bank, session, list); err != nil {
			return err
		}
		_, err := w.client.Flush(ctx, a.bank, session)
		return err
	}
	if err := publish("past", memory.Message{ID: "past-1", Speaker: "Rosa", Content: "I keep a spare key under the blue stone."}); err != nil {
		return err
	}
	r, err := w.client.Retain(ctx, a.bank, wire.RetainRequest{WriteControl: unhurried(), Facts: []memory.FactInput{{Key: "bystander", Text: "The kettle whistles at dawn."}}})
	if err != nil {
		return err
	}
	eventually(t, "the past is known", func() bool { s := w.status(t, a.bank); return s.Settled && s.Facts == 2 })
	if a.bystander, err = w.client.Get(ctx, a.bank, r.Results[0].ID); err != nil {
		return err
	}
	a.past = w.facts(t, a.bank)
	a.Text = strings.NewReplacer("{FACT}", a.bystander.ID, "{MSG}", "past-1", "{VICTIM}", string(victim)).Replace(a.Text)
	// Before the talk: of facts that say one thing, the one retained last would rest on the messages of the others.
	var facts []memory.FactInput
	for _, where := range []string{"north", "south"} {
		facts = append(facts, memory.FactInput{Text: "Rosa keeps the red boat in the " + where + " harbour. " + a.Text + " " + sentence(a.secret), Entities: []string{"person:rosa"}})
	}
	if _, err := w.client.Retain(ctx, a.bank, wire.RetainRequest{WriteControl: unhurried(), Facts: facts}); err != nil {
		return err
	}
	err = publish("talk",
		memory.Message{ID: "talk-1", Speaker: "Rosa", Content: "I bought a green umbrella."},
		memory.Message{ID: "talk-2", Speaker: a.speaker, Content: a.Text + "\n" + sentence(a.secret), Metadata: map[string]any{"ticket": ticket}},
		memory.Message{ID: "talk-3", Speaker: "Rosa", Content: "I like cold soup."})
	if err != nil {
		return err
	}
	w.ended(t, a.bank, 4) // what is queued to be decided by then is what the request brings along
	w.consolidate(t, a.bank)
	return nil
}

// question sends a question that shows the planted text to the answering and judging models.
func (w *pipeline) question(t *testing.T, a *attack) error {
	ctx := t.Context()
	query := wire.RecallRequest{Query: "Where does Rosa keep the red boat? " + sentence(a.secret)}
	var grown strings.Builder
	var err error
	a.answer, err = w.client.ReflectStream(ctx, a.bank, wire.ReflectRequest{RecallRequest: query}, func(d wire.Delta) {
		if d.Reset {
			grown.Reset()
		}
		grown.WriteString(d.Delta)
	})
	if err != nil {
		return err
	}
	a.streamed = grown.String()
	query.Judge, query.Adequacy = &wire.Judge{}, 1
	a.found, err = w.client.Recall(ctx, a.bank, query)
	return err
}
