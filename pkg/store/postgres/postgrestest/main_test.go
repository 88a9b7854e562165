package postgrestest_test

import (
	"errors"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAServerStartsAndStops(t *testing.T) {
	t.Parallel()
	s, err := postgrestest.Start()
	if errors.Is(err, postgrestest.ErrAbsent) {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAPoolerStartsAndStops(t *testing.T) {
	t.Parallel()
	s, err := postgrestest.Start()
	if errors.Is(err, postgrestest.ErrAbsent) {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Pool()
	if err == nil {
		err = p.Stop()
	}
	if err != nil && !errors.Is(err, postgrestest.ErrNoPooler) {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// It starts two servers, of which the second one has the files that the first one left.
func TestTheFilesOfANewServerAreKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	for range 2 {
		s, err := postgrestest.Start()
		if errors.Is(err, postgrestest.ErrAbsent) {
			t.Skip("NOT TESTED:", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Checkpoint(t.Context()), s.Stop()); err != nil {
			t.Error(err)
		}
		kept, err := filepath.Glob(filepath.Join(cache, "eunoe-test", "*"))
		if err != nil || len(kept) != 1 {
			t.Errorf("kept are %v, %v; want the files of one server", kept, err)
		}
	}
}
