package query_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// streamed is the traffic received on a reply subject.
type streamed struct {
	deltas []string // since the last reset
	resets int
	reply  wire.ReflectReply
}

// watch requests a stream and reads it to its end.
func (s *served) watch(t *testing.T, body string) streamed {
	t.Helper()
	return s.watchEach(t, body, func(wire.Delta) {})
}

// watchEach is like watch, and reports each piece when it arrives.
func (s *served) watchEach(t *testing.T, body string, each func(wire.Delta)) streamed {
	t.Helper()
	var out streamed
	inbox := s.nc.NewInbox()
	sub, err := s.nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.nc.PublishRequest("mem.alice.reflect", inbox, []byte(body)); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := sub.NextMsg(30 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if code := m.Header.Get(micro.ErrorCodeHeader); code != "" {
			t.Fatalf("refused with %s: %s", code, m.Data)
		}
		if !strings.Contains(string(m.Data), `"response"`) {
			var d wire.Delta
			if err := memory.Decode(m.Data, &d); err != nil || !strings.Contains(string(m.Data), `"delta"`) {
				t.Fatalf("the piece %s: %v", m.Data, err)
			}
			each(d)
			if d.Reset {
				out.deltas, out.resets = nil, out.resets+1
			}
			if d.Delta != "" {
				out.deltas = append(out.deltas, d.Delta)
			}
			continue
		}
		if err := json.Unmarshal(m.Data, &out.reply); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(out.deltas, ""); got != out.reply.Response {
			t.Errorf("the pieces are %q, the response %q", got, out.reply.Response)
		}
		return out
	}
}

// streams returns a script step that streams text in pieces, then ends with the given result.
func streams(c memory.Completion, err error, pieces ...string) step {
	return func(_ context.Context, p memory.Prompt) (memory.Completion, error) {
		for _, piece := range pieces {
			if p.Stream == nil {
				break
			}
			if err := p.Stream(piece); err != nil {
				return memory.Completion{}, err
			}
		}
		return c, err
	}
}

// streamsCall returns a script step that streams the arguments of done in pieces.
func streamsCall(args string, err error, size int) step {
	return func(_ context.Context, p memory.Prompt) (memory.Completion, error) {
		for rest := args; rest != "" && p.StreamCall != nil; {
			n := min(size, len(rest))
			if err := p.StreamCall(0, "done", rest[:n]); err != nil {
				return memory.Completion{}, err
			}
			rest = rest[n:]
		}
		return memory.Completion{Calls: []memory.ToolCall{call("done", args)}}, err
	}
}

func serveHome(t *testing.T, m *told) *served {
	t.Helper()
	s := serveWith(t, withModel(m))
	furnish(s.fixture)
	return s
}

const (
	lastTurn = `{"query":"Where does Alice live?","stream":true,"max_turns":1}`
	twoTurns = `{"query":"Where does Alice live?","stream":true,"max_turns":2}`
)

func TestStream(t *testing.T) {
	t.Parallel()
	t.Run("the text of the last turn comes as it is written, its citations numbered", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streams(memory.Completion{Text: " She lives in Lisbon [1], says [9" + "9] she. "}, nil, " She lives", " in Lis", "bon [", "1], says [9", "9] she. ")}}
		got := serveHome(t, m).watch(t, lastTurn)
		if got.reply.Response != "She lives in Lisbon [1], says she." || len(got.deltas) < 3 || got.resets != 0 || got.reply.Mode != "answer" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("the answer in the arguments of done comes decoded, in any turn", func(t *testing.T) {
		t.Parallel()
		args := `{"citations":[1],"answer":"She lives in \"Lisbon\" [1] \u2014 \ud83c\udfb9."}`
		m := &told{steps: []step{streamsCall(args, nil, 7)}}
		got := serveHome(t, m).watch(t, twoTurns)
		if got.reply.Response != `She lives in "Lisbon" [1] — 🎹.` || len(got.deltas) < 3 || got.resets != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a call that breaks off before anything of it was sent is repeated once", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streamsCall(`{"ans`, errDown, 3), streamsCall(doneArgs("Lisbon [1].", 1), nil, 5)}}
		if got := serveHome(t, m).watch(t, twoTurns); got.resets != 0 || got.reply.Response != "Lisbon [1]." || m.asked() != 2 {
			t.Errorf("got %+v after %d calls", got, m.asked())
		}
	})
	t.Run("a provider that cannot stream delivers the answer in one piece or more", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{done("She lives in Lisbon [1].\nIn a flat.", 1)}}
		if got := serveHome(t, m).watch(t, twoTurns); len(got.deltas) != 2 || got.resets != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("text written along with a search is not part of the answer", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streams(memory.Completion{Text: "Let me look.", Calls: []memory.ToolCall{call("search_memory", `{"query":"Porto"}`)}}, nil, "Let me look."),
			streams(memory.Completion{Text: "Lisbon [1]."}, nil, "Lisbon ", "[1].")}}
		if got := serveHome(t, m).watch(t, twoTurns); got.reply.Response != "Lisbon [1]." || got.resets != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a text of more than a few words comes as it is written in any turn, and is void when a search follows", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("She lives in Lisbon. ", 12)
		m := &told{steps: []step{streams(memory.Completion{Text: long, Calls: []memory.ToolCall{call("search_memory", `{"query":"Porto"}`)}}, nil, strings.SplitAfter(long, " ")...),
			streams(memory.Completion{Text: long}, nil, strings.SplitAfter(long, " ")...)}}
		got := serveHome(t, m).watch(t, `{"query":"Where does Alice live?","stream":true}`)
		if got.reply.Response != strings.TrimSpace(long) || got.resets != 1 || len(got.deltas) < 10 || got.reply.Turns != 2 {
			t.Errorf("got %+v", got)
		}
		if !strings.Contains(m.prompt(t, 1).System, "it is shown as you write it") {
			t.Errorf("the model is not told:\n%s", m.prompt(t, 1).System)
		}
	})
	t.Run("a call that fails midway resets the stream, and the context follows", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streams(memory.Completion{}, errDown, "She lives in", " Ro"), streams(memory.Completion{}, errDown, "She")}}
		got := serveHome(t, m).watch(t, lastTurn)
		if got.resets != 2 || m.asked() != 2 || got.reply.Turns != 1 || got.reply.Mode != "context" || !strings.HasPrefix(got.reply.Response, "## Facts") || !hasDegraded(got.reply.Degraded, "failed") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a call that failed midway is repeated once, from a reset on", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streams(memory.Completion{}, errDown, "She lives in", " Ro"), streams(memory.Completion{Text: "Lisbon [1]."}, nil, "Lisbon ", "[1].")}}
		got := serveHome(t, m).watch(t, lastTurn)
		if got.resets != 1 || got.reply.Response != "Lisbon [1]." || got.reply.Usage.Calls != 2 || got.reply.Usage.Failed != 1 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a call that the provider repeats midway resets the stream once", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streams(memory.Completion{Text: "She lives in Lisbon."}, nil, "She li", "She lives in ", "Lisbon.")}}
		if got := serveHome(t, m).watch(t, lastTurn); got.resets != 1 || got.reply.Response != "She lives in Lisbon." {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("an answer that was refused is reset before the next", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{func(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
			_, err := streamsCall(`{"answer":"Rome, `, nil, 30)(ctx, p)
			return memory.Completion{Calls: []memory.ToolCall{call("done", `{"answer":""}`)}}, err
		}, streamsCall(doneArgs("Lisbon [1].", 1), nil, 5)}}
		if got := serveHome(t, m).watch(t, twoTurns); got.resets != 1 || got.reply.Response != "Lisbon [1]." {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("nothing is streamed of an answer that rests on nothing", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streams(memory.Completion{Text: "She flies."}, nil, "She flies.")}}
		got := serveHome(t, m).watch(t, `{"query":"xylophone quux","stream":true,"max_turns":1}`)
		if got.resets != 0 || strings.Join(got.deltas, "") != "Memory holds nothing that bears on this." {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("the client hands the pieces over and starts anew at a reset", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{streams(memory.Completion{}, errDown, "She lives in", " Ro")}}
		s := serveHome(t, m)
		c, err := client.New(client.DefaultConfig(), client.Deps{Conn: &events.Conn{NC: s.nc, Naming: s.conn.Naming}})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		resets := 0
		reply, err := c.ReflectStream(t.Context(), alice, wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "Where does Alice live?"}, MaxTurns: ptr(1)},
			func(d wire.Delta) {
				if d.Reset {
					got.Reset()
					resets++
				}
				got.WriteString(d.Delta)
			})
		if err != nil || resets != 1 || got.String() != reply.Response {
			t.Errorf("the pieces are %q, the response %q: %v", got.String(), reply.Response, err)
		}
	})
}

func TestSlots(t *testing.T) {
	t.Parallel()
	t.Run("answers that wait for a model leave slots for quick requests", func(t *testing.T) {
		t.Parallel()
		release := make(chan struct{})
		slow := func(context.Context, memory.Prompt) (memory.Completion, error) {
			<-release
			return memory.Completion{Text: "Lisbon [1]."}, nil
		}
		m := &told{}
		for range 100 {
			m.steps = append(m.steps, slow)
		}
		s := serveHome(t, m)
		inbox := s.nc.NewInbox()
		sub, err := s.nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if err := s.nc.PublishRequest("mem.alice.reflect", inbox, []byte(`{"query":"Where does Alice live?","max_turns":1}`)); err != nil {
				t.Fatal(err)
			}
		}
		most := query.DefaultConfig().Admission.Answers - 1 // one is kept for another bank
		natstest.Eventually(t, "the places of a bank to wait for the model", func() bool { return m.asked() == most })
		var found wire.RecallReply
		if err := s.ask("mem.alice.recall", `{"query":"Lisbon"}`, &found); err != nil || len(found.Items) == 0 {
			t.Errorf("recall answered %+v, %v", found, err)
		}
		close(release)
		for range 100 {
			if _, err := sub.NextMsg(30 * time.Second); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestUsage(t *testing.T) {
	t.Parallel()
	t.Run("what reflect and the judge took stands in the log after the reply, failed calls too", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{fails(errDown)}}
		j := &told{steps: []step{says(`{"judgements":[{"n":1,"score":1}]}`)}}
		s := serveWith(t, func(d *query.Deps) { withModel(m)(d); withJudge(j)(d) })
		furnish(s.fixture)
		var r wire.ReflectReply
		if err := s.ask("mem.alice.reflect", `{"query":"Where does Alice live?","judge":true}`, &r); err != nil {
			t.Fatal(err)
		}
		if want := (memory.Usage{Calls: 2, Failed: 1, PromptTokens: 200, CachedTokens: 20, CompletionTokens: 10}); r.Usage != want {
			t.Errorf("the reply says %+v", r.Usage)
		}
		var usage []memory.StageUsage
		natstest.Eventually(t, "the usage in the log", func() bool {
			usage = nil
			_, err := ordered.Scan(context.Background(), s.conn, s.conn.Naming.Writes(), nil, 0, func(e events.Event) error {
				w, err := e.Write()
				if w.Kind == memory.WriteUsage && w.Bank == alice {
					usage = append(usage, w.Usage...)
				}
				return err
			})
			return err == nil && len(usage) > 0
		})
		if len(usage) != 2 || usage[0].Stage != memory.StageJudge || usage[1].Stage != memory.StageReflect || usage[1].Failed != 1 || usage[0].PromptTokens != 100 {
			t.Errorf("the log says %+v", usage)
		}
	})
}
