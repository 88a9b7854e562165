package local_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestExtractionWithAModel(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	script := new(scriptedmodel.Script).Func(memory.StageExtract, func(r scriptedmodel.Request) scriptedmodel.Response {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.User)
		return scriptedmodel.Response{Text: fmt.Sprintf(`{"facts":[{"s":[1],"f":"Zenobia moved to Porto, said number %d.","e":["person:Zenobia","place:Porto"],"r":[["Zenobia","related_to","place:Porto"]]}]}`, len(asked))}
	})
	srv := scriptedmodel.Start(t, script)
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"MODEL_EXTRACT": "openai:testmodel", "MODEL_URL": srv.URL}))
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
	page, err := c.List(t.Context(), "alice", wire.ListRequest{Limit: 10})
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
