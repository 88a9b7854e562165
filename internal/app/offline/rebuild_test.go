package offline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// request repeats a request until the answer fits, and returns it.
func request(t *testing.T, l *local.Local, subject, body string, fits func(string) bool) string {
	t.Helper()
	nc, err := nats.Connect(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var last string
	natstest.Eventually(t, subject+" "+body, func() bool {
		m, err := nc.Request(subject, []byte(body), 5*time.Second)
		if err == nil {
			last = string(m.Data)
		}
		return err == nil && fits(last)
	})
	return last
}

func dumped(t *testing.T, path string) string {
	t.Helper()
	st, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var b bytes.Buffer
	if err := st.Dump(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// nearestTo recalls by vector only.
const nearestTo = `{"query":"tomatoes","strategies":{"semantic":1},"explain":true}`

func stop(t *testing.T, l *local.Local) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestAnotherEmbeddingModel(t *testing.T) {
	t.Parallel()
	srv := scriptedmodel.Start(t, nil)
	dir := t.TempDir()
	with := func(embed string) settings.Config {
		set := map[string]string{"DATA": dir}
		if embed != "" {
			set["EMBED"], set["EMBED_URL"], set["EMBED_KEY"] = embed, srv.URL, "none"
		}
		return apptest.Settings(t, set)
	}
	c := with("")
	l := apptest.Start(t, c)
	for _, m := range []string{`{"content":"I grow tomatoes on the balcony.","speaker":"Ida"}`, `{"content":"I play chess with my brother.","speaker":"Ida"}`} {
		request(t, l, "mem.b.message.s", m, func(string) bool { return true })
	}
	request(t, l, "mem.b.flush.s", "", func(string) bool { return true })
	settled := func(r string) bool { return strings.Contains(r, `"settled":true`) && !strings.Contains(r, `"facts":0`) }
	request(t, l, "mem.b.status", "", settled)
	stop(t, l)
	before := dumped(t, c.Store)

	next := with("openai:other-model")
	_, err := local.Start(t.Context(), next, os.Stderr)
	if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "hashed-v1") || !strings.Contains(err.Error(), "openai:other-model") ||
		!strings.Contains(err.Error(), "eunoe rebuild --embed") {
		t.Errorf("starting with another embedder gave %v", err)
	}
	if dumped(t, c.Store) != before {
		t.Error("the refused start changed the store")
	}

	broken, cancel := context.WithCancel(t.Context())
	if err := offline.Reembed(broken, next, func(rebuild.Progress) { cancel() }); err == nil {
		t.Error("a rebuild that was broken off is no error")
	}
	if dumped(t, c.Store) != before {
		t.Error("a rebuild that was broken off changed the store")
	}
	if _, err := os.Stat(c.Store + ".rebuild"); err == nil {
		t.Error("a rebuild that was broken off left its file")
	}

	var last rebuild.Progress
	if err := offline.Reembed(t.Context(), next, func(p rebuild.Progress) { last = p }); err != nil {
		t.Fatal(err)
	}
	if last.Embedded == 0 {
		t.Errorf("it ended at %+v", last)
	}
	anew := dumped(t, c.Store)
	if err := offline.Rebuild(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	if dumped(t, c.Store) != anew {
		t.Error("a plain rebuild returns another store")
	}
	if _, err := local.Start(t.Context(), c, os.Stderr); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("starting with the old embedder gave %v", err)
	}
	l = apptest.Start(t, next)
	found := request(t, l, "mem.b.recall", nearestTo, func(string) bool { return true })
	var reply wire.RecallReply
	if err := json.Unmarshal([]byte(found), &reply); err != nil {
		t.Fatal(err)
	}
	if len(reply.Items) == 0 || !strings.Contains(reply.Items[0].Text, "tomatoes") || reply.Items[0].Explain[memory.StrategySemantic].Score < .3 || len(reply.Degraded) != 0 {
		t.Errorf("found %s", found)
	}
}

func TestRebuildNextToARunningConsolidator(t *testing.T) {
	t.Parallel()
	l := apptest.Start(t, apptest.Settings(t, nil))
	// A consolidator that has applied a write is active.
	request(t, l, "mem.b.retain", `{"facts":[{"text":"Ann sails."}]}`, func(reply string) bool { return strings.Contains(reply, `"results"`) })
	other := apptest.Settings(t, map[string]string{"URL": l.URL})
	err := offline.Rebuild(t.Context(), other, nil)
	if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "consolidator is active") {
		t.Errorf("it gave %v", err)
	}
	if _, err := os.Stat(other.Store); err == nil {
		t.Error("it made a store")
	}
	stop(t, l)
}
