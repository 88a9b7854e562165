package deploy_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

var example = regexp.MustCompile(`(?m)^(?:bin/)?nats req (\S+) '(.*)'`)

// requests returns the `nats req` lines of a page's shell blocks, in order.
func requests(t *testing.T, page string) [][]string {
	t.Helper()
	var out [][]string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(read(t, page), -1) {
		out = append(out, example.FindAllStringSubmatch(block[1], -1)...)
	}
	return out
}

func quietSettings(t *testing.T, more ...string) settings.Config {
	t.Helper()
	c, _, err := settings.Load(append([]string{"EUNOE_DATA=" + t.TempDir(), "EUNOE_PORT=-1", "EUNOE_LOG=error", "EUNOE_SYNC=false"}, more...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a request and fails the test when the answer is a failure.
func ask(t *testing.T, nc *nats.Conn, subject, body string) []byte {
	t.Helper()
	m, err := nc.Request(subject, []byte(body), 30*time.Second)
	if err != nil {
		t.Fatalf("%s %s: %v", subject, body, err)
	}
	if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
		t.Fatalf("%s %s: %s %s", subject, body, code, m.Header.Get("Nats-Service-Error"))
	}
	return m.Data
}

func TestTheExamplesOfThePagesWork(t *testing.T) {
	t.Parallel()
	for page, least := range map[string]int{"docs/CONTRACT.md": 8, "README.md": 2} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			l, err := local.Start(t.Context(), quietSettings(t), os.Stderr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := l.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			nc, err := nats.Connect(l.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(nc.Close)
			list := requests(t, page)
			if len(list) < least {
				t.Fatalf("%d examples were found", len(list))
			}
			for _, r := range list {
				ask(t, nc, r[1], r[2])
			}
		})
	}
}

// TestTheStagesRunWithTheDocumentedPermissions runs all stages with the documented worker permissions, and a bot with
// the contract's.
func TestTheStagesRunWithTheDocumentedPermissions(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	url := strings.Replace(s.ClientURL(), "nats://", "nats://worker:secret@", 1)
	c := quietSettings(t, "EUNOE_URL="+url)
	ctx, stop := context.WithCancel(t.Context())
	group, ctx := errgroup.WithContext(ctx)
	for _, stage := range local.Stages() {
		group.Go(func() error { return process.Run(ctx, c, stage) })
	}
	t.Cleanup(func() {
		stop()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
	nc, refused := login(t, s, "alice", "_INBOX_alice")
	natstest.Eventually(t, "the streams and the query stage are there", func() bool {
		if ctx.Err() != nil {
			t.Fatalf("a stage failed: %v", group.Wait())
		}
		_, err := nc.Request("mem.alice.bank", nil, time.Second)
		return err == nil
	})
	ack := ask(t, nc, "mem.alice.message.chat", `{"speaker":"Alice","content":"I am allergic to shellfish."}`)
	ask(t, nc, "mem.alice.flush.chat", ``)
	var stored struct{ Seq uint64 }
	if err := json.Unmarshal(ack, &stored); err != nil || stored.Seq == 0 {
		t.Fatalf("acknowledged by %s: %v", ack, err)
	}
	var status wire.Status
	natstest.Eventually(t, "the message became a fact", func() bool {
		m, err := nc.Request("mem.alice.status", nil, 5*time.Second)
		return err == nil && json.Unmarshal(m.Data, &status) == nil && status.Settled && status.Facts > 0
	})
	var found wire.RecallReply
	if err := json.Unmarshal(ask(t, nc, "mem.alice.recall", `{"query":"What is Alice allergic to?"}`), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Items) == 0 || !strings.Contains(found.Items[0].Text, "shellfish") {
		t.Errorf("found %+v", found.Items)
	}
	ask(t, nc, "mem.alice.retain", `{"facts":[{"text":"Alice likes tea."}]}`)
	ask(t, nc, "mem.alice.forget", `{"session":"chat"}`)
	if len(refused) > 0 {
		t.Errorf("the bot was refused: %v", <-refused)
	}
}
