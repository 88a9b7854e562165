package postgrestest_test

import (
	"errors"
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
