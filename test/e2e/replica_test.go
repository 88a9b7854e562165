package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// TestAQueryServiceReadsAReplica has the only query service read a standby while the consolidator writes the primary. It sees
// what it is to wait for, also its own writes, and says so where the standby does not follow.
func TestAQueryServiceReadsAReplica(t *testing.T) {
	t.Parallel()
	primary := postgrestest.ForTest(t)
	standby := primary.StandbyForTest(t)
	conn, err := pgx.Connect(t.Context(), primary.Schema("public"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	url := startBroker(t)
	common := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=error", "EUNOE_IDLE_AFTER=1m"}
	written := append(common[:len(common):len(common)], "EUNOE_STORE="+primary.Schema("eunoe"))
	for _, name := range []string{"ingest", "extractor", "consolidator"} {
		programs.Start(t, written, name)
	}
	first := programs.Start(t, written, "query")
	p := dial(t, url)
	waitAnswering(p)
	converse(p, "talk", 20)
	p.settle("talk")
	first.Stop(t)
	natstest.Eventually(t, "the standby has the store", func() bool {
		replica, err := store.Open(store.Config{DSN: standby.Schema("eunoe"), ReadOnly: true})
		return err == nil && replica.Close() == nil
	})
	programs.Start(t, append(common[:len(common):len(common)], "EUNOE_STORE="+standby.Schema("eunoe")), "query")
	waitAnswering(p)
	say := func(i int, wait string) object {
		t.Helper()
		seq := p.publish("mem.talk.message.s9", fmt.Sprintf(`{"id":"k%d","speaker":"Ines","content":"A chave %d está na gaveta."}`, i, i))
		return p.mustAsk("mem.talk.recall", fmt.Sprintf(`{"query":"Onde está a chave %d?","after":%d,"wait":%q}`, i, seq, wait))
	}
	for i := range 12 {
		if found := say(i, "60s"); found["fresh"] != true || !strings.Contains(fmt.Sprint(found["items"]), fmt.Sprintf("chave %d ", i)) {
			t.Errorf("message %d is not seen: %v", i, found)
		}
	}
	kept := p.mustAsk("mem.talk.retain", `{"facts":[{"text":"Ines collects stamps from Macau."}],"wait":"60s"}`)
	found := p.mustAsk("mem.talk.recall", fmt.Sprintf(`{"query":"What does Ines collect?","after_write":%d,"wait":"60s"}`, int(kept["write"].(float64))))
	if found["fresh"] != true || !strings.Contains(fmt.Sprint(found["items"]), "Macau") {
		t.Errorf("a fact of the same service is not seen: %v", found)
	}
	p.mustAsk("mem.talk.forget", `{"id":"k3","wait":"60s"}`)
	// A standby that is cut off while the erasure is replayed keeps a table locked.
	natstest.Eventually(t, "the tables are rewritten", func() bool {
		var pending int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM eunoe.meta WHERE key = 'scrub'").Scan(&pending); err != nil {
			t.Fatal(err)
		}
		return pending == 0
	})
	if found := say(19, "60s"); found["fresh"] != true {
		t.Errorf("a message after the erasure is not seen: %v", found)
	}

	join, err := standby.Part(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found := say(20, "200ms"); found["fresh"] != false {
		t.Errorf("a standby that does not follow claims to have seen a message: %v", found)
	}
	if err := join(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := say(21, "60s"); found["fresh"] != true || !strings.Contains(fmt.Sprint(found["items"]), "chave 21 ") {
		t.Errorf("a standby that follows again: %v", found)
	}
	if found := p.mustAsk("mem.talk.recall", `{"query":"Onde está a chave 3?","max_facts":50}`); strings.Contains(fmt.Sprint(found["items"]), "chave 3 ") {
		t.Errorf("what was forgotten is found on the standby: %v", found)
	}
}
