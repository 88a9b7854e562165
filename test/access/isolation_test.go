package access_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// servers are the two ways to run with users.
var servers = map[string]func(*testing.T) *deployment{
	"in one process":             func(t *testing.T) *deployment { return embedded(t, nil) },
	"on a server with auth.conf": apart,
}

func TestABotHasItsBankAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.login(t, "alice").remember("alice", "I am allergic to shellfish.")
			w.login(t, "bob").remember("bob", "My password manager is called Quetzal.")
			t.Run("it publishes, queries and receives changes with its seed and no further option", func(t *testing.T) {
				t.Parallel()
				w.ownBank(t)
			})
			t.Run("it can neither publish to nor query another bank", func(t *testing.T) {
				t.Parallel()
				w.publishesNothing(t)
			})
			t.Run("it receives nothing of another bank, on any inbox that it is allowed", func(t *testing.T) {
				t.Parallel()
				w.hearsNothing(t)
			})
			t.Run("a message id that another bank used deduplicates nothing", func(t *testing.T) {
				t.Parallel()
				a, b := w.login(t, "alice"), w.login(t, "bob")
				for _, u := range []struct {
					bot   *user
					token string
				}{{a, "alice"}, {b, "bob"}} {
					u.bot.publish("mem."+u.token+".message.ids", `{"id":"same","content":"What `+u.token+` said."}`)
				}
				for _, u := range []struct {
					bot   *user
					token string
				}{{a, "alice"}, {b, "bob"}} {
					u.bot.publish("mem."+u.token+".flush.ids", "")
					u.bot.settle(u.token)
					if m := u.bot.mustAsk("mem."+u.token+".get", `{"id":"same"}`); !strings.Contains(m, "What "+u.token) {
						t.Errorf("%s has %s", u.token, m)
					}
				}
			})
			t.Run("no header of a publish tells whether there is another bank", func(t *testing.T) {
				t.Parallel()
				w.expectsNothing(t)
			})
			t.Run("no recall returns another bank's", func(t *testing.T) {
				t.Parallel()
				a := w.login(t, "alice")
				rapid.Check(t, func(r *rapid.T) {
					strategies := map[string]float64{}
					for _, s := range []string{"keyword", "semantic", "entity", "temporal", "graph", "recency"} {
						if rapid.Bool().Draw(r, s) {
							strategies[s] = rapid.Float64Range(0.01, 1).Draw(r, s+" weight")
						}
					}
					req := map[string]any{"query": rapid.SampledFrom([]string{"Quetzal", "password manager", "shellfish Quetzal", "*", "bob"}).Draw(r, "query")}
					if len(strategies) > 0 {
						req["strategies"] = strategies
					}
					body, _ := json.Marshal(req) //nolint:errcheck // strings and numbers
					if out := a.mustAsk("mem.alice.recall", string(body)); strings.Contains(out, "Quetzal is") || strings.Contains(out, "called Quetzal") {
						r.Fatalf("%s gave %s", body, out)
					}
				})
			})
		})
	}
}

func (w *deployment) ownBank(t *testing.T) {
	t.Helper()
	a := w.login(t, "alice")
	changes, err := a.nc.SubscribeSync("mem.alice.change.>")
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{"recall": `{"query":"allergic"}`, "reflect": `{"query":"allergic"}`, "retain": `{"facts":[{"text":"Alice likes tea."}]}`,
		"get": `{"id":"said-I am allergic to shellfish."}`, "forget": `{"session":"nothing"}`, "feedback": `{"outcome":"success","used":["f_none"]}`, "edit": `{"id":"f_none","text":"x"}`, "history": `{"id":"f_none"}`}
	asked := 0
	for _, r := range access.Requests() {
		m, err := a.nc.Request("mem.alice."+r, []byte(bodies[r]), 15*time.Second)
		if err != nil {
			t.Errorf("%s: %v", r, err)
			continue
		}
		if code := m.Header.Get("Nats-Service-Error-Code"); code != "" && code != "404" && code != "400" {
			t.Errorf("%s: %s %s", r, code, m.Data)
		}
		asked++
	}
	if asked < 17 {
		t.Errorf("%d requests were answered", asked)
	}
	if m, err := changes.NextMsg(30 * time.Second); err != nil || !strings.HasPrefix(m.Subject, "mem.alice.change.") {
		t.Errorf("heard %v, %v", m, err)
	}
	inbox := a.nc.NewInbox()
	pieces, err := a.nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.nc.PublishRequest("mem.alice.reflect", inbox, []byte(`{"query":"allergic","stream":true}`)); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		m, err := pieces.NextMsg(30 * time.Second)
		if err != nil {
			t.Fatalf("after %d pieces: %v", n, err)
		}
		if strings.Contains(string(m.Data), `"response"`) {
			if n == 0 {
				t.Error("the answer came in one piece")
			}
			break
		}
	}
	for _, kind := range []string{"message", "flush"} {
		if err := a.nc.Publish("mem.alice."+kind+".unasked", []byte(map[string]string{"message": `{"content":"Nobody waits for the acknowledgement of this."}`}[kind])); err != nil {
			t.Fatal(err)
		}
	}
	old := w.login(t, "alice", nats.CustomInboxPrefix("_INBOX_alice"))
	old.mustAsk("mem.alice.status", "")
	natstest.Eventually(t, "the message nobody waited for is stored", func() bool {
		return strings.Contains(a.mustAsk("mem.alice.list", `{"record":"message","session":"unasked"}`), "Nobody waits")
	})
	if r := append(a.refusals(), old.refusals()...); len(r) > 0 {
		t.Errorf("the bot was refused %v", r)
	}
}

func (w *deployment) publishesNothing(t *testing.T) {
	t.Helper()
	a := w.login(t, "alice")
	subjects := []string{
		"mem.bob.message.chat", "mem.bob.flush.chat", "mem.bob.recall", "mem.bob.forget", "mem.Alice.recall", "mem.alice%2E.recall",
		"mem.alice.window.chat", "mem.alice.write.retain", "mem.alice.dead.ingest", "mem.alice.parked.chat", "mem.alice.change.fact",
		"mem.admin.erase", "mem.admin.banks", "mem.admin.dead", "mem.*.recall", "mem.7.alice.message.chat",
		"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.MEM_MESSAGES", "$JS.API.STREAM.DELETE.MEM_MESSAGES", "$JS.API.STREAM.PURGE.MEM_MESSAGES",
		"$JS.API.STREAM.MSG.GET.MEM_MESSAGES", "$JS.API.DIRECT.GET.MEM_MESSAGES", "$JS.API.CONSUMER.CREATE.MEM_MESSAGES.spy", "$JS.ACK.MEM_WINDOWS.extract.1.1.1.1.0",
		"$KV.MEM_BANKS.alice", "$KV.MEM_LEASES.consolidate", "$SYS.REQ.SERVER.PING", "$SYS.REQ.USER.INFO", "$SRV.PING", "$SRV.INFO", "_INBOX_bob.x", "_INBOX.x", "other",
	}
	for _, s := range subjects {
		if err := a.nc.Publish(s, []byte(`{"content":"x"}`)); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range subjects {
		a.expectRefusal(`Publish to "` + s + `"`)
	}
}

// expectsNothing publishes with the headers by which a publisher tells JetStream what it expects of the stream.
func (w *deployment) expectsNothing(t *testing.T) {
	t.Helper()
	a := w.login(t, "alice")
	answer := func(subject string, headers ...string) string {
		m := nats.NewMsg(subject)
		m.Data = []byte(`{"id":"probe","content":"A probe."}`)
		for i := 0; i < len(headers); i += 2 {
			m.Header[headers[i]] = []string{headers[i+1]}
		}
		return must(a.nc.RequestMsg(m, 15*time.Second))(t)
	}
	for _, subject := range []string{"mem.alice.message.probes", "mem.alice.flush.probes"} {
		there := answer(subject, "Nats-Expected-Last-Subject-Sequence", "0", "Nats-Expected-Last-Subject-Sequence-Subject", "mem.*.bob.>")
		none := answer(subject, "Nats-Expected-Last-Subject-Sequence", "0", "Nats-Expected-Last-Subject-Sequence-Subject", "mem.*.nobody.>")
		if there != none {
			t.Errorf("%s: of bob it says %s, of nobody %s", subject, there, none)
		}
		for _, headers := range [][]string{
			{"Nats-Expected-Last-Subject-Sequence", "0", "Nats-Expected-Last-Subject-Sequence-Subject", "mem.*.nobody.>"},
			{"Nats-Expected-Last-Subject-Sequence", "0"}, {"Nats-Expected-Last-Subject-Sequence-Subject", "mem.>"},
			{"Nats-Expected-Last-Sequence", "1"}, {"Nats-Expected-Last-Msg-Id", "1"}, {"nats-expected-last-sequence", "1"},
			{"Nats-Rollup", "all"}, {"Nats-TTL", "1s"}, {"Nats-Schedule", "@every 1s"}, {"Nats-Batch-Id", "b", "Nats-Batch-Sequence", "1"},
		} {
			var ack struct {
				Seq   uint64
				Error struct {
					Code        int
					Description string
				}
			}
			said := answer(subject, headers...)
			if err := json.Unmarshal([]byte(said), &ack); err != nil || ack.Seq != 0 || ack.Error.Code != 400 || !strings.Contains(ack.Error.Description, headers[0]) {
				t.Errorf("%s %q: %s, %v", subject, headers, said, err)
			}
		}
	}
	a.settle("alice")
	if out, code := a.ask("mem.alice.get", `{"id":"probe"}`); code != "404" {
		t.Errorf("a publish that was refused is stored: %s", out)
	}
	if said := answer("mem.alice.message.probes", "Nats-Expected-Stream", w.naming.Messages(), "Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01", "X-Own", "1"); !strings.Contains(said, `"seq"`) || strings.Contains(said, "error") {
		t.Errorf("a publish with other headers is answered %s", said)
	}
	a.publish("mem.alice.flush.probes", "") // what waits for a flush would keep the bank of the other subtests from settling
}

func (w *deployment) hearsNothing(t *testing.T) {
	t.Helper()
	a := w.login(t, "spy")
	subjects := []string{
		"mem.alice.change.>", "mem.bob.change.>", "mem.bob.>", "mem.*.change.>", "mem.>", "mem.spy.>", "mem.spy.message.>", "mem.spy.write.>", "mem.spy.recall", "mem.admin.>",
		">", "*.>", "_INBOX_bob.>", "$JS.>", "$KV.>", "$SYS.>", "$SRV.>", "_R_.>",
	}
	for _, s := range subjects {
		if _, err := a.nc.SubscribeSync(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range subjects {
		a.expectRefusal(`Subscription to "` + s + `"`)
	}
	spied, err := a.nc.SubscribeSync("_INBOX.>")
	if err != nil {
		t.Fatal(err)
	}
	marker, err := a.nc.SubscribeSync("_INBOX_spy.marker")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	b := w.login(t, "bob")
	for range 5 {
		b.mustAsk("mem.bob.recall", `{"query":"Quetzal"}`)
		b.mustAsk("mem.bob.status", "")
	}
	w.login(t, "operator").mustAsk("mem.bob.status", "")
	// What came for another bank was there before this answer.
	if err := a.nc.PublishRequest("mem.spy.status", marker.Subject, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := marker.NextMsg(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	if n, _, err := spied.Pending(); err != nil || n != 0 {
		m, _ := spied.NextMsg(time.Second) //nolint:errcheck // for the message
		t.Errorf("the spy heard %d replies of others: %v, %v", n, m, err)
	}
}

func TestAReplySubjectLeadsNowhere(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			a, op := w.login(t, "alice"), w.login(t, "operator")
			b := w.login(t, "bob")
			a.remember("alice", "I am allergic to shellfish.")
			b.remember("bob", "I keep two goats.")
			heard, err := b.nc.SubscribeSync("_INBOX_bob.known")
			if err != nil {
				t.Fatal(err)
			}
			changes, err := b.nc.SubscribeSync("mem.bob.change.>")
			if err != nil {
				t.Fatal(err)
			}
			if err := b.nc.Flush(); err != nil {
				t.Fatal(err)
			}
			before := b.settle("bob")
			targets := []string{
				"mem.bob.message.planted", "mem.bob.flush.planted", "mem.bob.write.planted", "mem.bob.window.planted", "mem.bob.dead.planted", "mem.bob.change.planted",
				"mem.alice.write.planted", "mem.alice.window.planted", "mem.alice.dead.planted", "mem.alice.change.planted", "mem.bob.forget", "mem.admin.erase",
				"$KV.MEM_BANKS.planted", "$KV.MEM_LEASES.planted", "$KV.MEM_INGEST.planted", "$JS.API.STREAM.PURGE.MEM_MESSAGES", "$JS.API.STREAM.DELETE.MEM_WRITES",
				"$JS.API.CONSUMER.DELETE.MEM_WINDOWS.extract", "$SRV.PING", "$SYS.REQ.SERVER.PING", "_INBOX_bob.known",
			}
			for _, target := range targets {
				for _, from := range []string{"mem.alice.message.chat", "mem.alice.flush.chat", "mem.alice.recall", "mem.alice.retain", "mem.alice.reflect"} {
					if err := a.nc.PublishRequest(from, target, []byte(`{"query":"goats","stream":true,"content":"planted"}`)); err != nil {
						t.Fatal(err)
					}
				}
			}
			a.settle("alice")
			a.mustAsk("mem.alice.status", "")
			for _, stream := range streamsOf(w.naming) {
				var info struct {
					Config struct{ Name string }
					State  struct{ Subjects map[string]int }
					Error  any
				}
				if err := json.Unmarshal([]byte(must(op.nc.Request("$JS.API.STREAM.INFO."+stream, []byte(`{"subjects_filter":">"}`), 10*time.Second))(t)), &info); err != nil || info.Config.Name != stream || info.Error != nil {
					t.Fatalf("%s: %+v, %v", stream, info, err)
				}
				for s := range info.State.Subjects {
					if strings.Contains(s, "planted") {
						t.Errorf("%s holds %s", stream, s)
					}
				}
			}
			if after := b.settle("bob"); fmt.Sprint(after.Conservation) != fmt.Sprint(before.Conservation) || after.Facts != before.Facts {
				t.Errorf("bob's bank went from %+v to %+v", before, after)
			}
			if n, _, err := heard.Pending(); n != 0 || err != nil {
				t.Errorf("bob heard %d in his inbox, %v", n, err)
			}
			for m, err := changes.NextMsg(time.Millisecond); err == nil; m, err = changes.NextMsg(time.Millisecond) {
				if strings.Contains(m.Subject, "planted") || strings.Contains(string(m.Data), `"stream"`) {
					t.Errorf("bob heard of %s: %s", m.Subject, m.Data)
				}
			}
			if r := b.refusals(); len(r) > 0 {
				t.Errorf("bob was refused %v", r)
			}
		})
	}
}

// must returns the answer's body.
func must(m *nats.Msg, err error) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return string(m.Data)
	}
}

func streamsOf(n events.Naming) []string {
	var out []string
	for _, s := range n.Streams(events.StreamOptions{}) {
		out = append(out, s.Name)
	}
	for _, b := range n.Buckets(events.StreamOptions{}) {
		out = append(out, "KV_"+b.Bucket)
	}
	return out
}

func TestNamesThatLookAlikeAreDifferentBanks(t *testing.T) {
	t.Parallel()
	w := embedded(t, nil)
	banks := []memory.BankID{"a.b", "a%2Eb", "A.B", "a", "*", ">", "7", "a b", "ä", "_INBOX_bob", "a.message.b"}
	bots := map[memory.BankID]*user{}
	for i, bank := range banks {
		w.add(t, access.User{Name: fmt.Sprintf("bot-%d", i), Role: access.RoleBot, Bank: bank})
	}
	w.awaitUser(t, fmt.Sprintf("bot-%d", len(banks)-1))
	for i, bank := range banks {
		bots[bank] = w.login(t, fmt.Sprintf("bot-%d", i))
		bots[bank].remember(events.EncodeToken(string(bank)), fmt.Sprintf("My number is %d00.", i+1))
	}
	for i, bank := range banks {
		mine := fmt.Sprintf("%d00", i+1)
		out := bots[bank].mustAsk("mem."+events.EncodeToken(string(bank))+".list", `{"record":"message"}`)
		if strings.Count(out, `"record":"message"`) != 1 || !strings.Contains(out, mine) {
			t.Errorf("bank %q holds %s", bank, out)
		}
		for _, other := range banks {
			if other == bank {
				continue
			}
			subject := "mem." + events.EncodeToken(string(other)) + ".recall"
			if err := bots[bank].nc.Publish(subject, []byte(`{"query":"number"}`)); err != nil {
				t.Fatal(err)
			}
			bots[bank].expectRefusal(`Publish to "` + subject + `"`)
		}
	}
}
