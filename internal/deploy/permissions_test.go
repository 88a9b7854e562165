package deploy_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// users returns the user entries of a document's examples.
func users(t *testing.T, doc string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```\n(\\{ user: .*?)```").FindStringSubmatch(read(t, doc))
	if block == nil {
		t.Fatalf("%s shows no users", doc)
	}
	return strings.ReplaceAll(block[1], "…", "secret")
}

// guarded starts a broker with the users of the contract in one account,
// another bot's, and a worker and an operator with the subjects of their roles.
func guarded(t *testing.T) *server.Server {
	t.Helper()
	alice := users(t, "docs/CONTRACT.md")
	bob := strings.NewReplacer("mem.alice.", "mem.bob.", "_INBOX_alice", "_INBOX_bob", "user: alice", "user: bob").Replace(alice)
	staff := ""
	for _, role := range []access.Role{access.RoleWorker, access.RoleOperator} {
		p := access.User{Role: role}.Permissions(events.Naming{})
		staff += fmt.Sprintf("{ user: %s, password: secret, permissions: { publish: { allow: [%s] }, subscribe: { allow: [%s] }", role, quoted(p.Publish), quoted(p.Subscribe))
		if p.Responds {
			staff += fmt.Sprintf(", allow_responses: { max: -1, expires: %q }", access.AnswerWithin)
		}
		staff += " } }\n"
	}
	dir := t.TempDir()
	conf := "host: 127.0.0.1\nport: -1\njetstream { store_dir: '" + filepath.Join(dir, "streams") + "' }\nauthorization { users: [\n" +
		alice + "\n" + bob + "\n" + staff + "\n] }\n"
	file := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatalf("the documents' users are no server settings: %v\n%s", err, conf)
	}
	o.NoLog, o.NoSigs = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the broker did not start")
	}
	return s
}

func quoted(subjects []string) string {
	var out []string
	for _, s := range subjects {
		out = append(out, strconv.Quote(s))
	}
	return strings.Join(out, ", ")
}

// login connects a user; refused receives the subjects that the broker denies it.
func login(t *testing.T, s *server.Server, user, inbox string) (nc *nats.Conn, refused chan error) {
	t.Helper()
	refused = make(chan error, 16)
	nc, err := nats.Connect(s.ClientURL(), nats.UserInfo(user, "secret"), nats.CustomInboxPrefix(inbox),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, refused
}

func TestTheDocumentedPermissionsHold(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	worker, err := events.Connect(t.Context(), events.ConnConfig{URL: s.ClientURL(), Wait: 10 * time.Second, Log: zerolog.Nop(),
		Options: []nats.Option{nats.UserInfo("worker", "secret")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Close)
	if err := worker.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatalf("a worker cannot make the streams: %v", err)
	}
	svc, err := micro.AddService(worker.NC, micro.Config{Name: "answers", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Stop() })
	answer := micro.HandlerFunc(func(r micro.Request) { _ = r.Respond([]byte(`{}`)); _ = r.Respond([]byte(`{}`)) })
	if err := svc.AddEndpoint("recall", answer, micro.WithEndpointSubject("mem.*.recall")); err != nil {
		t.Fatal(err)
	}
	if err := worker.NC.Flush(); err != nil {
		t.Fatal(err)
	}

	t.Run("a bot publishes, sends requests and receives changes in its own bank", func(t *testing.T) {
		t.Parallel()
		nc, _ := login(t, s, "alice", "_INBOX_alice")
		changes, err := nc.SubscribeSync("mem.alice.change.>")
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{"mem.alice.message.chat", "mem.alice.flush.chat", "mem.alice.recall"} {
			if _, err := nc.Request(subject, []byte(`{"content":"x"}`), 10*time.Second); err != nil {
				t.Errorf("%s: %v", subject, err)
			}
		}
		if err := worker.NC.Publish("mem.alice.change.fact", []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := changes.NextMsg(30 * time.Second); err != nil {
			t.Errorf("changes: %v", err)
		}
	})
	t.Run("a bot reaches no other bank and nothing of the workers", func(t *testing.T) {
		t.Parallel()
		for _, subject := range []string{"mem.bob.message.chat", "mem.bob.recall", "mem.alice.window.chat", "mem.alice.write.retain",
			"mem.alice.dead.ingest", "mem.alice.parked.chat", "mem.alice.change.fact", "mem.admin.erase", "$JS.API.STREAM.LIST", "$KV.MEM_BANKS.alice"} {
			nc, refused := login(t, s, "alice", "_INBOX_alice")
			if err := nc.Publish(subject, []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
			expectRefusal(t, nc, refused, "publish to "+subject)
		}
		for _, subject := range []string{"mem.bob.change.>", "mem.>", "_INBOX_bob.>", "_INBOX.>", "mem.alice.message.>", "mem.alice.write.>"} {
			nc, refused := login(t, s, "alice", "_INBOX_alice")
			if _, err := nc.SubscribeSync(subject); err != nil {
				t.Fatal(err)
			}
			expectRefusal(t, nc, refused, "subscribe to "+subject)
		}
	})
	t.Run("an operator asks every bank and the operators' endpoints and publishes to no stream", func(t *testing.T) {
		t.Parallel()
		nc, refused := login(t, s, "operator", "_INBOX")
		for _, subject := range []string{"mem.admin.banks", "mem.alice.status"} {
			if _, err := nc.Request(subject, nil, time.Second); !errors.Is(err, nats.ErrNoResponders) {
				t.Errorf("%s: %v", subject, err)
			}
		}
		if _, err := nc.Request("$JS.API.STREAM.NAMES", nil, 10*time.Second); err != nil {
			t.Errorf("streams: %v", err)
		}
		for _, subject := range []string{"mem.alice.message.chat", "mem.alice.write.retain", "mem.alice.window.chat"} {
			if err := nc.Publish(subject, nil); err != nil {
				t.Fatal(err)
			}
			expectRefusal(t, nc, refused, "publish to "+subject)
		}
	})
}

func expectRefusal(t *testing.T, nc *nats.Conn, refused chan error, what string) {
	t.Helper()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-refused:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("%s was allowed", what)
	}
}
