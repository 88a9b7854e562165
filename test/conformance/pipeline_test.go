package conformance_test

import (
	"context"
	"os"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// pipeline is the whole of Eunoe in this process, on a directory of the test.
type pipeline struct {
	*client.Client
	local *local.Local
	dir   string
	more  []string // settings
}

func start(t *testing.T, settings ...string) *pipeline {
	t.Helper()
	w := &pipeline{dir: t.TempDir(), more: settings}
	w.up(t)
	t.Cleanup(func() { w.down(t) })
	return w
}

func (w *pipeline) up(t *testing.T) {
	t.Helper()
	c, _, err := settings.Load(append([]string{"EUNOE_DATA=" + w.dir, "EUNOE_PORT=-1", "EUNOE_LOG=error"}, w.more...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.local, err = local.Start(t.Context(), c, os.Stderr); err != nil {
		t.Fatal(err)
	}
	cfg := client.DefaultConfig()
	cfg.URL = w.local.URL
	if w.Client, err = client.Connect(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

func (w *pipeline) down(t *testing.T) {
	t.Helper()
	if err := w.Client.Close(); err != nil {
		t.Error(err)
	}
	if err := w.local.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// restart stops everything and starts it again on the same directory.
func (w *pipeline) restart(t *testing.T) {
	t.Helper()
	w.down(t)
	w.up(t)
}

// publish publishes lines of one speaker, flushes the session and waits until all is settled.
func (w *pipeline) publish(t *testing.T, bank memory.BankID, session memory.SessionID, speaker string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if _, err := w.Publish(t.Context(), bank, session, memory.Message{Speaker: speaker, Content: line}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Flush(t.Context(), bank, session); err != nil {
		t.Fatal(err)
	}
	w.settled(t, bank)
}

func (w *pipeline) settled(t *testing.T, bank memory.BankID) wire.Status {
	t.Helper()
	var st wire.Status
	natstest.Eventually(t, "bank "+string(bank)+" is settled", func() bool {
		var err error
		st, err = w.Status(t.Context(), bank)
		return err == nil && st.Settled
	})
	return st
}

// retain stores facts and returns their results.
func (w *pipeline) retain(t *testing.T, bank memory.BankID, facts ...memory.FactInput) []memory.WriteResult {
	t.Helper()
	r, err := w.Retain(t.Context(), bank, wire.RetainRequest{Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != len(facts) {
		t.Fatalf("%d results for %d facts: %+v", len(r.Results), len(facts), r.Results)
	}
	return r.Results
}

func (w *pipeline) facts(t *testing.T, bank memory.BankID) []memory.Item {
	t.Helper()
	var out []memory.Item
	for item, err := range w.All(t.Context(), bank, wire.ListRequest{Record: memory.RecordFact}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item)
	}
	return out
}
