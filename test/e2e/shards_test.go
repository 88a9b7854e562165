package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// rowsOf returns the rows of the closed stores of all shards, sorted.
func rowsOf(t *testing.T, path string, shards int) []string {
	t.Helper()
	var out []string
	for _, s := range events.Shards(shards) {
		out = append(out, lines(dump(t, store.ShardDSN(path, s)))...)
	}
	out = slices.DeleteFunc(out, func(line string) bool { return line == "" })
	slices.Sort(out)
	return out
}

// sailors are banks of every one of four shards, each with a talk of its own.
func sailors(p plain) (banks []string) {
	p.t.Helper()
	for i, boat := range []string{"Amphitrite", "Bluebell", "Concordia", "Dunlin", "Elderflower", "Fulmar", "Gannet", "Heron", "Ibis", "Jackdaw"} {
		bank := fmt.Sprintf("crew-%d", i)
		banks = append(banks, bank)
		for j, line := range []string{"I sail the " + boat + " out of Falmouth.", "My brother Piet repairs her sails.", "We race against the Curlew in June.", "I am allergic to shellfish."} {
			body, _ := json.Marshal(object{"id": fmt.Sprintf("l%d", j), "speaker": "Wilma", "content": line})
			p.publish("mem."+bank+".message.harbour", string(body))
		}
		p.publish("mem."+bank+".flush.harbour", "{}")
	}
	return banks
}

// settledSailors are sailors whose talks have ended in facts.
func settledSailors(p plain) []string {
	p.t.Helper()
	banks := sailors(p)
	for _, b := range banks {
		p.settle(b)
	}
	return banks
}

// answersOf asks each bank for its boat.
func answersOf(p plain, banks []string) (out []string) {
	p.t.Helper()
	for _, bank := range banks {
		r := p.mustAsk("mem."+bank+".recall", `{"query":"which boat does Wilma sail?","max_facts":1}`)
		for _, it := range list(r["items"]) {
			out = append(out, bank+": "+it.(object)["text"].(string))
		}
	}
	return out
}

func TestSeveralStoresHoldAndAnswerWhatOneDoes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := apptest.Settings(t, map[string]string{"SHARDS": "4"})
	l, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, l.URL)
	history(p)
	banks := settledSailors(p)
	p.mustAsk("mem.crew-3.forget", `{"id":"l3"}`)
	p.mustAsk("mem.admin.erase", `{"bank":"crew-4"}`)
	banks = slices.DeleteFunc(banks, func(b string) bool { return b == "crew-4" })
	if at := p.mustAsk("mem.crew-5.recall", fmt.Sprintf(`{"query":"Falmouth","after":%d,"wait":"5s"}`,
		p.publish("mem.crew-5.message.harbour", `{"content":"Falmouth has a new lighthouse keeper."}`))); at["fresh"] != true {
		t.Errorf("a recall after a message: %v", at)
	}
	natstest.Eventually(t, "every bank settles", func() bool {
		for _, b := range banks {
			if s := p.mustAsk("mem."+b+".status", `{}`); s["settled"] != true && b != "crew-5" {
				return false
			}
		}
		return true
	})
	var seen []string
	for cursor := ""; ; {
		page := p.mustAsk("mem.admin.banks", fmt.Sprintf(`{"limit":3,"cursor":%q}`, cursor))
		for _, it := range list(page["items"]) {
			seen = append(seen, it.(object)["id"].(string))
		}
		if cursor, _ = page["next"].(string); cursor == "" {
			break
		}
	}
	if want := append(slices.Clone(banks), "other", "talk"); !slices.Equal(seen, want) {
		t.Errorf("banks %v, expected %v", seen, want)
	}
	answered := answersOf(p, banks)
	if len(answered) != len(banks) {
		t.Errorf("answers %q", answered)
	}
	natstest.Eventually(t, "a sound check", func() bool {
		v := p.mustAsk("mem.admin.verify", `{"full":true}`)
		return v["ok"] == true
	})
	p.nc.Close()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	perShard := make([]int, 4)
	for i, s := range events.Shards(4) {
		perShard[i] = strings.Count(dump(t, store.ShardDSN(c.Store, s)), "\n")
	}
	if slices.Min(perShard) == 0 {
		t.Errorf("rows by shard: %v", perShard)
	}
	want := rowsOf(t, c.Store, 4)

	for _, n := range []int{1, 4, 16, 2} {
		c.Shards = n
		if err := offline.Rebuild(ctx, c, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, rowsOf(t, c.Store, n)); diff != "" {
			t.Fatalf("rebuilt as %d (-live +rebuilt):\n%s", n, diff[max(0, len(diff)-4000):])
		}
		files, err := filepath.Glob(filepath.Join(c.Data, "*.db"))
		if err != nil || len(files) != n {
			t.Errorf("rebuilt as %d: %v %v", n, files, err)
		}
		if v, err := offline.Verify(ctx, c, true, false); err != nil || !v.OK {
			t.Errorf("rebuilt as %d: %q %v", n, v.Problems, err)
		}
	}

	c.Shards = 8
	if again, err := local.Start(ctx, c, os.Stderr); err == nil {
		again.Close(ctx)
		t.Error("started with another number of stores than there are")
	} else if !strings.Contains(err.Error(), "EUNOE_SHARDS") || !strings.Contains(err.Error(), "eunoe rebuild") {
		t.Errorf("the error says not what to do: %v", err)
	}
	c.Shards = 0 // as many as there are
	again, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(ctx)
	q := dial(t, again.URL)
	if diff := cmp.Diff(answered, answersOf(q, banks)); diff != "" {
		t.Errorf("answers of two stores (-four +two):\n%s", diff)
	}
}

func TestSeveralSchemasHoldWhatSeveralFilesDo(t *testing.T) {
	t.Parallel()
	one, other := postgrestest.ForTest(t), postgrestest.ForTest(t)
	c := apptest.Settings(t, map[string]string{"SHARDS": "4", "STORE": one.Schema("spread") + " " + other.Schema("spread")})
	var banks, onServer, inFiles []string
	run(t, c, func(p plain) {
		banks = settledSailors(p)
		onServer = answersOf(p, banks)
	})
	want := rowsOf(t, c.Store, 4)
	for i, s := range events.Shards(4) {
		server := []*postgrestest.Server{one, other}[i%2]
		if there, err := storage.Exists(t.Context(), store.ShardDSN(server.Schema("spread"), s)); err != nil || !there {
			t.Errorf("shard %s is not on its server: %v", s, err)
		}
	}
	c.Store = filepath.Join(c.Data, "eunoe.db")
	if err := offline.Rebuild(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rowsOf(t, c.Store, 4)); diff != "" {
		t.Errorf("rebuilt as files (-schemas +files):\n%s", diff)
	}
	run(t, c, func(p plain) { inFiles = answersOf(p, banks) })
	if diff := cmp.Diff(onServer, inFiles); diff != "" {
		t.Errorf("answers (-schemas +files):\n%s", diff)
	}
}

func TestAStoreIsNotSpreadByASettingAlone(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	run(t, c, func(p plain) { settledSailors(p) })
	c.Shards = 4
	if wrong, err := local.Start(t.Context(), c, os.Stderr); err == nil {
		wrong.Close(context.Background())
		t.Fatal("four empty stores were opened beside the one that holds the memory")
	}
}

// TestConsolidatorsOfSeveralShardsAreKilled runs two consolidators, which share four shards, and kills each of them.
func TestConsolidatorsOfSeveralShardsAreKilled(t *testing.T) {
	t.Parallel()
	whole := dial(t, startLocal(t, nil).URL)
	banks := sailors(whole)
	url, data := startBroker(t), t.TempDir()
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + data, "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s", "EUNOE_SHARDS=4"}
	programs.Start(t, env, "ingest")
	programs.Start(t, env, "extractor")
	first := programs.Start(t, env, "consolidator")
	programs.Start(t, env, "query")
	second := programs.Start(t, env, "consolidator")
	apart := dial(t, url)
	waitAnswering(apart)
	js, err := jetstream.New(apart.nc)
	if err != nil {
		t.Fatal(err)
	}
	leases, err := js.KeyValue(t.Context(), "MEM_LEASES")
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "each consolidator has two shards", func() bool {
		shards := map[string]int{}
		for _, key := range []string{"consolidator", "consolidator-1", "consolidator-2", "consolidator-3"} {
			if owner, err := leases.Get(t.Context(), key); err == nil {
				shards[string(owner.Value())]++
			}
		}
		counts := slices.Collect(maps.Values(shards))
		return slices.Equal(counts, []int{2, 2})
	})
	sailors(apart)
	first.Kill(t)
	for _, b := range banks[:5] {
		apart.settle(b)
	}
	programs.Start(t, env, "consolidator")
	second.Kill(t)
	for _, b := range banks {
		whole.settle(b)
		apart.settle(b)
		if diff := cmp.Diff(facts(whole, b), facts(apart, b)); diff != "" {
			t.Errorf("%s (-one store +four, killed):\n%s", b, diff)
		}
	}
	natstest.Eventually(t, "every shard has a consolidator", func() bool { return !strings.Contains(doctor(t, url), "nobody consolidates") })
	out, err := live(t, url)
	if err != nil {
		t.Fatalf("a live rebuild: %v\n%s", err, out)
	}
	for _, s := range events.Shards(4) {
		if !strings.Contains(out, s.String()) {
			t.Errorf("shard %s was not rebuilt: %s", s, out)
		}
	}
	for _, b := range banks {
		if diff := cmp.Diff(facts(whole, b), facts(apart, b)); diff != "" {
			t.Errorf("%s after a live rebuild:\n%s", b, diff)
		}
	}
	if out, err := runProgram(t, nil, "eunoe", "doctor", "--url", url); err != nil || !strings.Contains(out, "shard 3of4") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}

func TestABackupHoldsTheStoresOfAllShards(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, map[string]string{"SHARDS": "2"})
	run(t, c, func(p plain) { settledSailors(p) })
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := offline.Backup(t.Context(), c, dir, true, nil); err != nil {
		t.Fatal(err)
	}
	to := apptest.Settings(t, nil)
	v, err := offline.Restore(t.Context(), to, dir, true, nil)
	if err != nil || !v.OK {
		t.Fatalf("%q %v", v.Problems, err)
	}
	if diff := cmp.Diff(rowsOf(t, c.Store, 2), rowsOf(t, to.Store, 2)); diff != "" {
		t.Errorf("restored:\n%s", diff)
	}
	if _, err := offline.Restore(t.Context(), apptest.Settings(t, map[string]string{"STORE": to.Store}), dir, true, nil); err == nil {
		t.Error("restored over stores that were there")
	}
}
