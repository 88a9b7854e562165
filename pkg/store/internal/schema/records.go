package schema

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Records is a kind together with how its values are stored. The first column must be the id. Its text index, if any,
// has one column.
type Records[T any] struct {
	Kind
	Columns []Column[T]
	// Text is the indexed text, when the kind has a text index.
	Text func(*T) *string
	// Links are lists of ids in tables of their own.
	Links []Link[T]
	// Derived are columns that are only read: SQL expressions over the alias.
	Derived []Column[T]
}

// Column maps a field to a column. Value returns what is both stored and scanned into: a pointer to a plain string,
// number or bool, or one of the types below.
type Column[T any] struct {
	Name  string
	Value func(*T) any
}

// Link is a list of ids, each a row (Owner, Column) of Table. It is read in ascending order.
type Link[T any] struct {
	Table, Owner, Column string
	IDs                  func(*T) []string // what is stored
	Into                 func(*T) any      // what it is scanned into: JSONList of the field
}

// Put stores the whole new state of a record, with its links and its words, and counts it.
func (r Records[T]) Put(tx *engine.Tx, t *Counter, bank int64, v T) error {
	id, err := stored(r.Columns[0].Value(&v))
	if err != nil {
		return err
	}
	what := fmt.Sprintf("store %s %v", r.Record, id)
	no, was, err := r.before(tx, bank, id)
	if err != nil {
		return err
	}
	var now []string
	names, updates, args := []string{"bank"}, []string{}, []any{bank}
	add := func(name string, value any) {
		names, args = append(names, name), append(args, value)
		if name != r.Columns[0].Name {
			updates = append(updates, name+" = excluded."+name)
		}
	}
	if r.Text != nil {
		content := r.Text(&v)
		*content = engine.Text(*content)
		now = []string{*content, Grams(*content)}
		add("grams", now[1])
	}
	for _, c := range r.Columns {
		value, err := stored(c.Value(&v))
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		add(c.Name, value)
	}
	put := fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s) ON CONFLICT (%s) DO UPDATE SET %s RETURNING %s", r.Table, strings.Join(names, ", "),
		strings.Repeat(", ?", len(names)-1), r.Columns[0].Name, strings.Join(updates, ", "), r.Number)
	existed := no != 0
	if err := tx.Get(what, put, args, &no); err != nil {
		return err
	}
	switch {
	case !existed:
		t.Came(bank, r.Record, no)
	case was != nil && was[0] != now[0]:
		t.Reworded(bank, r.Record)
	}
	if now != nil {
		if err := r.Reindex(tx, no, bank, was, now); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	for _, l := range r.Links {
		if existed {
			if err := tx.Exec(what, fmt.Sprintf("DELETE FROM %s WHERE %s = ?", l.Table, l.Owner), no); err != nil {
				return err
			}
		}
		insert := fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES (?, ?) ON CONFLICT DO NOTHING", l.Table, l.Owner, l.Column)
		for _, to := range l.IDs(&v) {
			if err := tx.Exec(what, insert, no, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove erases a record with its words, its links and what feedback reported of it. One that is not stored changes
// nothing.
func (r Records[T]) Remove(tx *engine.Tx, t *Counter, bank int64, id string) error {
	no, was, err := r.before(tx, bank, id)
	if err != nil || no == 0 {
		return err
	}
	what := fmt.Sprintf("remove %s %s", r.Record, id)
	if was != nil {
		if err := r.Reindex(tx, no, bank, was, nil); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := tx.Exec(what, fmt.Sprintf("DELETE FROM %s WHERE %s = ?", r.Table, r.Number), no); err != nil {
		return err
	}
	t.Went(bank, r.Record)
	return RemoveUses(tx, bank, id)
}

// before returns the row of a stored record and its indexed texts; 0 when it is not stored.
func (r Records[T]) before(tx *engine.Tx, bank int64, id any) (no int64, texts []string, err error) {
	columns, dest := r.Number, []any{&no}
	if r.Text != nil {
		texts = make([]string, 2)
		columns, dest = columns+", "+r.Indexed[0]+", grams", append(dest, &texts[0], &texts[1])
	}
	find := fmt.Sprintf("SELECT %s FROM %s WHERE %s = ? AND +bank = ?", columns, r.Table, r.Columns[0].Name)
	found, err := tx.Find(fmt.Sprintf("look up %s %v", r.Record, id), find, []any{id, bank}, dest...)
	if !found {
		return 0, nil, err
	}
	return no, texts, err
}

// Get returns records by id, in the order asked; ids that are not stored are left out.
func (r Records[T]) Get(tx *engine.Tx, bank int64, ids []string) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return r.Select(tx, fmt.Sprintf("json_each(?1) j CROSS JOIN %s ON %s.%s = j.value WHERE +%[2]s.bank = ?2 ORDER BY j.key",
		r.Rows(), r.Alias, r.Columns[0].Name), engine.List(ids), bank)
}

// Select returns the records of a query from FROM on, in its order. The table must have the alias of the kind.
func (r Records[T]) Select(tx *engine.Tx, from string, args ...any) ([]T, error) {
	var list []string
	for _, c := range r.Columns {
		list = append(list, r.Alias+"."+c.Name)
	}
	for _, l := range r.Links {
		list = append(list, fmt.Sprintf("(SELECT json_group_array(k.%[1]s ORDER BY k.%[1]s) FROM %[2]s k WHERE k.%[3]s = %[4]s)", l.Column, l.Table, l.Owner, r.No()))
	}
	for _, c := range r.Derived {
		list = append(list, c.Name)
	}
	find := "SELECT " + strings.Join(list, ", ") + " FROM " + from
	return engine.All(tx, fmt.Sprintf("read %ss", r.Record), find, args, func(rows *sql.Rows) (v T, err error) {
		dest := make([]any, 0, len(list))
		for _, c := range r.Columns {
			dest = append(dest, c.Value(&v))
		}
		for _, l := range r.Links {
			dest = append(dest, l.Into(&v))
		}
		for _, c := range r.Derived {
			dest = append(dest, c.Value(&v))
		}
		err = rows.Scan(dest...)
		return v, err
	})
}

// stored converts what a column's Value returned for a statement.
func stored(v any) (any, error) {
	if v, ok := v.(driver.Valuer); ok {
		return v.Value()
	}
	switch v := v.(type) {
	case *string:
		return engine.Text(*v), nil
	case *bool:
		return *v, nil
	case *int:
		return int64(*v), nil
	case *uint64:
		return int64(*v), nil
	case *float64:
		return *v, nil
	}
	return nil, fmt.Errorf("a column of type %T: %w", v, memory.ErrInvalid)
}

// codec is a value that is written and read by functions.
type codec struct {
	write func() (any, error)
	read  func(src any) error
}

func (c codec) Value() (driver.Value, error) { return c.write() }
func (c codec) Scan(src any) error           { return c.read(src) }

// Named maps a field of a string type, such as an id.
func Named[S ~string](s *S) any {
	return codec{func() (any, error) { return engine.Text(string(*s)), nil }, func(src any) error {
		text, err := texts(src)
		*s = S(text)
		return err
	}}
}

// Moment maps a time: microseconds since 1970 in UTC.
func Moment(t *time.Time) any {
	return codec{func() (any, error) { return engine.Micros(*t), nil }, func(src any) error {
		n, ok := src.(int64)
		if !ok {
			return fmt.Errorf("a time is stored as %T", src)
		}
		*t = engine.Time(n)
		return nil
	}}
}

// JSONList maps a list to a JSON column: [] when it is empty, which is read as nil.
func JSONList[T any](list *[]T) any {
	return codec{func() (any, error) { return engine.JSONList(*list) }, func(src any) error {
		raw, err := texts(src)
		if err == nil {
			err = engine.FromJSON([]byte(raw), list)
		}
		*list = engine.NilIfEmpty(*list)
		return err
	}}
}

// Strings converts a list of ids to strings.
func Strings[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// StampOrEmpty maps the mark of the model that made a text: "" for none.
func StampOrEmpty(s **memory.Stamp) any {
	return codec{func() (any, error) { return StampJSON(*s) }, func(src any) error {
		raw, err := texts(src)
		if err == nil {
			*s, err = StampOf(raw)
		}
		return err
	}}
}

// StampJSON converts the mark of the model that made a text for a column: "" for none.
func StampJSON(s *memory.Stamp) (string, error) {
	if s == nil {
		return "", nil
	}
	raw, err := engine.JSON(s)
	return engine.Text(raw), err
}

// StampOf reverses StampJSON.
func StampOf(raw string) (*memory.Stamp, error) {
	if raw == "" {
		return nil, nil
	}
	s := new(memory.Stamp)
	return s, engine.FromJSON([]byte(raw), s)
}

func texts(src any) (string, error) {
	switch src := src.(type) {
	case string:
		return src, nil
	case []byte:
		return string(src), nil
	case nil:
		return "", nil
	}
	return "", fmt.Errorf("a text is stored as %T", src)
}
