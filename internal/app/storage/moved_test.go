package storage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

func TestWhatAnInterruptedMoveLeaves(t *testing.T) {
	t.Parallel()
	const made, left = 1, 2 // the new store has its name; there is an unfinished one
	for name, c := range map[string]struct {
		step  store.MoveStep
		files int
		away  bool // the server of the new store
		after store.MoveStep
		err   error // that the old store may not be written
	}{
		"there is no move":                {},
		"while it is filled it is undone": {step: store.MoveFilling, files: left},
		"while it is filled somebody else's new store is of no account":              {step: store.MoveFilling, files: made | left},
		"before it has its name it is undone":                                        {step: store.MovePlacing, files: left},
		"once it has its name it is completed":                                       {step: store.MovePlacing, files: made, after: store.MoveDone, err: memory.ErrConflict},
		"what is done stays done":                                                    {step: store.MoveDone, after: store.MoveDone, err: memory.ErrConflict},
		"while it is filled a server that is away stops nobody":                      {step: store.MoveFilling, away: true, after: store.MoveFilling},
		"while it gets its name a server that is away leaves open which is in force": {step: store.MovePlacing, away: true, after: store.MovePlacing, err: memory.ErrUnavailable},
	} {
		for _, of := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d stores", name, of), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				shard := events.Shards(of)[of/2]
				from, to := filepath.Join(dir, "old.db"), filepath.Join(dir, "new.db")
				place := store.ShardDSN(to, shard)
				for bit, path := range map[int]string{made: place, left: place + ".rebuild"} {
					if c.files&bit == 0 {
						continue
					}
					if err := os.WriteFile(path, []byte("a store"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if c.away {
					to = "postgres://eunoe@/eunoe?host=" + dir
				}
				st, err := store.Open(store.Config{DSN: from})
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				if c.step != "" {
					if err := st.NoteMove(t.Context(), store.Move{To: to, Step: c.step}); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					err := storage.Admit(t.Context(), storage.Part{Store: st, Shard: shard, DSN: from}, zerolog.Nop())
					if !errors.Is(err, c.err) || errors.Is(err, memory.ErrConflict) && !strings.Contains(err.Error(), "was moved to "+to) {
						t.Errorf("admitted: %v", err)
					}
					m, err := st.Move(t.Context())
					if err != nil || m.Step != c.after || (m.To == to) != (c.after != "") {
						t.Errorf("it notes %+v, %v", m, err)
					}
				}
				if err := storage.Moved(t.Context(), st, from); errors.Is(err, memory.ErrConflict) != (c.after == store.MoveDone) {
					t.Errorf("whoever reads it is told: %v", err)
				}
				for bit, path := range map[int]string{made: place, left: place + ".rebuild"} {
					want := c.files&bit != 0 && bit == made
					if _, err := os.Stat(path); (err == nil) != want {
						t.Errorf("%s is there: %t", filepath.Base(path), !want)
					}
				}
			})
		}
	}
}
