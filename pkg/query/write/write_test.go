package write_test

import (
	"context"
	"errors"
	"fmt"
	"github.com/google/go-cmp/cmp"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// store narrows the reader of a real store.
type store struct{ *sqlite.DB }

func (s store) Read(ctx context.Context, bank memory.BankID, fn func(write.Reader) error) error {
	return s.DB.Read(ctx, bank, func(r query.Reader) error { return fn(r) })
}

// newAppender returns an appender over an empty store that no consolidator writes to.
func newAppender(t *testing.T, conn *events.Conn, embed ...memory.Embedder) *write.Appender {
	t.Helper()
	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	deps := write.Deps{Conn: conn, Store: store{db}}
	if len(embed) > 0 {
		deps.Embedder = embed[0]
	}
	a, err := write.New(write.Config{Waits: request.Waits{Default: 50 * time.Millisecond, Max: time.Second}}, deps)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// logged returns the writes of the log.
func logged(t *testing.T, c *events.Conn) (out []memory.Write) {
	t.Helper()
	if _, err := ordered.Scan(t.Context(), c, c.Naming.Writes(), nil, 0, func(e events.Event) error {
		w, err := e.Write()
		out = append(out, w)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRetain(t *testing.T) {
	t.Parallel()
	facts := wire.RetainRequest{Facts: []memory.FactInput{{Text: "Tomas plays the oboe."}}}

	t.Run("a write whose outcome is not known in time names the op to repeat it with, and is in the log once", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		a := newAppender(t, conn)
		_, err := a.Retain(t.Context(), "alice", facts)
		op := write.OpOf(err)
		if !errors.Is(err, memory.ErrDeadline) || op == "" {
			t.Fatalf("error %v, op %q", err, op)
		}
		again := facts
		again.Op = op
		if _, err := a.Retain(t.Context(), "alice", again); write.OpOf(err) != op {
			t.Errorf("repeated: %v", err)
		}
		if list := logged(t, conn); len(list) != 1 || list[0].Op != op || len(list[0].Facts) != 1 {
			t.Errorf("the log holds %+v", list)
		}
	})
	t.Run("1,000 facts are one write, though their vectors are more than the broker takes", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		a := newAppender(t, conn, hashed.New())
		var r wire.RetainRequest
		for i := range memory.MaxFacts {
			r.Facts = append(r.Facts, memory.FactInput{Text: fmt.Sprintf("Parcel %d stands on shelf %d.", i, i*7)})
		}
		if _, err := a.Retain(t.Context(), "alice", r); !errors.Is(err, memory.ErrDeadline) {
			t.Errorf("error %v", err) // nobody applies it
		}
		if list := logged(t, conn); len(list) != 1 || len(list[0].Facts) != memory.MaxFacts {
			t.Errorf("the log holds %d writes", len(list))
		}
	})
	t.Run("when a fact holds may be given, with an end that has passed", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		day := func(n int) time.Time { return time.Date(2021, 3, n, 0, 0, 0, 0, time.UTC) }
		ended, future := day(9), time.Now().AddDate(1, 0, 0)
		r := wire.RetainRequest{Facts: []memory.FactInput{
			{Text: "Tomas rents a barn.", Valid: &memory.Interval{From: day(2), To: &ended}},
			{Text: "Tomas owns a kayak.", Valid: &memory.Interval{From: day(4)}},
			{Text: "Tomas has a visa.", Valid: &memory.Interval{From: day(4), To: &future}},
			{Text: "Tomas is a guest.", Valid: &memory.Interval{From: day(9), To: &ended}},
			{Text: "Tomas is away.", Valid: &memory.Interval{To: &ended}},
		}}
		if _, err := newAppender(t, conn).Retain(t.Context(), "alice", r); !errors.Is(err, memory.ErrDeadline) {
			t.Fatalf("error %v", err) // nobody applies it
		}
		w := logged(t, conn)[0]
		var got []string
		for _, f := range w.Facts {
			got = append(got, fmt.Sprintf("%s %v %v %v", f.Text, f.Bounds.From.Equal(f.Valid[0].From), f.Bounds.To, f.Bounds.Said.Equal(f.Said)))
		}
		for _, x := range w.Refused {
			got = append(got, x.Reason)
		}
		want := []string{"Tomas rents a barn. true 2021-03-09 00:00:00 +0000 UTC true", "Tomas owns a kayak. true <nil> true",
			"facts.2.valid.to: lies in the future; expected null for a fact that still holds", "facts.3.valid.to: is not after valid.from",
			"facts.4.valid.from: is missing; expected when the fact began to hold"}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("without a log it is unavailable, and no op is to be repeated", func(t *testing.T) {
		t.Parallel()
		if _, err := newAppender(t, nil).Retain(t.Context(), "alice", facts); !errors.Is(err, memory.ErrUnavailable) || write.OpOf(err) != "" {
			t.Errorf("error %v, op %q", err, write.OpOf(err))
		}
	})
	t.Run("a text is published as a message with a flush behind it", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		r := wire.RetainRequest{Text: "I play the oboe.", Speaker: "Tomas", WriteControl: wire.WriteControl{Op: "op-1"}}
		if _, err := newAppender(t, conn).Retain(t.Context(), "alice", r); write.OpOf(err) != "op-1" {
			t.Errorf("error %v", err)
		}
		for seq, kind := range map[uint64]string{1: events.KindMessage, 2: events.KindFlush} {
			if e, err := conn.EventAt(t.Context(), conn.Naming.Messages(), seq); err != nil || e.Kind != kind || e.Session != write.RetainSession {
				t.Errorf("event %d is %+v, %v", seq, e, err)
			} else if kind == events.KindMessage && !strings.Contains(string(e.Data), `"speaker":"Tomas"`) {
				t.Errorf("the message is %s", e.Data)
			}
		}
	})
	t.Run("a request that cannot be carried out appends nothing", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		a := newAppender(t, conn)
		wait := memory.Duration(time.Hour)
		for name, r := range map[string]wire.RetainRequest{
			"neither facts nor a text": {}, "facts and a text": {Facts: facts.Facts, Text: "x"}, "facts with a session": {Facts: facts.Facts, Session: "s"},
			"facts with a speaker": {Facts: facts.Facts, Speaker: "Tomas"},
			"a blank text":         {Text: " \n"}, "too long a wait": {Facts: facts.Facts, WriteControl: wire.WriteControl{Wait: &wait}},
		} {
			if _, err := a.Retain(t.Context(), "alice", r); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if list := logged(t, conn); len(list) != 0 {
			t.Errorf("the log holds %+v", list)
		}
	})
}

func TestCharges(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	a := newAppender(t, conn)
	call := []memory.StageUsage{{Stage: memory.StageReflect, Model: "m", Usage: memory.Usage{Calls: 1, PromptTokens: 7}}}
	for range 20 {
		a.Charge("alice", call)
		a.Charge("bob", call)
	}
	a.Charge("carol", nil)
	a.Close()
	a.Close()
	calls, writes := map[memory.BankID]int{}, 0
	for _, w := range logged(t, conn) {
		writes++
		for _, u := range w.Usage {
			calls[w.Bank] += u.Calls
		}
	}
	if calls["alice"] != 20 || calls["bob"] != 20 || len(calls) != 2 {
		t.Errorf("the log counts %v, expected 20 calls of alice and of bob", calls)
	}
	if writes > 4 { // what came before the first write, and the rest
		t.Errorf("%d writes hold the charges of one moment", writes)
	}
}
