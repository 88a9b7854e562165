package postgres_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/pkg/store/storetest"
)

// started is the server of this package's tests; each test has a schema of its own. nil where none is installed.
var started *postgrestest.Server

func TestMain(m *testing.M) {
	flag.Parse()
	err := flag.Set("rapid.checks", "20") // each takes a hundred round trips; package sqlite runs more of the same
	if err != nil {
		panic(err)
	}
	if started, err = postgrestest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "NOT TESTED: what needs a PostgreSQL server:", err)
		if !errors.Is(err, postgrestest.ErrAbsent) {
			os.Exit(1)
		}
	}
	code := m.Run()
	if started != nil {
		if err := started.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var schemas atomic.Int64

// newSchema returns the DSN of an empty schema.
func newSchema(t *testing.T) string {
	t.Helper()
	if started == nil {
		t.Skip("no PostgreSQL is installed")
	}
	return started.Schema(fmt.Sprintf("test_%d", schemas.Add(1)))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		dsn := newSchema(t)
		return func(embedder string, dimension int) (store.Store, error) {
			return store.Open(store.Config{DSN: dsn, Embedder: embedder, Dimension: dimension, Unsynced: true})
		}
	})
}
