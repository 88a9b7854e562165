package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// built is where binaries went, "" while none were asked for.
var built string

// binaries builds the four stages once.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "eunoe-trace")
	if err != nil {
		return "", err
	}
	built = dir
	cmd := exec.Command("go", "build", "-o", dir+"/", "./cmd/ingest", "./cmd/extractor", "./cmd/consolidator", "./cmd/query")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// process is a stage in a process of its own.
type process struct {
	name string
	cmd  *exec.Cmd
	log  bytes.Buffer
}

func run(t *testing.T, name string, env []string) *process {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{name: name, cmd: exec.Command(filepath.Join(dir, name))}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), env...), &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	return p
}

// stop ends the process gracefully; a second call does nothing.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	late := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%s did not stop gracefully: %v", p.name, err)
	}
	if t.Failed() {
		t.Logf("%s said:\n%s", p.name, p.log.String())
	}
}

// metricsOf asks the broker where a stage serves its metrics, and reads them;
// "" while it does not answer.
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
	ingest := run(t, "ingest", env)
	extractor := run(t, "extractor", append(env[:len(env):len(env)], "EUNOE_LOG=debug"))
	for _, name := range []string{"consolidator", "query"} {
		run(t, name, env)
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
	// The other ingest finds an open message in what the first left behind, and
	// reads its trace from the log.
	ingest.stop(t)
	run(t, "ingest", env)
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
	extractor.stop(t)
	if !strings.Contains(extractor.log.String(), `"trace_id":"`+first.id+`","message":"extracted"`) {
		t.Errorf("the extractor's log names no trace:\n%s", extractor.log.String())
	}
}
