package trace_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// metricsOf asks the broker where a stage serves its metrics, and reads them; "" while it does not answer.
func metricsOf(t *testing.T, nc *nats.Conn, service string) string {
	t.Helper()
	r, err := nc.Request("$SRV.INFO."+service, nil, time.Second)
	if err != nil {
		return ""
	}
	var info struct{ Metadata map[string]string }
	if err := json.Unmarshal(r.Data, &info); err != nil {
		t.Fatal(err)
	}
	page, err := http.Get("http://" + info.Metadata["http"] + "/metrics")
	if err != nil {
		return ""
	}
	defer page.Body.Close()
	body, err := io.ReadAll(page.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

func TestFourProcesses(t *testing.T) {
	t.Parallel()
	url := natstest.StartServer(t).ClientURL()
	file := newTraces(t)
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_TRACE=file:" + file.path}
	ingest := programs.Start(t, env, "ingest")
	extractor := programs.Start(t, append(env[:len(env):len(env)], "EUNOE_LOG=debug"), "extractor")
	for _, name := range []string{"consolidator", "query"} {
		programs.Start(t, env, name)
	}
	nc := dial(t, url)
	natstest.Eventually(t, "the stages answer", func() bool {
		r, err := nc.Request("mem.admin.banks", nil, time.Second)
		return err == nil && !strings.Contains(string(r.Data), `"error"`)
	})
	changes, err := nc.SubscribeSync("mem.alice.change.fact")
	if err != nil {
		t.Fatal(err)
	}
	first, second := begun(11), begun(12)
	say(t, nc, first, "m1", "I moved to Lisbon in May.")
	natstest.Eventually(t, "ingest has the first message", func() bool {
		return strings.Contains(metricsOf(t, nc, "eunoe-ingest"), "\neunoe_ingest_messages_total 1\n")
	})
	// The second ingest finds an open message in the state of the first, and reads its trace from the log.
	ingest.Stop(t)
	programs.Start(t, env, "ingest")
	say(t, nc, second, "m2", "My sister Nora lives in Bergen.")
	change, err := changes.NextMsg(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	whole := []string{"cut window", "extract window", "append write", "commit write", "publish changes"}
	list := file.of(first.id, linked(first.span, whole...))
	last := chain(t, list, first.span, whole...)
	if want := "00-" + first.id + "-" + last.SpanContext.SpanID + "-01"; change.Header.Get("traceparent") != want {
		t.Errorf("the change carries %q, expected %q", change.Header.Get("traceparent"), want)
	}
	for name, service := range map[string]string{"cut window": "eunoe-ingest", "extract window": "eunoe-extractor", "commit write": "eunoe-consolidator"} {
		if got := named(list, name)[0].service(); got != service {
			t.Errorf("%s was made by %v", name, got)
		}
	}
	if links := named(list, "cut window")[0].Links; len(links) != 1 || links[0].SpanContext.TraceID != second.id {
		t.Errorf("the window's links are %+v", links)
	}
	asked := begun(13)
	ask(t, nc, asked, "mem.alice.recall", `{"query":"Where does Alice live?"}`)
	list = file.of(asked.id, has("recall", "keyword over facts", "pack"))
	recall := chain(t, list, asked.span, "recall")
	chain(t, list, recall.SpanContext.SpanID, "keyword over facts")
	if recall.service() != "eunoe-query" {
		t.Errorf("the recall was answered by %v", recall.service())
	}
	extractor.Stop(t)
	if !strings.Contains(extractor.Log.String(), `"trace_id":"`+first.id+`","message":"extracted"`) {
		t.Errorf("the extractor's log names no trace:\n%s", extractor.Log.String())
	}
}
