package app_test

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

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// request asks until the answer fits, and gives it.
func request(t *testing.T, l *app.Local, subject, body string, fits func(string) bool) string {
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

// nearestTo asks for what is near by its vector alone.
const nearestTo = `{"query":"tomatoes","strategies":{"semantic":1},"explain":true}`

func stop(t *testing.T, l *app.Local) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestAnotherEmbeddingModel(t *testing.T) {
	t.Parallel()
	srv := providertest.Start(t, nil)
	dir := t.TempDir()
	with := func(embed string) app.Config {
		set := map[string]string{"DATA": dir}
		if embed != "" {
			set["EMBED"], set["EMBED_URL"], set["EMBED_KEY"] = embed, srv.URL, "none"
		}
		return settings(t, set)
	}
	c := with("")
	l := start(t, c)
	for _, m := range []string{`{"content":"I grow tomatoes on the balcony.","speaker":"Ida"}`, `{"content":"I play chess with my brother.","speaker":"Ida"}`} {
		request(t, l, "mem.b.message.s", m, func(string) bool { return true })
	}
	request(t, l, "mem.b.flush.s", "", func(string) bool { return true })
	settled := func(r string) bool { return strings.Contains(r, `"settled":true`) && !strings.Contains(r, `"facts":0`) }
	request(t, l, "mem.b.status", "", settled)
	stop(t, l)
	before := dumped(t, c.Store)

	next := with("openai:other-model")
	_, err := app.StartLocal(t.Context(), next)
	if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "hashed-v1") || !strings.Contains(err.Error(), "openai:other-model") ||
		!strings.Contains(err.Error(), "eunoe rebuild --embed") {
		t.Errorf("starting with another embedder gave %v", err)
	}
	if dumped(t, c.Store) != before {
		t.Error("the refused start changed the store")
	}

	broken, cancel := context.WithCancel(t.Context())
	if err := app.Reembed(broken, next, func(consolidate.Progress) { cancel() }); err == nil {
		t.Error("a rebuild that was broken off is no error")
	}
	if dumped(t, c.Store) != before {
		t.Error("a rebuild that was broken off changed the store")
	}
	if _, err := os.Stat(c.Store + ".rebuild"); err == nil {
		t.Error("a rebuild that was broken off left its file")
	}

	var last consolidate.Progress
	if err := app.Reembed(t.Context(), next, func(p consolidate.Progress) { last = p }); err != nil {
		t.Fatal(err)
	}
	if last.Embedded == 0 {
		t.Errorf("it ended at %+v", last)
	}
	anew := dumped(t, c.Store)
	if err := app.Rebuild(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	if dumped(t, c.Store) != anew {
		t.Error("a plain rebuild gives another store")
	}
	if _, err := app.StartLocal(t.Context(), c); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("starting with the old embedder gave %v", err)
	}
	l = start(t, next)
	found := request(t, l, "mem.b.recall", nearestTo, func(string) bool { return true })
	var reply memory.RecallReply
	if err := json.Unmarshal([]byte(found), &reply); err != nil {
		t.Fatal(err)
	}
	if len(reply.Items) == 0 || !strings.Contains(reply.Items[0].Text, "tomatoes") || reply.Items[0].Explain[memory.StrategySemantic].Score < .3 || len(reply.Degraded) != 0 {
		t.Errorf("found %s", found)
	}
}

func TestRebuildBesideAConsolidator(t *testing.T) {
	t.Parallel()
	l := start(t, settings(t, nil))
	other := settings(t, map[string]string{"URL": l.URL})
	err := app.Rebuild(t.Context(), other, nil)
	if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "consolidator is active") {
		t.Errorf("it gave %v", err)
	}
	if _, err := os.Stat(other.Store); err == nil {
		t.Error("it made a store")
	}
	stop(t, l)
}
