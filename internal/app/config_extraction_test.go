package app_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

func TestExtractionSettings(t *testing.T) {
	t.Parallel()
	c, _, err := app.LoadConfig(nil, nil)
	if err != nil || c.Novelty || c.Topics != 0 || c.Compress != 0 || c.ModelPatience != 24*time.Hour {
		t.Errorf("the options are off by default: %+v, %v", c.ExtractionSettings, err)
	}
	c, _, err = app.LoadConfig([]string{"EUNOE_NOVELTY=true", "EUNOE_TOPICS=512", "EUNOE_COMPRESS=0.6", "EUNOE_MODEL_PATIENCE=1h"}, nil)
	if err != nil || !c.Novelty || c.Topics != 512 || c.Compress != 0.6 || c.ModelPatience != time.Hour {
		t.Errorf("got %+v, %v", c.ExtractionSettings, err)
	}
	for _, bad := range []string{"NOVELTY=perhaps", "TOPICS=3", "COMPRESS=1.5", "COMPRESS=NaN", "MODEL_PATIENCE=-1s", "TOKEN_BUDGET=-1"} {
		name, _, _ := strings.Cut(bad, "=")
		if _, _, err := app.LoadConfig([]string{"EUNOE_" + bad}, nil); err == nil || !strings.Contains(err.Error(), "EUNOE_"+name) {
			t.Errorf("EUNOE_%s: the error must name it: %v", bad, err)
		}
	}
}

func TestExtractionWithAModel(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	script := new(providertest.Script).Func(memory.StageExtract, func(r providertest.Request) providertest.Response {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.User)
		return providertest.Response{Text: fmt.Sprintf(`{"facts":[{"s":[1],"f":"Zenobia moved to Porto, said number %d.","e":["person:Zenobia","place:Porto"],"r":[["Zenobia","related_to","place:Porto"]]}]}`, len(asked))}
	})
	srv := providertest.Start(t, script)
	l := start(t, settings(t, map[string]string{"MODEL_EXTRACT": "openai:testmodel", "MODEL_URL": srv.URL}))
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: l.Conn})
	if err != nil {
		t.Fatal(err)
	}
	for n, words := range []string{"I moved to Porto.", "Zenobia is my name."} {
		if _, err := l.Conn.PublishMessage(t.Context(), "alice", "s", fmt.Appendf(nil, `{"speaker":"Zen","content":%q}`, words)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Conn.PublishFlush(t.Context(), "alice", "s", memory.Flush{}); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the window's facts", func() bool {
			st, err := c.Status(t.Context(), "alice")
			return err == nil && st.Settled && st.Conservation.Published == n+1
		})
	}
	page, err := c.List(t.Context(), "alice", memory.ListRequest{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) == 0 || !strings.HasPrefix(page.Items[0].Text, "Zenobia moved to Porto") || len(page.Items[0].Sources) != 1 {
		t.Errorf("facts %+v", page.Items)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 2 || !strings.Contains(asked[0], "1 Zen: I moved to Porto.") || strings.Contains(asked[0], "Known:") {
		t.Fatalf("asked %q", asked)
	}
	if !strings.Contains(asked[1], "Known: person:Zenobia") || !strings.Contains(asked[1], "<context>\n") {
		t.Errorf("the second call knows neither names nor what stood before:\n%s", asked[1])
	}
}
