package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
)

// built is where binaries went, "" while none were asked for.
var built string

// binaries builds the four stages and a NATS server once for all tests.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "eunoe-bin")
	if err != nil {
		return "", err
	}
	built = dir
	cmd := exec.Command("go", "build", "-o", dir+"/", "./cmd/ingest", "./cmd/extractor", "./cmd/consolidator", "./cmd/query", "github.com/nats-io/nats-server/v2")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// process is a program the test started; its standard error is kept.
type process struct {
	cmd *exec.Cmd
	log *journal
}

// journal is what a process said so far.
type journal struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.said.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.said.String()
}

func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(filepath.Join(dir, name), args...), log: &journal{}}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.stop(t, name)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", name, tail(p.log.String(), 4000))
		}
	})
	return p
}

func (p *process) stop(t *testing.T, name string) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil && name != "nats-server" {
			t.Errorf("%s did not stop gracefully: %v", name, err)
		}
	case <-time.After(20 * time.Second):
		t.Errorf("%s did not stop within 20 s", name)
		_ = p.cmd.Process.Kill()
		<-done
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startBroker runs a nats-server process with JetStream and gives its URL.
func startBroker(t *testing.T) string {
	t.Helper()
	port := freePort(t)
	start(t, nil, "nats-server", "-js", "-sd", t.TempDir(), "-a", "127.0.0.1", "-p", fmt.Sprint(port))
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	deadline := time.Now().Add(time.Minute)
	for {
		nc, err := nats.Connect(url)
		if err == nil {
			nc.Close()
			return url
		}
		if time.Now().After(deadline) {
			t.Fatalf("no broker: %v", err)
		}
	}
}

// startStages runs the four binaries against a broker, with so many extractors.
func startStages(t *testing.T, url string, extractors int) []*process {
	t.Helper()
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s"}
	start(t, env, "ingest")
	start(t, env, "consolidator")
	start(t, env, "query")
	var out []*process
	for range extractors {
		out = append(out, start(t, env, "extractor"))
	}
	return out
}

var sayings = []string{
	"I work at the harbour as an engineer.", "My sister Nora lives in Bergen.", "I am allergic to peanuts.",
	"Hello there!", "I moved to Porto in March.", "We visited the aquarium yesterday with Tom.",
	"I prefer tea over coffee.", "What do you think?", "I bought a red bicycle last Friday.",
	"Nora adopted a cat called Pixel.", "I decided to learn Portuguese.", "Thanks, bye!",
}

// converse publishes a conversation of so many messages over four sessions.
func converse(p plain, bank string, messages int) {
	p.t.Helper()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i := range messages {
		body, _ := json.Marshal(object{
			"id": fmt.Sprintf("m%d", i), "speaker": []string{"Alice", "Ben"}[i%2],
			"content": sayings[(i*7+i/5)%len(sayings)] + fmt.Sprintf(" It was day %d.", i/3),
			"time":    at.Add(time.Duration(i) * time.Minute).Format(time.RFC3339),
		})
		p.publish(fmt.Sprintf("mem.%s.message.s%d", bank, i%4), string(body))
	}
	for s := range 4 {
		p.publish(fmt.Sprintf("mem.%s.flush.s%d", bank, s), "{}")
	}
}

// facts lists every fact of a bank as "id text <- sources".
func facts(p plain, bank string) []string {
	p.t.Helper()
	out, cursor := []string{}, ""
	for {
		body, _ := json.Marshal(object{"record": "fact", "limit": 100, "cursor": cursor})
		r := p.mustAsk("mem."+bank+".list", string(body))
		for _, it := range list(r["items"]) {
			f := it.(object)
			src := []string{}
			for _, s := range list(f["sources"]) {
				src = append(src, s.(string))
			}
			sort.Strings(src)
			out = append(out, fmt.Sprintf("%s %s <- %s", f["id"], f["text"], strings.Join(src, " ")))
		}
		if cursor, _ = r["next"].(string); cursor == "" {
			sort.Strings(out)
			return out
		}
	}
}

func TestProcessesAndOneProcessGiveTheSameFacts(t *testing.T) {
	t.Parallel()
	const messages = 120

	whole := dial(t, startLocal(t, nil).URL)
	converse(whole, "talk", messages)
	whole.settle("talk")
	want := facts(whole, "talk")
	if len(want) < messages/4 {
		t.Fatalf("only %d facts of %d messages", len(want), messages)
	}

	url := startBroker(t)
	startStages(t, url, 4)
	apart := dial(t, url)
	waitAnswering(apart)
	converse(apart, "talk", messages)
	s := apart.settle("talk")
	if diff := cmp.Diff(want, facts(apart, "talk")); diff != "" {
		t.Errorf("four binaries with four extractors differ from one process (-one +four):\n%s", diff)
	}
	conserved(t, s, messages)
}

// waitAnswering waits until a query answers.
func waitAnswering(p plain) {
	p.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := p.nc.Request("mem.admin.banks", nil, time.Second)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("no query answers: %v", err)
		}
	}
}

// conserved checks that every message event is exactly one of the eight.
func conserved(t *testing.T, status object, messages int) {
	t.Helper()
	c, _ := status["conservation"].(object)
	sum := 0.0
	for _, k := range []string{"forgotten", "dead", "duplicate", "throttled", "skipped", "committed", "empty", "pending"} {
		n, ok := c[k].(float64)
		if !ok {
			t.Fatalf("conservation misses %s: %v", k, c)
		}
		sum += n
	}
	if c["published"] != float64(messages) || sum != float64(messages) || c["pending"] != 0.0 {
		t.Errorf("of %d messages: %v", messages, c)
	}
}

func TestAnExtractorThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	const messages = 120
	url := startBroker(t)
	extractors := startStages(t, url, 2)
	p := dial(t, url)
	waitAnswering(p)
	converse(p, "talk", messages)
	if err := extractors[0].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = extractors[0].cmd.Wait()
	s := p.settle("talk")
	conserved(t, s, messages)
	if s["dead"] != 0.0 {
		t.Errorf("dead letters after a kill: %v", s)
	}
}
