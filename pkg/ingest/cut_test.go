package ingest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// run cuts events one after another, as a session that is alone in its stream.
func run(events []ingest.Event, set ingest.Settings) (ingest.Session, []memory.Window) {
	s := ingest.Session{Bank: "alice", Session: "s"}
	var out []memory.Window
	for _, e := range events {
		var ws []memory.Window
		s, ws = ingest.Cut(s, e, set)
		out = append(out, ws...)
	}
	return s, out
}

func TestCut(t *testing.T) {
	t.Parallel()
	user, bot, tool := memory.RoleUser, memory.RoleAssistant, memory.RoleTool
	msg := func(seq uint64, role memory.Role, tokens int) ingest.Event {
		return ingest.Event{Seq: seq, Role: role, Tokens: tokens}
	}
	flush := func(seq, upto uint64) ingest.Event { return ingest.Event{Seq: seq, Flush: true, Upto: upto} }
	topic := func(seq uint64, topic string) ingest.Event {
		return ingest.Event{Seq: seq, Role: user, Tokens: 1, Topic: topic}
	}
	def := ingest.DefaultConfig().Settings
	with := func(change func(*ingest.Settings)) ingest.Settings {
		s := def
		change(&s)
		return s
	}
	for _, c := range []struct {
		name   string
		set    ingest.Settings
		events []ingest.Event
		want   []string
		open   int
	}{
		{"two messages make a window, with context up to six", def,
			[]ingest.Event{msg(1, user, 1), msg(2, bot, 1), msg(3, user, 1), msg(4, user, 1), msg(5, bot, 1), msg(6, bot, 1), msg(7, user, 1), msg(8, user, 1), msg(9, user, 1)},
			[]string{"1 2||count", "3 4|1 2|count", "5 6|1 2 3 4|count", "7 8|3 4 5 6|count"}, 1},
		{"text that reaches the limit makes a window", with(func(s *ingest.Settings) { s.TriggerEvery = 0 }),
			[]ingest.Event{msg(1, user, 511), msg(2, user, 1), msg(3, user, 300), msg(4, user, 300)},
			[]string{"1 2||tokens", "3 4|1 2|tokens"}, 0},
		{"a huge message is its own window", with(func(s *ingest.Settings) { s.TriggerEvery = 3 }),
			[]ingest.Event{msg(1, user, 1), msg(2, user, 9000), msg(3, user, 1), msg(4, user, 1), msg(5, user, 1)},
			[]string{"1||tokens", "2|1|tokens", "3 4 5|1 2|count"}, 0},
		{"a huge message that does not match is carried", with(func(s *ingest.Settings) { s.RoleFilter = []memory.Role{user} }),
			[]ingest.Event{msg(1, user, 1), msg(2, tool, 9000), msg(3, user, 1)},
			[]string{"1 2f 3||count"}, 0},
		{"zero turns the triggers off", with(func(s *ingest.Settings) { s.TriggerEvery, s.WindowTokens = 0, 0 }),
			[]ingest.Event{msg(1, user, 9000), msg(2, user, 9000), msg(3, user, 9000), flush(4, 0), msg(5, user, 9000)},
			[]string{"1 2 3||flush"}, 1},
		{"no window size, no context", with(func(s *ingest.Settings) { s.WindowSize = 0 }),
			[]ingest.Event{msg(1, user, 1), msg(2, user, 1), msg(3, user, 1), msg(4, user, 1)},
			[]string{"1 2||count", "3 4||count"}, 0},
		{"the role filter rules counting, content and context", with(func(s *ingest.Settings) { s.RoleFilter = []memory.Role{user} }),
			[]ingest.Event{msg(1, user, 1), msg(2, bot, 1), msg(3, tool, 1), msg(4, user, 1), msg(5, bot, 1), msg(6, user, 1), msg(7, user, 1)},
			[]string{"1 2f 3f 4||count", "5f 6 7|1 4|count"}, 0},
		{"carried messages alone are cut by a flush", with(func(s *ingest.Settings) { s.RoleFilter = []memory.Role{user} }),
			[]ingest.Event{msg(1, bot, 1), msg(2, bot, 1), msg(3, bot, 1), flush(4, 0), flush(5, 0)},
			[]string{"1f 2f 3f||flush"}, 0},
		{"a message is carried for the first reason", with(func(s *ingest.Settings) { s.RoleFilter = []memory.Role{user} }),
			[]ingest.Event{{Seq: 1, Role: bot, Recalled: true, Throttled: true}, {Seq: 2, Role: bot, Recalled: true}, {Seq: 3, Role: bot}, {Seq: 4, Role: user, Recalled: true}, flush(5, 0)},
			[]string{"1t 2r 3f 4r||flush"}, 0},
		{"a flush up to an earlier message is void", def,
			[]ingest.Event{msg(1, user, 1), msg(2, user, 1), msg(3, user, 1), flush(4, 2), flush(5, 3)},
			[]string{"1 2||count", "3|1 2|flush"}, 0},
		{"a flush with nothing open does nothing", def,
			[]ingest.Event{flush(1, 0), msg(2, user, 1), flush(3, 0), flush(4, 0)},
			[]string{"2||flush"}, 0},
		{"an event that was taken is not taken again", def,
			[]ingest.Event{msg(1, user, 1), msg(1, user, 1), msg(2, user, 1), msg(1, user, 1), msg(2, user, 1), msg(3, user, 1)},
			[]string{"1 2||count"}, 1},
		{"topics are not looked at unless asked", with(func(s *ingest.Settings) { s.TriggerEvery = 0 }),
			[]ingest.Event{topic(1, "a"), topic(2, "b"), flush(3, 0)}, []string{"1 2||flush"}, 0},
		{"a turn of the topic cuts before it", with(func(s *ingest.Settings) { s.TriggerEvery, s.TopicTurn = 0, true }),
			[]ingest.Event{topic(1, "Travel"), topic(2, ""), topic(3, "travel"), topic(4, "food"), topic(5, "food"), flush(6, 0)},
			[]string{"1 2 3||topic", "4 5|1 2 3|flush"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, ws := run(c.events, c.set)
			if d := cmp.Diff(c.want, brief(ws)); d != "" {
				t.Error(d)
			}
			if len(s.Open) != c.open {
				t.Errorf("%d messages are open, want %d", len(s.Open), c.open)
			}
		})
	}

	t.Run("no window holds more than the limit", func(t *testing.T) {
		t.Parallel()
		set := with(func(s *ingest.Settings) { s.RoleFilter = []memory.Role{user} })
		var es []ingest.Event
		for seq := range uint64(2 * ingest.MaxOpen) {
			es = append(es, msg(seq+1, bot, 1))
		}
		s, ws := run(es, set)
		if len(ws) != 2 || len(ws[0].New) != ingest.MaxOpen || len(s.Open) != 0 {
			t.Errorf("%d windows, %d open", len(ws), len(s.Open))
		}
	})
}

// checkCut reports a broken promise of Cut for any events and settings.
func checkCut(events []ingest.Event, set ingest.Settings) error {
	s, ws := run(events, set)
	var in, out []uint64
	carried := map[uint64]memory.Carry{}
	last := uint64(0)
	for _, e := range events {
		if e.Seq > last && !e.Flush {
			in = append(in, e.Seq)
		}
		last = max(last, e.Seq)
	}
	matching := []uint64{}
	for _, w := range ws {
		if len(w.New) == 0 || len(w.New) > ingest.MaxOpen {
			return fmt.Errorf("a window has %d new messages", len(w.New))
		}
		if w.ID != memory.NewWindowID(w.Bank, w.Session, w.First(), w.Last(), 0) {
			return fmt.Errorf("window %d-%d has the id %s", w.First(), w.Last(), w.ID)
		}
		n := 0
		for _, m := range w.New {
			out = append(out, m.Seq)
			carried[m.Seq] = m.Carry
			if m.Carry == "" {
				n++
			}
		}
		if set.TriggerEvery > 0 && n > set.TriggerEvery {
			return fmt.Errorf("a window extracts %d messages, the trigger is %d", n, set.TriggerEvery)
		}
		if want := max(0, min(len(matching), set.WindowSize-n)); len(w.Context) != want {
			return fmt.Errorf("window %d-%d has %d messages of context, want %d", w.First(), w.Last(), len(w.Context), want)
		} else if !slices.Equal(w.Context, matching[len(matching)-want:]) {
			return fmt.Errorf("window %d-%d has the context %v, want the last %d of %v", w.First(), w.Last(), w.Context, want, matching)
		}
		for _, m := range w.New {
			if m.Carry == "" {
				matching = append(matching, m.Seq)
			}
		}
	}
	for _, m := range s.Open {
		out = append(out, m.Seq)
	}
	if !slices.Equal(in, out) {
		return fmt.Errorf("messages %v came out as %v", in, out)
	}
	// Taking all of it again changes nothing.
	for _, e := range events {
		next, more := ingest.Cut(s, e, set)
		if len(more) > 0 || !cmp.Equal(next, s) {
			return fmt.Errorf("event %d changed a session that had it", e.Seq)
		}
	}
	return nil
}

func TestCutLosesNothing(t *testing.T) {
	t.Parallel()
	roles := []memory.Role{memory.RoleUser, memory.RoleAssistant, memory.RoleSystem, memory.RoleTool}
	rapid.Check(t, func(t *rapid.T) {
		set := ingest.Settings{
			TriggerEvery: rapid.IntRange(0, 5).Draw(t, "trigger"),
			WindowTokens: rapid.SampledFrom([]int{0, 1, 20, 100}).Draw(t, "tokens"),
			WindowSize:   rapid.IntRange(0, 8).Draw(t, "size"),
			RoleFilter:   rapid.SliceOfDistinct(rapid.SampledFrom(roles), func(r memory.Role) memory.Role { return r }).Draw(t, "filter"),
			TopicTurn:    rapid.Bool().Draw(t, "topics"),
		}
		seq := uint64(0)
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ingest.Event {
			seq += rapid.Uint64Range(0, 3).Draw(t, "step")
			return ingest.Event{
				Seq: seq, Stored: time.Unix(int64(seq), 0), Flush: rapid.IntRange(0, 9).Draw(t, "kind") == 0, Upto: rapid.Uint64Range(0, seq).Draw(t, "upto"),
				Role: rapid.SampledFrom(roles).Draw(t, "role"), Tokens: rapid.IntRange(0, 120).Draw(t, "tokens"),
				Topic: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "topic"), Recalled: rapid.IntRange(0, 9).Draw(t, "recalled") == 0,
				Throttled: rapid.IntRange(0, 9).Draw(t, "throttled") == 0,
			}
		}), 0, 60).Draw(t, "events")
		if err := checkCut(events, set); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add([]byte{2, 50, 6, 0, 1, 2, 3, 4, 5, 6, 7, 8, 250, 1, 1, 1})
	f.Add([]byte{0, 0, 0, 1, 255, 255, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4 {
			return
		}
		set := ingest.Settings{TriggerEvery: int(data[0] % 8), WindowTokens: int(data[1]), WindowSize: int(data[2] % 10), TopicTurn: data[3]&1 != 0}
		if data[3]&2 != 0 {
			set.RoleFilter = []memory.Role{memory.RoleUser}
		}
		roles := []memory.Role{memory.RoleUser, memory.RoleAssistant, memory.RoleSystem, memory.RoleTool}
		var events []ingest.Event
		seq := uint64(0)
		for i, b := range data[4:] {
			seq += uint64(b % 3)
			events = append(events, ingest.Event{
				Seq: seq, Flush: b > 240, Upto: uint64(b) * uint64(i) % (seq + 1), Role: roles[b%4],
				Tokens: int(b) * (i % 5), Topic: []string{"", "a", "b"}[b%3], Recalled: b%11 == 0, Throttled: b%13 == 0,
			})
		}
		if err := checkCut(events, set); err != nil {
			t.Error(err)
		}
	})
}
