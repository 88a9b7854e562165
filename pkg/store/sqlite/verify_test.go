package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// soundStore creates a store with at least one row in nearly every table and returns its path.
func soundStore(t *testing.T) string {
	t.Helper()
	config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	config.Unsynced = true
	db := openStore(t, config)
	said := func(seq uint64) time.Time { return benchEpoch.Add(time.Duration(seq) * time.Minute) }
	axis := func(n int) memory.Vector {
		v := make(memory.Vector, 8)
		v[0], v[n%7+1] = 3, 1
		return v.Unit()
	}
	var events []consolidate.MessageEvent
	for seq := uint64(1); seq <= 12; seq++ {
		m := &memory.Message{Bank: "b", Session: "s", Seq: seq, ID: memory.MessageID(fmt.Sprintf("m%d", seq)), Role: memory.RoleUser, Speaker: "Ann",
			Content: fmt.Sprintf("I repaired clock number%d in the hall.", seq), Time: said(seq)}
		e := consolidate.MessageEvent{Seq: seq, Bank: "b", Session: "s", Stored: said(seq), State: memory.StatePending, Message: m}
		switch seq {
		case 9: // a repeat
			m.ID = "m8"
		case 10:
			m.Replaces = "m7"
		case 11: // malformed
			e.Message, e.State = nil, memory.StateDead
		}
		events = append(events, e)
	}
	ann := memory.NewEntityID(memory.EntityPerson, "Ann")
	fact := func(n int) memory.Fact {
		text := fmt.Sprintf("Ann repaired clock number%d in the hall.", n)
		at := said(uint64(n))
		return memory.Fact{ID: memory.NewFactID("b", text, memory.KindWorld), Bank: "b", Text: text, Kind: memory.KindWorld, Type: memory.TypeFact, Entities: []memory.EntityID{ann},
			Said: at, Recorded: at, Valid: []memory.Interval{{From: at}}, Confidence: .8, Version: 1, Vector: axis(n), Model: "axes",
			Sources: []memory.Source{{Message: memory.MessageID(fmt.Sprintf("m%d", n)), Seq: uint64(n), Said: at, Start: at}}}
	}
	var c memory.Changes
	for n := 1; n <= 8; n++ {
		c.Facts = append(c.Facts, fact(n))
	}
	end := said(9)
	c.Facts[4].Valid[0].To, c.Facts[4].Superseded = &end, c.Facts[5].ID
	c.Facts[6].Valid = []memory.Interval{{From: said(1), To: new(said(3))}, {From: said(5)}}
	c.Facts[7].Key, c.Facts[7].Vector, c.Facts[7].Ops, c.Facts[7].Sources = "clock", nil, []string{"by-hand"}, nil
	composite := func(level int, rep string, text string, children ...string) memory.Composite {
		slices.Sort(children)
		return memory.Composite{ID: memory.NewCompositeID("b", level, children), Bank: "b", Level: level, Text: text, Representative: rep, Children: children,
			Entities: []memory.EntityID{ann}, Said: said(4), Confidence: .8, Version: 1, Vector: axis(1)}
	}
	id := func(n int) string { return string(c.Facts[n-1].ID) }
	one, two := composite(1, id(1), c.Facts[0].Text, id(1), id(2)), composite(1, id(3), c.Facts[2].Text, id(3), id(4))
	top := composite(2, string(one.ID), one.Text, string(one.ID), string(two.ID))
	c.Composites = []memory.Composite{one, two, top}
	c.Entities = []memory.Entity{{ID: ann, Type: memory.EntityPerson, Name: "Ann", Aliases: []string{"Annie"}}, {ID: "person:anne", Type: memory.EntityPerson, Name: "Anne", Redirect: ann}}
	c.Relations = []memory.Relation{{From: id(1), To: id(2), Type: memory.RelImplies, Strength: .5, Facts: []memory.FactID{c.Facts[0].ID}}}
	c.Conflicts = []memory.Conflict{{ID: "x_1", A: c.Facts[0].ID, B: c.Facts[1].ID, State: memory.ConflictOpen, Version: 1}}
	c.Observations = []memory.Observation{{ID: "o_1", Bank: "b", Type: memory.ObservationPattern, Text: "Ann repairs clocks.", Facts: []memory.FactID{c.Facts[0].ID}, Confidence: .5, Version: 1}}
	c.Uses = []memory.Use{{ID: id(1), Used: 1, At: said(1)}}
	c.MessageVectors = []memory.LateVector{{Record: memory.RecordMessage, Seq: 1, Model: "axes", Vector: axis(1)}}
	c.Replacements = []memory.Replacement{{ID: "m7", By: 10, Time: said(10)}}
	c.Pending = []memory.PendingQuestion{{PendingKey: memory.PendingKey{Kind: memory.PendingDecide, ID: id(1)}}}
	c.Decisions = []memory.DecisionResult{{Fact: c.Facts[5].ID, Target: c.Facts[4].ID, Write: 1, Action: memory.ActionSupersede}}
	c.Derived = []memory.FactID{c.Facts[5].ID}
	w := memory.WindowEnd{SessionID: "s", Outcome: memory.WindowFacts}
	w.ID = "w_1"
	for seq := uint64(1); seq <= 10; seq++ {
		w.New = append(w.New, memory.WindowMessage{Seq: seq})
		c.Ended = append(c.Ended, memory.MessageEnd{Seq: seq, State: memory.StateCommitted})
	}
	c.Window = &w
	c.Changes = []memory.Change{{What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: id(1)}}
	ctx := context.Background()
	if err := db.ApplyMessages(ctx, 0, 12, events); err != nil {
		t.Fatal(err)
	}
	writes := []memory.Write{
		{Bank: "b", Kind: memory.WriteWindow, Seq: 1, Op: "w_1", Time: said(20), Usage: []memory.StageUsage{{Stage: "extract", Model: "m", Usage: memory.Usage{Calls: 2, Failed: 1}}},
			Vectors: []memory.LateVector{{Record: memory.RecordMessage, Seq: 1}}},
		{Bank: "b", Kind: memory.WriteWindow, Seq: 2, Op: "w_1", Time: said(21)},
		{Bank: "b", Kind: memory.WriteForget, Seq: 3, Op: "f", Time: said(22)},
	}
	plans := []memory.Changes{c, {}, {Forgotten: &memory.Forgotten{Messages: []uint64{6}, Facts: []memory.FactID{}}}}
	// Records whose source was forgotten receive another source.
	moved := c.Facts[5]
	moved.Sources, moved.Vector = fact(8).Sources, nil
	plans[2].Facts = []memory.Fact{moved}
	err := db.ApplyWrites(ctx, 0, 3, writes, func(_ plan.View, w memory.Write) (memory.Changes, error) { return plans[w.Seq-1], nil })
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, db)
	return config.Path
}

// verifyFile checks a file that no other connection uses.
func verifyFile(t *testing.T, path string, full bool) wire.Verification {
	t.Helper()
	config := sqlite.DefaultConfig(path)
	config.Unsynced = true
	db := openStore(t, config)
	defer closeStore(t, db)
	v, err := db.Verify(context.Background(), full)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVerify(t *testing.T) {
	t.Parallel()
	sound := soundStore(t)
	if v := verifyFile(t, sound, true); !v.OK || len(v.Problems) > 0 || v.Counts["facts"] != 8 || v.Counts["composites"] != 3 {
		t.Fatalf("the sound store: %+v", v)
	}
	content, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ breaks, rule string }{
		{`INSERT INTO tombstones VALUES (99, 'x', 1)`, "a row of tombstones belongs to a bank"},
		{`INSERT INTO usage_events VALUES (99, 'x', 1)`, "a row of usage_events belongs to a bank"},
		{`INSERT INTO fact_sources VALUES (99, 1, 'm1', 1, 1)`, "a row that belongs to another has it"},
		{`INSERT INTO unembedded VALUES (99)`, "unembedded row 99 names no row of facts"},
		{`DELETE FROM facts WHERE no = 8`, "the text index of facts"},
		{`DELETE FROM message_events WHERE seq = 12`, "a message has its event"},
		{`UPDATE message_events SET session = 't' WHERE seq = 12`, "a message has its event"},
		{`UPDATE message_events SET state = 'forgotten' WHERE seq = 12`, "a forgotten or repeated event has no message"},
		{`UPDATE message_events SET state = 'lost' WHERE seq = 12`, "every event is counted under one known end"},
		{`UPDATE message_events SET state = 'pending' WHERE seq = 11`, "an event that is neither dead, forgotten nor a repeat has its message"},
		{`UPDATE message_events SET id = 'm99' WHERE seq = 9`, "a repeat has a first"},
		{`UPDATE message_events SET state = 'committed' WHERE seq = 12`, "a message that ended was in a window that ended"},
		{`INSERT INTO pending_counts VALUES (1, 'nowhere', 1)`, "the pending messages of a session are counted"},
		{`UPDATE state_counts SET n = n + 1`, "message events are counted by state"},
		{`UPDATE message_events SET state = 'dead' WHERE seq = 1`, "a message that ended as its window did"},
		{`UPDATE windows SET first = 99`, "a window stands on events of its bank"},
		{`UPDATE replacements SET by = 99`, "a replacement is by a message"},
		{`INSERT INTO tombstones VALUES (1, 'm1', 1)`, "what is forgotten is gone"},
		{`UPDATE message_vectors SET bank = (SELECT 1 + max(no) FROM banks)`, "a vector of a message is its bank's"},
		{`UPDATE row_counts SET n = n + 1 WHERE record = 'fact'`, "the records of a bank are counted"},
		{`UPDATE row_counts SET n = n + 1 WHERE record = 'composite'`, "the records of a bank are counted"},
		{`DELETE FROM row_counts`, "the records of a bank are counted"},
		{`UPDATE banks SET profile = ''`, "a bank that is not there has no records"},
		{`UPDATE banks SET profile = '{"id":"c"}'`, "a profile names its bank"},
		{`UPDATE applied SET seq = 11 WHERE stream = 'MEM_MESSAGES'`, "nothing is stored past the applied messages"},
		{`UPDATE applied SET seq = 0 WHERE stream = 'MEM_WRITES'`, "nothing is stored past the applied writes"},
		{`UPDATE facts SET version = 4 WHERE no = 1`, "nothing is stored past the applied writes"},
		{`DELETE FROM applied WHERE stream = 'MEM_WRITES'`, "there is one position for each stream"},
		{`UPDATE repeats SET op = 'x'`, "a repeat of an op has the op"},
		{`UPDATE ops SET outcome = '{'`, "an outcome can be read"},
		{`UPDATE outbox SET body = '{}'`, "a change to be sent can be read"},
		{`UPDATE erasures SET stream = 'X'`, "an event to be erased is named"},
		{`UPDATE fact_sources SET seq = 6, message = 'm6' WHERE fact = 1`, "a fact rests on messages of its bank that are not forgotten"},
		{`UPDATE fact_sources SET message = 'm2' WHERE fact = 1`, "a source names the message that is stored"},
		{`DELETE FROM fact_sources WHERE fact = 1`, "a fact rests on a message or on an op"},
		{`UPDATE facts SET superseded = 'f_none' WHERE no = 5`, "points to a fact of its bank"},
		{`UPDATE facts SET merged = id WHERE no = 5`, "points to a fact of its bank"},
		{`UPDATE facts SET key = 'clock' WHERE no = 7`, "a key names one live fact"},
		{`INSERT INTO unembedded VALUES (1)`, "a fact has a vector or waits for one"},
		{`DELETE FROM unembedded`, "a fact has a vector or waits for one"},
		{`UPDATE fact_vectors SET bank = 2 WHERE fact = 1`, "a vector of a fact is its bank's"},
		{`UPDATE facts SET confidence = 1.5 WHERE no = 1`, "a confidence is between 0 and 1"},
		{`DELETE FROM fact_entities WHERE fact = 1`, "the entities of a fact are found by it"},
		{`UPDATE fact_entities SET live = 0 WHERE fact = 1`, "the entities of a fact are found by it"},
		{`UPDATE entity_counts SET live = live + 1`, "the live facts of an entity are counted"},
		{`UPDATE entity_names SET entity = 'person:none' WHERE name = 'annie'`, "a name leads to an entity"},
		{`DELETE FROM entity_names WHERE entity = 'person:anne'`, "an entity has a name"},
		{`UPDATE entities SET redirect = 'person:none' WHERE redirect IS NOT NULL`, "an entity that was merged leads to one that was not"},
		{`UPDATE composites SET children = '["' || representative || '"]' WHERE no = 1`, "a composite has two members or more"},
		{`UPDATE composites SET children = json_insert(children, '$[#]', representative) WHERE no = 1`, "a composite has two members or more, each once"},
		{`UPDATE composites SET children = (SELECT json_group_array(id) FROM (SELECT id FROM facts UNION ALL SELECT 'f_9')) WHERE no = 1`, "at most the cap"},
		{`UPDATE facts SET parent = NULL WHERE no = 1`, "point back to it"},
		{`UPDATE facts SET live = 0 WHERE no = 1`, "are live facts"},
		{`UPDATE composites SET level = 3 WHERE level = 2`, "composites of the level below"},
		{`UPDATE facts SET parent = 1 WHERE no = 7`, "what points to a composite is a member of it"},
		{`UPDATE composites SET children = json_insert(children, '$[#]', (SELECT id FROM facts WHERE no = 1)) WHERE no = 2`, "a record is a member of one composite at most"},
		{`UPDATE composites SET representative = (SELECT id FROM facts WHERE no = 7) WHERE no = 1`, "the representative of a composite is a member of it"},
		{`UPDATE facts SET text = 'Other words.' WHERE no = 1`, "a composite without a summary has its representative's text"},
		{`INSERT INTO composite_entities VALUES (1, 'person:none', 1)`, "the entities of a composite are found by it"},
		{`UPDATE composite_vectors SET bank = 2 WHERE composite = 1`, "a vector of a composite is its bank's"},
		{`UPDATE relations SET facts = '["f_none"]'`, "a relation rests on facts of its bank"},
		{`UPDATE conflicts SET b = 'f_none'`, "a conflict is between two facts of its bank"},
		{`UPDATE conflicts SET winner = 'f_none'`, "won by one of them"},
		{`INSERT INTO observation_facts VALUES (1, 'f_none')`, "an observation rests on facts of its bank"},
		{`UPDATE uses SET record = 'f_none'`, "what was used is there"},
		{`UPDATE pending_models SET id = 'f_none'`, "a fact that waits for a decision is there"},
		{`UPDATE pending_models SET body = '{'`, "what waits for a model can be read"},
		{`UPDATE decisions SET target = 'f_none'`, "a decision is about facts of its bank"},
		{`UPDATE derived SET fact = 'f_none'`, "a write of a model rests on facts of its bank"},
		{`UPDATE vector_events SET write = 0`, "late vectors are noted with a write"},
		{`UPDATE usage SET failed = 3`, "usage adds up"},
		{`DELETE FROM usage_events`, "usage adds up"},
		{`UPDATE usage_events SET op = 'x'`, "usage was counted for an op"},
		{`UPDATE fact_vectors SET vector = x'0000803f' WHERE fact = 1`, "fact_vectors are of the pinned dimension"},
		{`UPDATE composite_vectors SET vector = x'00' WHERE composite = 1`, "composite_vectors are of the pinned dimension"},
		{`UPDATE message_vectors SET vector = 'x'`, "message_vectors are of the pinned dimension"},
		{`UPDATE meta SET value = '{' WHERE key = 'embedder'`, "the store knows its embedder"},
		{`UPDATE facts SET valid = '{' WHERE no = 1`, "the validity of a fact can be read"},
		{`UPDATE facts SET valid = json_array(valid -> 1, valid -> 0) WHERE no = 7`, "the intervals in which a fact is valid are sorted and disjoint"},
		{`UPDATE facts SET valid = '[{"from":"2026-05-20T10:00:00Z","to":"2026-05-20T09:00:00Z"}]', live = 0 WHERE no = 7`, "sorted and disjoint"},
		{`UPDATE facts SET live = 1 WHERE no = 5`, "a fact is live while its last interval is open"},
		{`INSERT INTO node_terms VALUES (1, 0, 7, 5)`, "terms are those of live facts and of composites"},
		{`DELETE FROM node_terms WHERE node = 7 AND term = (SELECT max(term) FROM node_terms WHERE node = 7)`, "a node is found by the terms of its text"},
		{`INSERT INTO facts_fts (facts_fts, rowid, bank, text, grams) SELECT 'delete', no, bank, text, grams FROM facts_text WHERE no = 7`, "the text index of facts has an entry for each row"},
		{`UPDATE messages SET content = 'Other words.' WHERE seq = 1`, "the text index of messages says what its rows say"},
		{`UPDATE observations SET text = 'Other words.'`, "the text index of observations says what its rows say"},
	} {
		t.Run(fmt.Sprintf("%d %s", i, c.rule), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "eunoe.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			breakStore(t, path, c.breaks)
			v := verifyFile(t, path, false)
			if v.OK || !strings.Contains(strings.Join(v.Problems, "\n"), c.rule) {
				t.Errorf("after %s it says %q", c.breaks, v.Problems)
			}
		})
	}
}

// breakStore executes one statement in a closed store, without enforcing foreign keys.
func breakStore(t *testing.T, path, statement string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	r, err := raw.Exec(statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s changed %d rows, %v", statement, n, err)
	}
}

func TestVerifyWithoutTheWriter(t *testing.T) {
	t.Parallel()
	path := soundStore(t)
	config := sqlite.DefaultConfig(path)
	config.ReadOnly = true
	db := openStore(t, config)
	v, err := db.Verify(context.Background(), true)
	if err != nil || !v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
	skipped := 0
	for _, c := range v.Checks {
		if c.Skipped != "" {
			skipped++
			if !strings.Contains(c.Rule, "text index") || !strings.Contains(c.Skipped, "--offline") {
				t.Errorf("skipped: %+v", c)
			}
		}
	}
	if skipped != 4 {
		t.Errorf("%d rules were not checked", skipped)
	}
}

func TestVerifyLooksAtEveryTable(t *testing.T) {
	t.Parallel()
	path := soundStore(t)
	raw, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	rows, err := raw.Query(`SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE '%\_fts%' ESCAPE '\' AND t.name NOT LIKE '%\_terms' ESCAPE '\'
AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) k WHERE k.name = 'bank' AND k.type = 'INTEGER') AND NOT EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name))`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	// Every other table belongs to a bank or to a row of another table, and is
	// checked for that; these have rules of their own.
	want := map[string]bool{"meta": true, "applied": true, "ahead": true, "banks": true, "outbox": true, "erasures": true}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !want[name] {
			t.Errorf("no rule of Verify is about the table %s", name)
		}
		delete(want, name)
	}
	if err := rows.Err(); err != nil || len(want) > 0 {
		t.Errorf("missing tables %v, %v", want, err)
	}
}

func TestVerifyADamagedFile(t *testing.T) {
	t.Parallel()
	path := soundStore(t)
	raw, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	var page int64
	if err := raw.QueryRow(`SELECT rootpage FROM sqlite_schema WHERE name = 'fact_sources'`).Scan(&page); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("damage ", 500)), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	config := sqlite.DefaultConfig(path)
	config.ReadOnly = true
	v, err := openStore(t, config).Verify(context.Background(), false)
	if err != nil || v.OK || !strings.Contains(strings.Join(v.Problems, "\n"), "the file is whole") {
		t.Errorf("%+v, %v", v, err)
	}
}
