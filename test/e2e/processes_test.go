package e2e_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/freeport"
	"github.com/eunoe-memory/eunoe/test/programs"
)

func freePort(t *testing.T) int {
	t.Helper()
	ports, err := freeport.Take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return ports[0]
}

// startBroker runs a nats-server process with JetStream and returns its URL.
func startBroker(t *testing.T) string {
	t.Helper()
	port := freePort(t)
	programs.Start(t, nil, "nats-server", "-js", "-sd", t.TempDir(), "-a", "127.0.0.1", "-p", fmt.Sprint(port))
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	natstest.Eventually(t, "the broker lets a client connect", func() bool {
		nc, err := nats.Connect(url)
		if err == nil {
			nc.Close()
		}
		return err == nil
	})
	return url
}

// startStages runs the four binaries against a broker, with the given number of extractors.
func startStages(t *testing.T, url string, extractors int) []*programs.Process {
	t.Helper()
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s"}
	programs.Start(t, env, "ingest")
	programs.Start(t, env, "consolidator")
	programs.Start(t, env, "query")
	var out []*programs.Process
	for range extractors {
		out = append(out, programs.Start(t, env, "extractor"))
	}
	return out
}

var sayings = []string{
	"I work at the harbour as an engineer.", "My sister Nora lives in Bergen.", "I am allergic to peanuts.",
	"Hello there!", "I moved to Porto in March.", "We visited the aquarium yesterday with Tom.",
	"I prefer tea over coffee.", "What do you think?", "I bought a red bicycle last Friday.",
	"Nora adopted a cat called Pixel.", "I decided to learn Portuguese.", "Thanks, bye!",
}

// converse publishes a conversation of the given number of messages over four sessions.
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

func TestProcessesAndOneProcessYieldTheSameFacts(t *testing.T) {
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

// waitAnswering waits until the query stage answers a request.
func waitAnswering(p plain) {
	p.t.Helper()
	natstest.Eventually(p.t, "a query answers", func() bool {
		_, err := p.nc.Request("mem.admin.banks", nil, time.Second)
		return err == nil
	})
}

// conserved checks that every message event is counted under exactly one of the eight terms.
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
	extractors[0].Kill(t)
	s := p.settle("talk")
	conserved(t, s, messages)
	if s["dead"] != 0.0 {
		t.Errorf("dead letters after a kill: %v", s)
	}
}
