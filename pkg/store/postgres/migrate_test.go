package postgres_test

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// triggersOfVersionThree counted what a transaction counts now.
//
//go:embed testdata/triggers_of_version_3.sql
var triggersOfVersionThree string

// versionOne turns a store of version 3 into one of the first version, whose terms had a row each, and of whose texts there were
// statistics.
const versionOne = `
ALTER TABLE row_counts DROP COLUMN gone;
DO $$
DECLARE c RECORD;
BEGIN
  FOR c IN SELECT attrelid::regclass AS name, attname FROM pg_attribute JOIN pg_class t ON t.oid = attrelid
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attstattarget = 0 AND attnum > 0 AND NOT attisdropped LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS -1', c.name, c.attname);
  END LOOP;
END $$;
ANALYZE messages, facts, facts_fts;
ALTER TABLE node_terms RENAME TO later;
CREATE TABLE node_terms (bank BIGINT NOT NULL, level BIGINT NOT NULL, term BIGINT NOT NULL, node BIGINT NOT NULL,
  CONSTRAINT one PRIMARY KEY (bank, level, term, node));
INSERT INTO node_terms SELECT bank, level, unnest(keys) & 8388607, node FROM later;
DROP TABLE later;
ALTER INDEX one RENAME TO node_terms_pkey;
UPDATE meta SET value = '1' WHERE key = 'version';`

// TestAStoreOfAnEarlierVersionIsMigrated opens a store of version 1. A reader waits for the consolidator, which migrates it;
// after that each fact has the neighbours that it had before, and every rule holds.
func TestAStoreOfAnEarlierVersionIsMigrated(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	texts := []string{"Marta keeps bees on the roof of the bakery.", "The bees on the roof swarmed in May.", "Jonas sells honey at the bakery.",
		"面包店的屋顶上有蜜蜂", "Der Imker hat drei Völker auf dem Dach."}
	var facts []memory.Fact
	for _, bank := range []memory.BankID{"hive", "meadow"} {
		for i, text := range texts {
			f := memory.Fact{ID: memory.NewFactID(bank, text, memory.KindWorld), Bank: bank, Text: text, Kind: memory.KindWorld, Type: memory.TypeFact,
				Speaker: "Marta", Said: said, Recorded: said, Session: "s", Valid: []memory.Interval{{From: said}}, Version: 1, Confidence: .6,
				Vector: memory.Vector{1, float32(i) / 10}.Unit()}
			facts = append(facts, f)
		}
	}
	seq := uint64(0)
	write := func(db *postgres.DB, bank memory.BankID, do func(plan.View) (memory.Changes, error)) {
		t.Helper()
		seq++
		w := memory.Write{Bank: bank, Kind: memory.WriteRetain, Seq: seq, Op: fmt.Sprint("op ", seq), Time: said}
		err := db.ApplyWrites(t.Context(), seq-1, seq, []memory.Write{w}, func(v plan.View, _ memory.Write) (memory.Changes, error) { return do(v) })
		if err != nil {
			t.Fatal(err)
		}
	}
	neighbours := func(db *postgres.DB) (out []string) {
		t.Helper()
		for _, term := range []string{"bees", "roof", "honey", "蜜蜂", "dach", "whale"} {
			write(db, "hive", func(v plan.View) (memory.Changes, error) {
				near, err := v.Nearest(0, memory.Vector{1, 0}, []string{term}, nil, 0, 10)
				for _, n := range near {
					out = append(out, term+": "+n.ID)
				}
				return memory.Changes{}, err
			})
		}
		return out
	}
	db := open(t, postgres.DefaultConfig(dsn))
	write(db, "hive", func(plan.View) (memory.Changes, error) { return memory.Changes{Facts: facts[:5]}, nil })
	write(db, "meadow", func(plan.View) (memory.Changes, error) { return memory.Changes{Facts: facts[5:]}, nil })
	before := neighbours(db)
	if len(before) != 7 {
		t.Errorf("%d neighbours are found: %q", len(before), before)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, dsn, triggersOfVersionThree+versionOne)
	if told := statisticsTell(t, dsn, "bees"); told == 0 {
		t.Error("statistics of a store of version 1 tell nothing of bees")
	}

	if n := triggers(t, dsn); n == 0 {
		t.Error("a store of version 1 has no triggers")
	}

	reader := postgres.DefaultConfig(dsn)
	reader.ReadOnly = true
	if _, err := postgres.Open(reader); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a reader of a store of version 1: %v", err)
	}
	db = open(t, postgres.DefaultConfig(dsn))
	for _, when := range []string{"migrated", "analyzed"} {
		if told := statisticsTell(t, dsn, "bees"); told > 0 {
			t.Errorf("after the store was %s, the statistics of %d columns tell of bees", when, told)
		}
		execute(t, dsn, "ANALYZE facts, facts_fts, composites, entities")
	}
	fresh := newSchema(t)
	open(t, postgres.DefaultConfig(fresh))
	if n := triggers(t, dsn) + triggers(t, fresh); n > 0 {
		t.Errorf("a migrated store and a new one have %d triggers", n)
	}
	if diff := cmp.Diff(before, neighbours(db)); diff != "" {
		t.Errorf("neighbours before and after (-, +):\n%s", diff)
	}
	message := memory.Message{ID: "m", Bank: "hive", Session: "s", Role: memory.RoleUser, Speaker: "Marta", Content: "The honey is sold out.", Time: said}
	event := consolidate.MessageEvent{Seq: 1, Bank: "hive", Session: "s", Stored: said, State: memory.StatePending, Message: &message}
	if err := db.ApplyMessages(t.Context(), 0, 1, []consolidate.MessageEvent{event}); err != nil {
		t.Fatal(err)
	}
	write(db, "hive", func(plan.View) (memory.Changes, error) {
		return memory.Changes{Forgotten: &memory.Forgotten{Facts: []memory.FactID{facts[0].ID}},
			Ended: []memory.MessageEnd{{Seq: 1, State: memory.StateSkipped}}}, nil
	})
	v, err := db.Verify(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	// Messages and writes that a rule asks for are not there: the changes were made up.
	rules := 0
	for _, c := range v.Checks {
		about := strings.Contains(c.Rule, "terms") || strings.Contains(c.Rule, "counted")
		if about {
			rules++
		}
		if c.Broken > 0 && about {
			t.Errorf("%s: broken %d times, for example %q", c.Rule, c.Broken, c.Where)
		}
	}
	if rules < 5 {
		t.Errorf("%d rules of terms and numbers were checked", rules)
	}
	read, err := postgres.Open(reader)
	if err != nil {
		t.Fatal("a reader afterwards:", err)
	}
	if err := read.Close(); err != nil {
		t.Error(err)
	}
}

// execute runs statements on a connection of its own.
func execute(t *testing.T, dsn, statements string) {
	t.Helper()
	raw, err := sql.Open("pgx/v5", dsn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = raw.ExecContext(t.Context(), statements)
	if err := errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
}

// statisticsTell returns how many columns of a schema have statistics with a word in them.
func statisticsTell(t *testing.T, dsn, word string) int {
	t.Helper()
	const count = `SELECT count(*) FROM pg_stats WHERE schemaname = current_schema() AND
  concat(histogram_bounds::text, most_common_vals::text, most_common_elems::text) LIKE '%' || $1::text || '%'`
	return number(t, dsn, count, word)
}

// triggers returns how many triggers the tables of a schema have, apart from those of references.
func triggers(t *testing.T, dsn string) int {
	t.Helper()
	const count = `SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal`
	return number(t, dsn, count)
}

// number returns the number that a query finds, on a connection of its own.
func number(t *testing.T, dsn, query string, args ...any) (n int) {
	t.Helper()
	raw, err := sql.Open("pgx/v5", dsn)
	if err != nil {
		t.Fatal(err)
	}
	err = raw.QueryRowContext(t.Context(), query, args...).Scan(&n)
	if err := errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}
