package natsd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/internal/natsd"
)

// TestAnErasureThatIsInterrupted leaves a stream as a server does that is killed within an erasure: the event is noted as
// deleted, which is what deleting without erasing does, its bytes are there, and so is the beginning of a copy of its block.
// The next server overwrites them and keeps all others, in the last block and in an earlier one, and the one after finds the
// same.
func TestAnErasureThatIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const events, size = 24, 900_000 // more than two blocks
	gone := []uint64{1, 3, 8, 20, 24}
	start := func() (*natsd.Server, jetstream.JetStream) {
		s, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort})
		if err != nil {
			t.Fatal(err)
		}
		_, js := connect(t, s.ClientURL())
		return s, js
	}
	s, js := start()
	made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, AllowDirect: true})
	if err != nil {
		t.Fatal(err)
	}
	word := func(seq uint64) string { return fmt.Sprintf("geheimnis-%02d;", seq) }
	for seq := uint64(1); seq <= events; seq++ {
		m := nats.NewMsg("s.one")
		m.Data = []byte(strings.Repeat(word(seq), size/13))
		if seq%2 == 0 {
			m.Header.Set("Kind", "even")
		}
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for _, seq := range gone {
		if err := made.DeleteMsg(t.Context(), seq); err != nil {
			t.Fatal(err)
		}
	}
	s.Shutdown()
	msgs := filepath.Join(dir, "jetstream", "$G", "streams", "S", "msgs")
	held := func() (found []uint64) {
		files, err := os.ReadDir(msgs)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(filepath.Join(msgs, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for seq := range uint64(events + 1) {
				if bytes.Contains(raw, []byte(word(seq))) {
					found = append(found, seq)
				}
			}
		}
		return found
	}
	if found := held(); !slices.Contains(found, gone[0]) || !slices.Contains(found, gone[len(gone)-1]) {
		t.Fatalf("the deleted events are overwritten already: there are %v", found)
	}
	if err := os.WriteFile(filepath.Join(msgs, "2.blk.tmp"), []byte(word(24)), 0o600); err != nil {
		t.Fatal(err)
	}
	for run := range 2 {
		s, js := start()
		stream, err := js.Stream(t.Context(), "S")
		if err != nil {
			t.Fatal(err)
		}
		if st := stream.CachedInfo().State; st.Msgs != events-uint64(len(gone)) || st.LastSeq != events {
			t.Errorf("start %d: the stream is %+v", run, st)
		}
		for seq := uint64(1); seq <= events; seq++ {
			m, err := stream.GetMsg(t.Context(), seq)
			if (err != nil) != slices.Contains(gone, seq) || err == nil && (!bytes.HasPrefix(m.Data, []byte(word(seq))) || (m.Header.Get("Kind") == "even") != (seq%2 == 0)) {
				t.Errorf("start %d: event %d: %v", run, seq, err)
			}
		}
		s.Shutdown()
		if found := held(); len(found) != events-len(gone) || slices.ContainsFunc(found, func(seq uint64) bool { return slices.Contains(gone, seq) }) {
			t.Errorf("start %d: the files hold %v", run, found)
		}
	}
}
