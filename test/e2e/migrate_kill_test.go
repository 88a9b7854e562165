package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// runProgram runs a program that ends by itself and returns what it printed.
func runProgram(t *testing.T, env []string, name string, args ...string) (string, error) {
	t.Helper()
	dir, err := programs.Dir()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), natstest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, name), args...) //nolint:gosec // its own programs
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// refused checks that a program with a store that was moved does not start, and says where the store is.
func (s *stages) refused(t *testing.T, name, to string) {
	t.Helper()
	out, err := runProgram(t, append(s.env, "EUNOE_HEALTH=127.0.0.1:0"), name)
	if err == nil || !strings.Contains(out, "was moved to "+to) {
		t.Errorf("%s with the old store: %v %s", name, err, out)
	}
}

func TestAMoveThatIsKilled(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	s := runStages(t, b.url)
	data := strings.TrimPrefix(s.env[1], "EUNOE_DATA=")
	old := filepath.Join(data, "eunoe.db")
	server := postgrestest.ForTest(t)
	p := dial(t, b.url)
	waitAnswering(p)
	converse(p, "talk", 20)
	p.settle("talk")
	k := talk(t, b.url, 200*time.Millisecond)

	killed, to := map[string]bool{}, ""
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for _, kill := range []struct{ doing, to string }{
		{"following the log", server.Schema("eunoe")}, {"checking", filepath.Join(data, "new.db")},
		{"switching", filepath.Join(data, "new.db")}, {"switching", server.Schema("eunoe")},
	} {
		to = kill.to
		natstest.Eventually(t, "a move begins", func() bool {
			st, ok := liveStatus(t, p, wire.RebuildRequest{Start: true, To: to})
			return ok && st.ID != ""
		})
		for st := (wire.RebuildStatus{Running: true}); st.Running && (st.Doing != kill.doing || st.Progress.LastWrite == 0); {
			<-tick.C
			st, _ = liveStatus(t, p, wire.RebuildRequest{})
			killed[kill.doing] = killed[kill.doing] || st.Doing == kill.doing
			st.Running = st.Running || st.ID == ""
		}
		s.run["consolidator"].Kill(t)
		m := moveOf(t, old)
		placed, err := storage.Exists(t.Context(), to)
		if err != nil || m.To != to && m.To != "" || placed != (m.Step == store.MoveDone) && m.Step != store.MovePlacing {
			t.Errorf("killed while it was %s: the old store notes %+v, and that there is a new one is %t, %v", kill.doing, m, placed, err)
		}
		t.Logf("killed while it was %s: %q", kill.doing, m.Step)
		if m.Step == store.MoveDone {
			break
		}
		s.start(t, "consolidator") // it undoes the move, or completes it, when it has the lease
		natstest.Eventually(t, "the move is completed or undone", func() bool {
			return moveOf(t, old).Step != store.MoveFilling && moveOf(t, old).Step != store.MovePlacing
		})
		if placed {
			break
		}
		if m := moveOf(t, old); m != (store.Move{}) {
			t.Errorf("after the kill the old store notes %+v", m)
		}
		if left, err := storage.Exists(t.Context(), storage.Unfinished(to)); left || err != nil {
			t.Errorf("left by the killed move: %t %v", left, err)
		}
	}
	if !killed["following the log"] {
		t.Error("no move was killed while it followed the log")
	}
	if moveOf(t, old).Step != store.MoveDone {
		natstest.Eventually(t, "a consolidator is active", func() bool { _, ok := liveStatus(t, p, wire.RebuildRequest{}); return ok })
		if out, err := runProgram(t, nil, "eunoe", "migrate", "--url", b.url, "--to", to); err != nil || !strings.Contains(out, "moved to ") {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if s.run["consolidator"].Running() {
		natstest.Eventually(t, "the consolidator stands by and says why", func() bool {
			status, says := s.ready(t, "consolidator")
			return status == 503 && strings.Contains(says, "was moved to "+to)
		})
	}
	said := k.end() // what was published when nothing was applied any more is in the log
	s.refused(t, "consolidator", to)
	s.refused(t, "query", to)
	s.env = append(s.env, "EUNOE_STORE="+to)
	for _, name := range []string{"consolidator", "query"} {
		if s.run[name].Running() {
			s.run[name].Stop(t)
		}
		s.start(t, name)
	}
	waitAnswering(p)
	heldOnce(t, p, said)
	s.allReady(t)
	for name := range s.run {
		s.run[name].Stop(t)
	}
	set, _, err := settings.Load(nil, map[string]string{"URL": b.url, "DATA": data, "LOG": "error", "STORE": to})
	if err != nil {
		t.Fatal(err)
	}
	asOffline(t, set)
}
