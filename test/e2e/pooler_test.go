package e2e_test

import (
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
)

// TestAStoreBehindAPooler lends connections to the server for one transaction at a time: to a pipeline that is compared with
// one on SQLite, to one that forgets, and to a live rebuild among traffic.
func TestAStoreBehindAPooler(t *testing.T) {
	t.Parallel()
	server := postgrestest.ForTest(t)
	pooler, err := server.Pool()
	if errors.Is(err, postgrestest.ErrNoPooler) {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pooler.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("holds and answers what one of SQLite does", func(t *testing.T) { answersAlike(t, pooler.Schema("alike")) })
	t.Run("leaves nothing of what is forgotten in a file", func(t *testing.T) { forgetsInFiles(t, server, pooler.Schema("forgetful")) })
	t.Run("is rebuilt live", func(t *testing.T) { rebuildLive(t, pooler.Schema("rebuilt")) })
}
