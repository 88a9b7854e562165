package rebuild_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

func TestAStoreThatIsNotEmptyIsRefused(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.ApplyMessages(t.Context(), 0, 7, nil); err != nil {
		t.Fatal(err)
	}
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rebuild.New(consolidate.DefaultConfig(), consolidate.Deps{Conn: natstest.Start(t), Store: db, Redactor: redactor, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Rebuild(t.Context(), nil); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("rebuilding over it: %v", err)
	}
	if err := r.Reembed(t.Context(), nil); err == nil || errors.Is(err, memory.ErrConflict) {
		t.Errorf("without an embedder: %v", err)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := rebuild.New(consolidate.Config{}, consolidate.Deps{}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("an empty configuration: %v", err)
	}
}
