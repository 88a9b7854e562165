package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// TestTheBinariesRunAsWorkers runs a nats-server with a generated auth.conf and the four binaries with a worker's
// credentials. A bot receives answers and no stage is denied a permission, neither on an empty server nor after a
// restart.
func TestTheBinariesRunAsWorkers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	auth := filepath.Join(dir, "auth")
	if _, err := access.Init(auth, events.Naming{}); err != nil {
		t.Fatal(err)
	}
	seeds := map[string]string{}
	for _, u := range []access.User{{Name: "worker", Role: access.RoleWorker}, {Name: "talk", Role: access.RoleBot, Bank: "talk"}, {Name: "ann", Role: access.RoleOperator}} {
		if _, err := access.Add(auth, events.Naming{}, u, time.Now(), access.ToFile(access.SeedPath(auth, u.Name))); err != nil {
			t.Fatal(err)
		}
		seed, err := os.ReadFile(access.SeedPath(auth, u.Name))
		if err != nil {
			t.Fatal(err)
		}
		seeds[u.Name] = string(seed)
	}
	port := freePort(t)
	conf := filepath.Join(dir, "nats.conf")
	text := fmt.Sprintf("host: 127.0.0.1\nport: %d\njetstream { store_dir: '%s' }\ninclude ./auth/auth.conf\n", port, filepath.Join(dir, "streams"))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	programs.Start(t, nil, "nats-server", "-c", conf)
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	env := []string{"EUNOE_URL=" + url, "EUNOE_CREDS=" + access.SeedPath(auth, "worker"), "EUNOE_DATA=" + filepath.Join(dir, "data"),
		"EUNOE_LOG=trace", "EUNOE_IDLE_AFTER=1s", "EUNOE_ACK_WAIT=2s"}
	stages := map[string]*programs.Process{}
	run := func() {
		for _, name := range []string{"ingest", "extractor", "consolidator", "query"} {
			stages[name] = programs.Start(t, env, name)
		}
	}
	run()
	login := func(name string) plain {
		who, err := nats.NkeyOptionFromSeed(access.SeedPath(auth, name))
		if err != nil {
			t.Fatal(err)
		}
		var nc *nats.Conn
		natstest.Eventually(t, "the broker lets "+name+" in", func() bool {
			nc, err = nats.Connect(url, who)
			return err == nil
		})
		t.Cleanup(nc.Close)
		return plain{t, nc}
	}
	bot, ann := login("talk"), login("ann")
	waitAnswering(ann)
	converse(bot, "talk", 30)
	conserved(t, bot.settle("talk"), 30)
	bot.mustAsk("mem.talk.bank", `{"name":"Talk"}`)
	bot.publish("mem.talk.message.left", `{"id":"left","speaker":"Ann","content":"This session is left without a flush."}`)
	bot.settle("talk") // ingest flushes it
	bot.mustAsk("mem.talk.forget", `{"session":"s1"}`)
	check := func() {
		for name, p := range stages {
			natstest.Eventually(t, name+" says that it runs", func() bool { return strings.Contains(p.Log.String(), "running") })
			p.Stop(t)
			log := p.Log.String()
			if strings.Contains(log, "ermissions") {
				t.Errorf("%s was refused something:\n%s", name, log)
			}
			for user, seed := range seeds {
				if strings.Contains(log, seed) {
					t.Errorf("%s tells the seed of %s", name, user)
				}
			}
		}
	}
	check()
	run()
	waitAnswering(ann)
	if _, code := ann.ask("mem.admin.erase", `{"bank":"talk"}`); code != "" {
		t.Errorf("erase: %s", code)
	}
	check()
}
