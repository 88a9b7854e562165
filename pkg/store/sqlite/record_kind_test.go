package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// The worked example of CONTRIBUTING: a new record kind is a migration and an entry.

// skill is how something is done.
type skill struct {
	ID, Intent string
	Tools      []string
	Said       time.Time
	Confidence float64
	Version    uint64
}

const skillRecord memory.Record = "skill"

const skillMigration = `
CREATE TABLE skills (
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, bank INTEGER NOT NULL REFERENCES banks(no),
  intent TEXT NOT NULL, grams TEXT NOT NULL, said INTEGER NOT NULL, confidence REAL NOT NULL, version INTEGER NOT NULL
);
CREATE INDEX skills_bank ON skills(bank, said);
CREATE TABLE skill_tools (
  skill INTEGER NOT NULL REFERENCES skills(no) ON DELETE CASCADE, tool TEXT NOT NULL, PRIMARY KEY (skill, tool)
) WITHOUT ROWID;
CREATE VIEW skills_text AS SELECT no, 'b' || bank AS bank, intent, grams FROM skills;
CREATE VIRTUAL TABLE skills_fts USING fts5(bank, intent, grams, content = 'skills_text', content_rowid = 'no',
  tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO skills_fts (skills_fts, rank) VALUES ('secure-delete', 1);`

// skills is the entry: all that the store knows of the kind.
func skills() schema.Records[skill] {
	return schema.Records[skill]{
		Kind: schema.Kind{
			Record: skillRecord, Table: "skills", Alias: "s", Number: "no", Said: "said", Indexed: []string{"intent"},
			Versioned: true, Confidence: true,
			Passes: func(f schema.Filter) schema.Condition {
				if f.Plain {
					return schema.Condition{SQL: "TRUE"}
				}
				return schema.Condition{SQL: "FALSE"} // no condition of a filter is about skills
			},
			Items: schema.Items{
				Select: `SELECT s.no, s.id, s.intent, s.confidence, s.version FROM json_each(?) j CROSS JOIN skills s ON s.no = j.value WHERE s.bank = ?`,
				Scan: func(rows *sql.Rows) (no int64, i memory.Item, err error) {
					i.Record = skillRecord
					err = rows.Scan(&no, &i.ID, &i.Text, &i.Confidence, &i.Version)
					return no, i, err
				},
			},
			Rules: []schema.Rule{{Name: "a skill has a tool", Find: `SELECT id FROM skills s WHERE NOT EXISTS (SELECT 1 FROM skill_tools t WHERE t.skill = s.no)`}},
			Tables: []schema.Table{
				{Name: "skills", OfBank: true, Dump: `SELECT s.id, b.id, s.intent, s.said, s.confidence, s.version FROM skills s JOIN banks b ON b.no = s.bank ORDER BY s.id`},
				{Name: "skill_tools", Dump: `SELECT s.id, t.tool FROM skill_tools t JOIN skills s ON s.no = t.skill ORDER BY s.id, t.tool`},
			},
		},
		Columns: []schema.Column[skill]{
			{Name: "id", Value: func(s *skill) any { return &s.ID }},
			{Name: "intent", Value: func(s *skill) any { return &s.Intent }},
			{Name: "said", Value: func(s *skill) any { return schema.Moment(&s.Said) }},
			{Name: "confidence", Value: func(s *skill) any { return &s.Confidence }},
			{Name: "version", Value: func(s *skill) any { return &s.Version }},
		},
		Text: func(s *skill) *string { return &s.Intent },
		Links: []schema.Link[skill]{{
			Table: "skill_tools", Owner: "skill", Column: "tool",
			IDs:  func(s *skill) []string { return s.Tools },
			Into: func(s *skill) any { return schema.JSONList(&s.Tools) },
		}},
	}
}

// withSkills is the schema of the program with one more migration and one more entry.
func withSkills(t *testing.T) (schema.Schema, fs.FS) {
	t.Helper()
	s := schema.Default()
	files := fstest.MapFS{}
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	files[fmt.Sprintf("%04d_skills.sql", len(names)+1)] = &fstest.MapFile{Data: []byte(skillMigration)}
	s.Kinds = append(s.Kinds, skills().Kind)
	return s, files
}

func TestANewRecordKindIsAMigrationAndAnEntry(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	kinds, files := withSkills(t)
	opened, err := open(DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")), kinds, files)
	db := opened.db
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	t.Cleanup(func() { must(db.Close()) })

	said := time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)
	message := memory.Message{ID: "m", Bank: "b", Session: "s", Role: memory.RoleUser, Speaker: "Ann", Content: "hello", Time: said}
	must(db.ApplyMessages(ctx, 0, 1, []consolidate.MessageEvent{{Seq: 1, Bank: "b", Session: "s", Stored: said, State: memory.StatePending, Message: &message}}))
	write := func(fn func(tx *engine.Tx, counter *schema.Counter, bank int64) error) {
		t.Helper()
		must(opened.file.Write(ctx, func(tx *engine.Tx) error {
			var bank int64
			if err := tx.Get("look up the bank", `SELECT no FROM banks WHERE id = 'b'`, nil, &bank); err != nil {
				return err
			}
			counter := schema.NewCounter()
			return errors.Join(fn(tx, counter, bank), counter.Write(tx))
		}))
	}
	stored := skill{ID: "sk_1", Intent: "Restart the printers", Tools: []string{"ssh"}, Said: said, Confidence: .8}
	later := skill{ID: "sk_2", Intent: "Restart the router", Tools: []string{"ssh", "telnet"}, Said: said.Add(time.Hour), Confidence: .9}
	for _, s := range []skill{{ID: "sk_1", Intent: "Start the printers", Tools: []string{"lpd"}, Said: said}, stored, later} {
		write(func(tx *engine.Tx, counter *schema.Counter, bank int64) error {
			return skills().Put(tx, counter, bank, s)
		})
	}

	list := func() (ids []string) {
		t.Helper()
		must(db.Read(ctx, "b", func(r query.Reader) error {
			items, _, err := r.List(skillRecord, memory.Filter{}, false, query.Position{}, 10)
			for _, i := range items {
				ids = append(ids, i.ID)
			}
			return err
		}))
		return ids
	}
	find := func(word string) (n int) {
		t.Helper()
		must(db.Search(ctx, "b", memory.Filter{}, func(s recall.Searcher) error {
			nos, _, err := s.Matching(skillRecord, recall.Term{Forms: []string{word}}, 10)
			n = len(nos)
			return err
		}))
		return n
	}
	dump := func() string {
		t.Helper()
		var out bytes.Buffer
		must(db.Dump(ctx, &out))
		return out.String()
	}
	sound := func() {
		t.Helper()
		must(db.Check(ctx))
		v, err := db.Verify(ctx, true)
		must(err)
		if !v.OK {
			t.Errorf("verify found %q", v.Problems)
		}
	}

	// A skill is listed by time, found by its words, returned as an item, read back, dumped and verified.
	if got := list(); len(got) != 2 || got[0] != "sk_2" {
		t.Errorf("listed %q", got)
	}
	if find("restarting") != 2 || find("printer") != 1 || find("start") != 0 {
		t.Errorf("found %d, %d and %d", find("restarting"), find("printer"), find("start"))
	}
	must(db.Read(ctx, "b", func(r query.Reader) error {
		item, err := r.Item("sk_1")
		if err == nil && (item == nil || item.Record != skillRecord || item.Text != stored.Intent) {
			t.Errorf("the item is %+v", item)
		}
		return err
	}))
	write(func(tx *engine.Tx, _ *schema.Counter, bank int64) error {
		got, err := skills().Get(tx, bank, []string{"sk_1", "sk_9"})
		if err == nil && (len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(stored)) {
			t.Errorf("read back %+v", got)
		}
		return err
	})
	if d := dump(); !strings.Contains(d, `["skills","sk_1","b","Restart the printers"`) || !strings.Contains(d, `["skill_tools","sk_2","telnet"]`) {
		t.Errorf("the dump is %s", d)
	}
	sound()

	// A rule of the entry is checked.
	write(func(tx *engine.Tx, _ *schema.Counter, _ int64) error {
		return tx.Exec("break a rule", `DELETE FROM skill_tools WHERE tool = 'telnet'`)
	})
	write(func(tx *engine.Tx, _ *schema.Counter, _ int64) error {
		return tx.Exec("break a rule", `DELETE FROM skill_tools`)
	})
	if v, err := db.Verify(ctx, false); err != nil || v.OK || !strings.Contains(strings.Join(v.Problems, " "), "a skill has a tool") {
		t.Errorf("verify found %q, %v", v.Problems, err)
	}

	// A removed skill is in no index, and erasing a bank erases its skills.
	write(func(tx *engine.Tx, counter *schema.Counter, bank int64) error {
		return skills().Remove(tx, counter, bank, "sk_1")
	})
	if d := dump(); strings.Contains(d, "printers") || find("printer") != 0 {
		t.Errorf("the dump after a removal is %s", d)
	}
	forget := memory.Write{Seq: 1, Bank: "b", Kind: memory.WriteForget, Op: "forget", Time: said, Forget: &memory.ForgetRequest{Bank: true}}
	must(db.ApplyWrites(ctx, 0, 1, []memory.Write{forget}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Forgotten: &memory.Forgotten{Bank: true, Messages: []uint64{1}}}, nil
	}))
	if d := dump(); strings.Contains(d, "skill") {
		t.Errorf("the dump after the bank was erased is %s", d)
	}
	sound()
}
