package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

func open(t *testing.T, cfg postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestTheServerEndsTheTransactionOfAFrozenOwner(t *testing.T) {
	t.Parallel()
	cfg := postgres.DefaultConfig(newSchema(t))
	cfg.Idle = 300 * time.Millisecond
	frozen, successor := open(t, cfg), open(t, cfg)
	writes := []memory.Write{{Seq: 1, Bank: "b", Kind: memory.WriteRetain, Op: "o", Time: time.Unix(1, 0)}}
	began, thaw, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- frozen.ApplyWrites(t.Context(), 0, 1, writes, func(plan.View, memory.Write) (memory.Changes, error) {
			close(began)
			<-thaw
			return memory.Changes{}, nil
		})
	}()
	<-began
	err := successor.ApplyWrites(t.Context(), 0, 1, writes, func(plan.View, memory.Write) (memory.Changes, error) { return memory.Changes{}, nil })
	if err != nil {
		t.Errorf("the successor: %v", err)
	}
	close(thaw)
	if err := <-done; !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("the frozen owner got %v", err)
	}
	if err := frozen.ApplyWrites(t.Context(), 0, 1, writes, nil); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("the frozen owner, again, got %v", err)
	}
}

func TestAStoreThatCannotBeOpenedSaysWhy(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	readOnly := postgres.DefaultConfig(dsn)
	readOnly.ReadOnly = true
	for _, c := range []struct {
		name string
		cfg  postgres.Config
		is   error
		says string
	}{
		{"one that nobody made", readOnly, memory.ErrUnavailable, "there is no store yet"},
		{"a server that is away", postgres.DefaultConfig("postgres://me:hidden@/db?host=/nowhere"), memory.ErrUnavailable, "nowhere"},
		{"an address that is none", postgres.DefaultConfig("postgres://me:hidden@host:port/db"), memory.ErrInvalid, "expected postgres://"},
	} {
		db, err := postgres.Open(c.cfg)
		if err == nil {
			t.Errorf("%s was opened", c.name)
			_ = db.Close()
			continue
		}
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAnInstantIsReadBesideAWriter(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	writer := open(t, postgres.DefaultConfig(dsn))
	readOnly := postgres.DefaultConfig(dsn)
	readOnly.ReadOnly = true
	reader := open(t, readOnly)
	said := time.Unix(1_700_000_000, 0).UTC()
	message := memory.Message{ID: "m", Bank: "b", Session: "s", Role: memory.RoleUser, Speaker: "Ann", Content: "hello", Time: said}
	events := []consolidate.MessageEvent{{Seq: 1, Bank: "b", Session: "s", Stored: said, State: memory.StatePending, Message: &message}}
	if err := writer.ApplyMessages(t.Context(), 0, 1, events); err != nil {
		t.Fatal(err)
	}
	if n, _, err := reader.Applied(t.Context()); n != 1 || err != nil {
		t.Errorf("the reader has applied %d, %v", n, err)
	}
	if err := reader.ApplyMessages(t.Context(), 1, 2, nil); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a reader wrote: %v", err)
	}
}
