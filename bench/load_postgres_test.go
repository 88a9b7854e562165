package main_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
)

func TestBenchOnAServerWithoutANamedSchema(t *testing.T) {
	t.Parallel()
	server := postgrestest.ForTest(t)
	conn, err := pgx.Connect(t.Context(), server.Schema("public"))
	if err != nil {
		t.Fatal(err)
	}
	// A user with the name of the schema has it as the schema of the connection, too.
	_, err = conn.Exec(t.Context(), "CREATE ROLE somebody SUPERUSER LOGIN")
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	dsn := strings.NewReplacer("&search_path=x", "", "eunoe@", "somebody@").Replace(server.Schema("x"))
	f := apptest.Decode[struct {
		Bank struct {
			Messages int
			Bytes    int64
		}
	}](t, ok(t, nil, "recall", "--facts", "200", "--questions", "20", "--dir", t.TempDir(), "--store", dsn, "--json"))
	if strings.Contains(dsn, "search_path") || f.Bank.Messages != 200 || f.Bank.Bytes <= 0 {
		t.Errorf("with %s: %+v", dsn, f)
	}
}
