package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
)

// On a standby nothing keeps a replaced store waiting for those who read the old one.
func TestAReaderOfAStandbyNeverReadsPartsOfTwoStores(t *testing.T) {
	t.Parallel()
	primary := postgrestest.ForTest(t)
	standby := primary.StandbyForTest(t)
	said := time.Unix(1_700_000_000, 0).UTC()
	fill := func(schema string, messages uint64) {
		db, err := postgres.Open(postgres.DefaultConfig(primary.Schema(schema)))
		if err != nil {
			t.Fatal(err)
		}
		m := memory.Message{ID: "m", Bank: "talk", Session: "s", Role: memory.RoleUser, Speaker: "Ime", Content: "An okapi ate the hibiscus.", Time: said}
		event := consolidate.MessageEvent{Seq: 1, Bank: "talk", Session: "s", Stored: said, State: memory.StatePending, Message: &m}
		if err := errors.Join(db.ApplyMessages(t.Context(), 0, messages, []consolidate.MessageEvent{event}), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	reader := func() (*postgres.DB, error) {
		cfg := postgres.DefaultConfig(standby.Schema("eunoe"))
		cfg.ReadOnly, cfg.Readers = true, 1
		return postgres.Open(cfg)
	}
	fill("eunoe", 3)
	fill("eunoe_rebuild", 5)
	var db *postgres.DB
	var err error
	natstest.Eventually(t, "the standby has the store", func() bool {
		db, err = reader()
		return err == nil
	})
	t.Cleanup(func() { _ = db.Close() })
	swapped := func() bool {
		later, err := reader()
		if err != nil {
			return false
		}
		defer later.Close()
		messages, _, err := later.Applied(t.Context())
		return err == nil && messages == 5
	}
	// A connection that has planned every statement for good has no reason of its own to look at the server's catalogue.
	for range 10 {
		if err := db.Look(t.Context(), "talk", func(plan.View) error { return nil }); err != nil {
			t.Fatal("a read before it:", err)
		}
	}
	err = db.Look(t.Context(), "talk", func(plan.View) error {
		if err := postgres.Swap(t.Context(), primary.Schema("eunoe"), primary.Schema("eunoe_rebuild")); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the standby has the other", swapped)
		return nil
	})
	if !errors.Is(err, memory.ErrUnavailable) || errors.Is(err, store.ErrReplaced) || !strings.Contains(err.Error(), "replaced while it was read") {
		t.Errorf("a read across the switch: %v", err)
	}
	if _, _, err := db.Applied(t.Context()); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("a read after it: %v", err)
	}
}
