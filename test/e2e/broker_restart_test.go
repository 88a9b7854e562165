package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// broker is a nats-server process of its own that can be stopped and started again.
type broker struct {
	t    *testing.T
	dir  string
	port int
	url  string
	*programs.Process
}

func newBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir(), port: freePort(t)}
	b.url = fmt.Sprintf("nats://127.0.0.1:%d", b.port)
	b.start()
	return b
}

func (b *broker) start() {
	b.t.Helper()
	b.Process = programs.Start(b.t, nil, "nats-server", "-js", "-sd", b.dir, "-a", "127.0.0.1", "-p", fmt.Sprint(b.port))
	natstest.Eventually(b.t, "the broker lets a client connect", func() bool {
		nc, err := nats.Connect(b.url)
		if err == nil {
			nc.Close()
		}
		return err == nil
	})
}

// stages are the four programs against a broker, each with a known address of its health checks.
type stages struct {
	env  []string
	http map[string]string // by name
	run  map[string]*programs.Process
}

func runStages(t *testing.T, url string) *stages {
	t.Helper()
	s := &stages{http: map[string]string{}, run: map[string]*programs.Process{},
		env: []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s"}}
	for _, name := range []string{"ingest", "consolidator", "query", "extractor"} {
		s.http[name] = fmt.Sprintf("127.0.0.1:%d", freePort(t))
		s.start(t, name)
	}
	return s
}

func (s *stages) start(t *testing.T, name string) {
	t.Helper()
	s.run[name] = programs.Start(t, append(s.env, "EUNOE_HEALTH="+s.http[name]), name)
}

// ready returns the status of a stage's /readyz and what it says; 0 if it does not answer.
func (s *stages) ready(t *testing.T, name string) (status int, says string) {
	t.Helper()
	r, err := http.Get("http://" + s.http[name] + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// allReady waits until every stage is ready.
func (s *stages) allReady(t *testing.T) {
	t.Helper()
	for name := range s.http {
		natstest.Eventually(t, name+" is ready", func() bool {
			status, _ := s.ready(t, name)
			return status == http.StatusOK
		})
	}
}

// doctor runs `eunoe doctor` against a broker.
func doctor(t *testing.T, url string, args ...string) string {
	t.Helper()
	dir, err := programs.Dir()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := exec.CommandContext(t.Context(), filepath.Join(dir, "eunoe"), append([]string{"doctor", "--url", url}, args...)...).CombinedOutput() // its exit code is that something is to mend
	return string(out)
}

func TestARestartOfTheBrokerStopsNothing(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	s := runStages(t, b.url)
	p := dial(t, b.url)
	waitAnswering(p)
	converse(p, "talk", 12)
	p.settle("talk")
	for range 2 {
		b.Stop(t)
		b.start()
	}
	natstest.Eventually(t, "the client is connected again", p.nc.IsConnected)
	p.publish("mem.talk.message.s9", `{"id":"later","speaker":"Alice","content":"I am allergic to walnuts."}`)
	p.publish("mem.talk.flush.s9", "")
	p.settle("talk")
	if r := p.mustAsk("mem.talk.retain", `{"facts":[{"text":"Alice keeps two goats."}]}`); list(r["results"]) == nil {
		t.Errorf("a retain after the restart: %v", r)
	}
	s.allReady(t)
	told := ""
	defer func() {
		if t.Failed() {
			t.Logf("doctor: %s", told)
		}
	}()
	natstest.Eventually(t, "the buckets in memory are made again, too", func() bool { // by the next look of a stage
		told = doctor(t, b.url)
		return !strings.Contains(told, "BAD")
	})
}

func TestReadinessAndDoctorTellThatNobodyConsolidates(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	s := runStages(t, b.url)
	waitAnswering(dial(t, b.url))
	s.allReady(t)
	s.run["consolidator"].Kill(t)
	natstest.Eventually(t, "query says that nobody consolidates", func() bool {
		status, says := s.ready(t, "query")
		return status == http.StatusServiceUnavailable && strings.Contains(says, "nobody consolidates")
	})
	if told := doctor(t, b.url); !strings.Contains(told, "nobody consolidates") {
		t.Errorf("doctor: %s", told)
	}
	s.start(t, "consolidator")
	s.allReady(t)
	if told := doctor(t, b.url); strings.Contains(told, "nobody consolidates") {
		t.Errorf("doctor: %s", told)
	}
}

func TestALostBucketIsMadeAnew(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	s := runStages(t, b.url)
	p := dial(t, b.url)
	waitAnswering(p)
	converse(p, "talk", 12)
	p.settle("talk")
	for _, stream := range []string{"KV_MEM_LEASES", "KV_MEM_BANKS", "MEM_CHANGES", "MEM_DEAD", "MEM_PARKED"} {
		if m, err := p.nc.Request("$JS.API.STREAM.DELETE."+stream, nil, 5*time.Second); err != nil || !strings.Contains(string(m.Data), `"success":true`) {
			t.Fatalf("delete %s: %v", stream, err)
		}
	}
	converse(p, "more", 12)
	p.settle("more")
	s.allReady(t)
}
