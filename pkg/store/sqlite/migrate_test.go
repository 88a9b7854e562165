package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// asBefore converts the content of a store of this program ("now") into that of a store of version 6.
const asBefore = `
DELETE FROM applied;
INSERT INTO banks SELECT no, id, profile, version, consolidated, erased, observed FROM now.banks;
INSERT INTO meta SELECT * FROM now.meta WHERE key <> 'commits';
INSERT INTO applied SELECT stream, part, seq FROM now.applied;
INSERT INTO message_events SELECT * FROM now.message_events;
INSERT INTO messages SELECT * FROM now.messages;
CREATE TEMP TABLE earlier AS SELECT * FROM now.facts;
ALTER TABLE earlier DROP COLUMN bounds;
INSERT INTO facts SELECT * FROM earlier;
DROP TABLE earlier;
UPDATE facts SET parent = (SELECT c.id FROM now.composites c WHERE c.no = facts.parent);
UPDATE facts SET recorded = recorded + said;
UPDATE facts SET valid = '[{"from":"' || rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', said / 1000000.0, 'unixepoch'), '0'), '.') || 'Z","to":null}]' WHERE valid = '';
INSERT INTO fact_sources SELECT fact, seq, message, said, said + start FROM now.fact_sources;
INSERT INTO fact_entities SELECT bank, entity, fact, said, live FROM now.fact_entities;
INSERT INTO entity_counts SELECT * FROM now.entity_counts;
INSERT INTO fact_vectors SELECT fact, bank, unpacked(vector) FROM now.fact_vectors;
INSERT INTO message_vectors SELECT message, bank, unpacked(vector) FROM now.message_vectors;
INSERT INTO unembedded SELECT * FROM now.unembedded;
INSERT INTO composites SELECT no, id, bank, level, text, grams, representative, children, entities, tags, occurred_from, occurred_to, said, confidence, version,
  (SELECT p.id FROM now.composites p WHERE p.no = c.parent), made FROM now.composites c;
INSERT INTO composite_entities SELECT * FROM now.composite_entities;
INSERT INTO composite_vectors SELECT k.composite, k.bank, unpacked(coalesce(k.vector, v.vector)) FROM now.composite_vectors k LEFT JOIN now.fact_vectors v ON v.fact = k.fact;
INSERT INTO node_terms SELECT bank, level, term + (node << 23), node FROM now.node_terms;
INSERT INTO entities SELECT * FROM now.entities;
INSERT INTO entity_names SELECT * FROM now.entity_names;
INSERT INTO ops SELECT bank, op, write, json_insert(outcome, '$.op', op, '$.write', write) FROM now.ops;
INSERT INTO messages_fts (messages_fts) VALUES ('rebuild');
INSERT INTO facts_fts (facts_fts) VALUES ('rebuild');
INSERT INTO composites_fts (composites_fts) VALUES ('rebuild');
PRAGMA user_version = 6;`

// versionSix creates a store of version 6 with the content of the closed store at path.
func versionSix(t *testing.T, path string) string {
	t.Helper()
	old := filepath.Join(t.TempDir(), "eunoe.db")
	raw, err := sql.Open("sqlite3", "file:"+old)
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	defer func() {
		if err := raw.Close(); err != nil {
			t.Error(err)
		}
	}()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files[:6] {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.Exec(string(text)); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	if _, err := raw.Exec("ATTACH ? AS now; "+asBefore, path); err != nil {
		t.Fatal(err)
	}
	return old
}

func TestAStoreOfAnEarlierVersionIsMigrated(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	db := openStore(t, sqlite.DefaultConfig(path))
	unit := func(r *rand.Rand) memory.Vector {
		v := make(memory.Vector, 40)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v.Unit()
	}
	r := rand.New(rand.NewPCG(1, 2))
	events := benchMessages(r, 0, 3)
	var c memory.Changes
	for i, text := range []string{"Ann plays the cello in an orchestra.", "Ann practises her cello every evening.", "Ben sold his boat.", "Cleo waits for a vector."} {
		said := benchEpoch.Add(time.Duration(i) * 1500 * time.Millisecond)
		f := memory.Fact{ID: memory.NewFactID("b", text, memory.KindWorld), Bank: "b", Text: text, Kind: memory.KindWorld, Type: memory.TypeFact, Said: said,
			Recorded: said.Add(time.Duration(i) * time.Minute), Valid: []memory.Interval{{From: said}}, Confidence: .7, Version: 1, Entities: []memory.EntityID{"person:ann"},
			Sources: []memory.Source{{Message: events[0].Message.ID, Seq: 1, Said: said, Start: said.Add(-time.Duration(i) * time.Second)}}}
		if i < 3 {
			f.Vector = unit(r)
		}
		if i == 2 {
			to := said.Add(time.Hour)
			f.Valid[0].To = &to
		}
		c.Facts = append(c.Facts, f)
	}
	c.Entities = []memory.Entity{{ID: "person:ann", Type: memory.EntityPerson, Name: "Ann"}}
	members := []string{string(c.Facts[0].ID), string(c.Facts[1].ID)}
	low := memory.Composite{ID: memory.NewCompositeID("b", 1, members), Bank: "b", Level: 1, Text: c.Facts[0].Text, Representative: members[0], Children: members,
		Entities: []memory.EntityID{"person:ann"}, Said: benchEpoch, Confidence: .7, Version: 1, Vector: c.Facts[0].Vector}
	c.Composites = []memory.Composite{low}
	c.MessageVectors = []memory.LateVector{{Record: memory.RecordMessage, Seq: 1, Vector: unit(r)}}
	c.Outcome = memory.WriteOutcome{Facts: 4, Results: []memory.WriteResult{{ID: members[0], Outcome: "added"}}}
	apply(t, db, events, c)
	want := contentOf(t, db)
	closeStore(t, db)

	earlier := versionSix(t, path)
	old := openStore(t, sqlite.DefaultConfig(earlier))
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(contentOf(t, old), "\n")); d != "" {
		t.Errorf("what was migrated differs from what this version makes (-want +got):\n%s", d)
	}
	if err := old.Check(ctx); err != nil {
		t.Error(err)
	}
	found, err := old.Verify(ctx, true)
	if err != nil || !found.OK {
		t.Errorf("verify found %q, %v", found.Problems, err)
	}
	for _, file := range []string{path, earlier} {
		if names := triggers(t, file); len(names) > 0 {
			t.Errorf("%s has the triggers %q: a transaction counts what it writes itself", file, names)
		}
	}
	out, err := old.Outcome(ctx, "b", "op-1")
	if err != nil || out == nil || out.Op != "op-1" || out.Write != 1 || out.Facts != 4 || len(out.Results) != 1 {
		t.Errorf("the outcome of the op is %+v, %v", out, err)
	}
}

// triggers returns the names of the triggers that a store has.
func triggers(t *testing.T, file string) (names []string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	var list string
	err = raw.QueryRow("SELECT coalesce(group_concat(name), '') FROM sqlite_schema WHERE type = 'trigger'").Scan(&list)
	if err := errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func contentOf(t *testing.T, db *sqlite.DB) string {
	t.Helper()
	var out bytes.Buffer
	if err := db.Dump(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
