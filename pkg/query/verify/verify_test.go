package verify_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const aheadRule = "the store is not ahead of the log"

func TestStore(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *sqlite.DB {
		t.Helper()
		db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}

	t.Run("an empty store agrees with an empty log", func(t *testing.T) {
		t.Parallel()
		v, err := verify.Store(t.Context(), natstest.Start(t), open(t), verify.Options{Full: true})
		if err != nil || !v.OK {
			t.Errorf("problems %q, error %v", v.Problems, err)
		}
	})
	t.Run("a store that stands behind events which the log never had is ahead of it", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		if err := db.ApplyMessages(t.Context(), 0, 4, nil); err != nil {
			t.Fatal(err)
		}
		v, err := verify.Store(t.Context(), natstest.Start(t), db, verify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := aheadRule + ": broken (MEM_MESSAGES ends at 0, the store stands at 4)"; v.OK || len(v.Problems) != 1 || v.Problems[0] != want {
			t.Errorf("problems %q, expected %q", v.Problems, want)
		}
	})
	t.Run("without a log only the store itself is checked, and the reply says so", func(t *testing.T) {
		t.Parallel()
		v, err := verify.Store(t.Context(), nil, open(t), verify.Options{})
		if err != nil || !v.OK {
			t.Fatalf("problems %q, error %v", v.Problems, err)
		}
		if last := v.Checks[len(v.Checks)-1]; last.Rule != aheadRule || last.Skipped == "" {
			t.Errorf("the last check is %+v, expected %q to be skipped", last, aheadRule)
		}
	})
	t.Run("the queues of a stopped store are left out", func(t *testing.T) {
		t.Parallel()
		v, err := verify.Store(t.Context(), natstest.Start(t), open(t), verify.Options{Stopped: true})
		if err != nil || !v.OK {
			t.Fatalf("problems %q, error %v", v.Problems, err)
		}
		if last := v.Checks[len(v.Checks)-1]; last.Skipped == "" {
			t.Errorf("the last check is %+v, expected it to be skipped", last)
		}
	})
}
