package postgres_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// The bounds of round trips that a transaction needs, however it is loaded.
const (
	mostTripsOfWrite    = 5  // a window with three facts, planned and applied, and its commit
	mostTripsOfWrites   = 30 // ten such windows in one transaction
	mostTripsOfMessages = 3  // a batch of messages
	mostTripsOfRecall   = 12 // with vectors
)

// counted forwards connections to a server and counts the round trips on them.
type counted struct {
	net.Listener
	server string
	trips  atomic.Int64

	answered atomic.Int64 // bytes that the server sent
}

// count returns the DSN of a schema through a counted socket.
func count(t *testing.T, dsn string) (*counted, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	dir, err := os.MkdirTemp("", "pg") // a path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Listener: l, server: filepath.Join(q.Get("host"), socket)}
	t.Cleanup(func() {
		_ = l.Close()
		_ = os.RemoveAll(dir)
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.forward(client)
		}
	}()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return c, u.String()
}

func (c *counted) forward(client net.Conn) {
	server, err := (&net.Dialer{}).Dial("unix", c.server)
	if err != nil {
		_ = client.Close()
		return
	}
	go func() {
		_, _ = io.Copy(client, io.TeeReader(server, (*byteCount)(&c.answered)))
		_ = client.Close()
	}()
	defer func() { _ = server.Close() }()
	head := make([]byte, 5)
	first := head[1:] // the first message has no type
	for {
		if _, err := io.ReadFull(client, first); err != nil {
			return
		}
		if kind := head[0]; kind == 'Q' || kind == 'S' { // the server answers a query, and a sync of what came before it
			c.trips.Add(1)
		}
		if _, err := server.Write(first); err != nil {
			return
		}
		if _, err := io.CopyN(server, client, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
			return
		}
		first = head
	}
}

// byteCount counts what is written to it.
type byteCount atomic.Int64

func (n *byteCount) Write(p []byte) (int, error) {
	(*atomic.Int64)(n).Add(int64(len(p)))
	return len(p), nil
}

// of returns how many round trips fn makes.
func (c *counted) of(t *testing.T, fn func() error) int64 {
	t.Helper()
	before := c.trips.Load()
	if err := fn(); err != nil {
		t.Fatal(err)
	}
	return c.trips.Load() - before
}

// said is when the first message of a talk was said.
var said = time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)

var things = []string{"tea", "chess", "rowing", "maps", "Lisbon", "old clocks", "a violin", "bees", "the garden"}

// windowOf returns the nth message of a talk, and the end of a window with three facts about it.
func windowOf(t *testing.T, model memory.Embedder, n int) (consolidate.MessageEvent, memory.Write) {
	t.Helper()
	seq, at := uint64(n), said.Add(time.Duration(n)*time.Minute)
	m := &memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", n)), Bank: "b", Session: "s", Seq: seq, Stored: at, Time: at, Role: memory.RoleUser,
		Speaker: "Ann", Content: fmt.Sprintf("I like %s and %s since number %d.", things[n%9], things[n*2%9], n)}
	end := memory.WindowEnd{SessionID: "s", Outcome: memory.WindowFacts}
	end.ID, end.New = memory.NewWindowID("b", "s", seq, seq, 0), []memory.WindowMessage{{Seq: seq}}
	w := memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: seq, Op: string(end.ID), Time: at, Stored: at, Window: &end}
	for i := range 3 {
		f := memory.Fact{Bank: "b", Text: fmt.Sprintf("Ann likes %s, number %d.", things[(n+i)%9], 3*n+i), Kind: memory.KindWorld, Type: memory.TypeFact,
			Speaker: "Ann", Role: memory.RoleUser, Session: "s", Said: at, Recorded: at, Confidence: .8, Valid: []memory.Interval{{From: at}}, Model: model.Name(),
			Entities: []memory.EntityID{memory.NewEntityID(memory.EntityPerson, "Ann"), memory.NewEntityID(memory.EntityConcept, things[(n+i)%9])},
			Sources:  []memory.Source{{Message: m.ID, Seq: seq, Said: at, Start: at}}}
		f.ID = memory.NewFactID("b", f.Text, f.Kind)
		v, err := model.Embed(t.Context(), []string{f.Text})
		if err != nil {
			t.Fatal(err)
		}
		f.Vector = v[0]
		w.Facts = append(w.Facts, f)
	}
	return consolidate.MessageEvent{Seq: seq, Bank: "b", Session: "s", Stored: at, State: memory.StatePending, Message: m}, w
}

func TestRoundTripsOfAWriteAndOfARecall(t *testing.T) {
	t.Parallel()
	server, dsn := count(t, newSchema(t))
	cfg := postgres.DefaultConfig(dsn)
	cfg.Scrub = time.Hour // no statistics are gathered meanwhile
	db := open(t, cfg)
	model := consolidatetest.NewEmbedder("test:model")
	planner := plan.NewPlanner(plan.DefaultConfig())
	// window publishes a message and applies a window with three facts about it.
	window := func(n int) (messages, write int64) {
		event, w := windowOf(t, model, n)
		messages = server.of(t, func() error { return db.ApplyMessages(t.Context(), w.Seq-1, w.Seq, []consolidate.MessageEvent{event}) })
		write = server.of(t, func() error { return db.ApplyWrites(t.Context(), w.Seq-1, w.Seq, []memory.Write{w}, planner.Plan) })
		return messages, write
	}
	var messages, write []int64
	for n := 1; n <= 60; n++ {
		m, w := window(n)
		if n > 40 { // every statement is prepared by now
			messages, write = append(messages, m), append(write, w)
		}
	}
	checkTrips(t, "a batch of messages", messages, mostTripsOfMessages)
	batchOf := func(n int) int64 {
		var batch []consolidate.MessageEvent
		for last := n + 39; n <= last; n++ {
			event, _ := windowOf(t, model, n)
			event.Bank = memory.BankID(fmt.Sprintf("b%d-%d", last, n%4))
			event.Message.Bank = event.Bank
			batch = append(batch, event)
		}
		return server.of(t, func() error { return db.ApplyMessages(t.Context(), batch[0].Seq-1, batch[39].Seq, batch) })
	}
	first := batchOf(61) // prepares the statements for many rows
	checkTrips(t, "a write at best", write, mostTripsOfWrite-1)
	slices.Sort(write)
	checkTrips(t, "the slowest of nine in ten writes", write[len(write)*9/10-1:], mostTripsOfWrite)
	var windows []memory.Write
	var events []consolidate.MessageEvent
	for n := 101; n <= 110; n++ {
		event, w := windowOf(t, model, n)
		events, windows = append(events, event), append(windows, w)
	}
	if err := db.ApplyMessages(t.Context(), 100, 110, events); err != nil {
		t.Fatal(err)
	}
	checkTrips(t, "a batch of ten writes", []int64{server.of(t, func() error {
		return db.ApplyWrites(t.Context(), 60, 110, windows, planner.Plan)
	})}, mostTripsOfWrites)
	// With the rows of four new banks. Every five seconds the store asks by itself.
	checkTrips(t, "a batch of 40 messages of four banks", []int64{first, batchOf(111), batchOf(151), batchOf(191)}, mostTripsOfMessages+4)

	engine, err := recall.New(recall.DefaultConfig(), recall.Deps{Store: db, Embedder: model, Now: func() time.Time { return said.Add(24 * time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	var recalls []int64
	for n := range 40 {
		trips := server.of(t, func() error {
			reply, err := engine.Recall(t.Context(), "b", wire.RecallRequest{Query: fmt.Sprintf("Since when does Ann like %s?", things[n%9])})
			if err == nil && len(reply.Items) == 0 {
				t.Error("a recall finds nothing")
			}
			return err
		})
		if n >= 30 {
			recalls = append(recalls, trips)
		}
	}
	checkTrips(t, "a recall", recalls, mostTripsOfRecall)
}

// checkTrips checks that the least of several counts is within a bound: the others may hold statements that were not
// prepared on a connection yet.
func checkTrips(t *testing.T, what string, counts []int64, most int64) {
	t.Helper()
	least := counts[0]
	for _, n := range counts {
		least = min(least, n)
	}
	t.Logf("%s takes %v round trips", what, counts)
	if least > most {
		t.Errorf("%s takes %d round trips at least; the bound is %d", what, least, most)
	}
}
