package recall

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store is what recall asks of a backend. Implementations are safe for concurrent use. Every answer is deterministic:
// equal stores give equal answers in equal order.
type Store interface {
	// AppliedOf returns the sequence of MEM_MESSAGES up to which the messages of a bank are applied, and the last applied
	// one of MEM_WRITES.
	AppliedOf(ctx context.Context, bank memory.BankID) (messages, writes uint64, err error)
	// Search runs fn on one unchanging state of a bank, narrowed by f: no method sees what f excludes, unless it says
	// so. fn must not keep the Searcher. A bank that was never made is memory.ErrNotFound.
	Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(Searcher) error) error
	// Spent returns the tokens that language models took for a bank on a UTC day ("2026-05-20"), embedding and
	// reranking aside, and the bank's own bound of them; 0 = it has none. A bank that was never made spent nothing.
	Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error)
}

// Term is one word to look up, in every form that counts as the same. A form may hold any text; it is never read as
// search syntax.
type Term struct {
	Forms  []string // any of them matches; empty forms are ignored
	Prefix string   // words that begin with it match too; "" = none
	Grams  bool     // the forms are one or two Chinese, Japanese or Korean characters, or longer words as text.GramForm has them
}

// Searcher finds candidates in one state of a bank, seen through a filter. A row is known by a number that is the
// store's own (a message's is its stream sequence) and means nothing outside one Searcher.
type Searcher interface {
	// Applied returns the sequence of MEM_MESSAGES up to which the messages of the bank are applied, and the last applied
	// one of MEM_WRITES.
	Applied() (messages, writes uint64, err error)
	// Bank returns the profile.
	Bank() (memory.Bank, error)
	// Speakers returns up to limit spellings of who speaks in the bank, sorted.
	Speakers(limit int) ([]string, error)
	// Size returns how many rows of the record the bank has, filtered or not.
	Size(r memory.Record) (int, error)

	// Matching returns up to limit rows whose text has the term, the highest number first, and how many there are in
	// all: exact below limit, an estimate from there on.
	Matching(r memory.Record, t Term, limit int) (nos []int64, all int, err error)
	// Known reports whether a message or a fact of the bank has the term, filtered or not.
	Known(t Term) (bool, error)
	// Prefetch announces that Nearest and NearestMessages will be asked for v, with these limits; 0 = not at all. The
	// part of their work that needs no store may begin while other questions are answered.
	Prefetch(v memory.Vector, facts, messages int) error
	// Nearest returns up to limit facts by descending cosine similarity to v, which must have unit length; ties by
	// number. Vectors of another size are not compared. The similarities returned are exact; in a large bank one of
	// the nearest may be missing, unless exact is set: then every vector of the bank is compared. It ends early with
	// ctx's error.
	Nearest(ctx context.Context, v memory.Vector, limit int, exact bool) ([]Near, error)
	// NearestMessages is Nearest over messages that have a vector.
	NearestMessages(ctx context.Context, v memory.Vector, limit int, exact bool) ([]Near, error)
	// Compare returns the similarity of facts or messages to v, by number; rows without a vector of v's size are left out.
	Compare(ctx context.Context, r memory.Record, v memory.Vector, nos []int64) ([]Near, error)
	// Dimension is the size of the bank's vectors, 0 while there is none.
	Dimension() (int, error)
	// Naming returns up to limit facts that name one of the entities, the one said last first.
	Naming(entities []memory.EntityID, limit int) ([]int64, error)
	// NamingEach returns, for each of the entities, up to limit facts that name it, the one said last first.
	NamingEach(entities []memory.EntityID, limit int) (map[memory.EntityID][]int64, error)
	// Within returns up to limit facts or messages said or happened in [from, to], both inclusive, newest first.
	Within(r memory.Record, from, to time.Time, limit int) ([]int64, error)
	// Recent returns up to limit facts or messages, the one said last first.
	Recent(r memory.Record, limit int) ([]int64, error)

	// Together runs functions that read by the Searcher they are given. Where the store is far away, what they read is asked
	// for together: one of them runs at a time, in their order, up to its next read. There rest returns when the others went
	// on, or false when that is over because one of them failed. Elsewhere they run one after the other, and rest returns at
	// once: what a function waits for is done by an earlier one. The first error ends all of them.
	Together(fns ...func(s Searcher, rest func() bool) error) error
	// SecondReader returns another Searcher of the same state and filter, for one more goroutine; nil where no
	// connection is free. It ends with this one.
	SecondReader() (Searcher, error)

	Rows
}

// together runs functions of which none waits for another (Searcher.Together).
func together(s Searcher, fns ...func(Searcher) error) error {
	run := make([]func(Searcher, func() bool) error, len(fns))
	for i, fn := range fns {
		run[i] = func(s Searcher, _ func() bool) error { return fn(s) }
	}
	return s.Together(run...)
}

// Near is a fact or a message and how near its vector is.
type Near struct {
	No     int64
	Cosine float64 // in [-1, 1]
}

// Rows reads what candidates hold and how they hang together, through the filter.
type Rows interface {
	// Messages returns messages by number, in the order asked; those that are not there or that the filter excludes
	// are left out. So do Facts, Composites and Observations; an observation needs all of its facts to pass.
	Messages(nos []int64) ([]MessageRow, error)
	Facts(nos []int64) ([]FactRow, error)
	Composites(nos []int64) ([]CompositeRow, error)
	Observations(nos []int64) ([]ObservationRow, error)
	// FactNumbers and CompositeNumbers return numbers by id; those that are not there or that the filter excludes
	// are left out.
	FactNumbers(ids []memory.FactID) ([]int64, error)
	CompositeNumbers(ids []memory.CompositeID) ([]int64, error)
	// Items returns rows whole, in the order asked, unfiltered.
	Items(r memory.Record, nos []int64) ([]memory.Item, error)

	// Around returns the neighbours of messages in their session: up to before and after of them, the nearest first.
	// Neighbours are not filtered: they are context, never answers.
	Around(nos []int64, before, after int) ([]Neighbourhood, error)
	// Context returns messages by number without the filter, as context.
	Context(nos []int64) ([]MessageRow, error)

	// Links returns the messages that facts rest on, by fact number and then stream sequence.
	Links(facts []int64) ([]Link, error)
	// EndedMessages returns those of the messages on which facts rest, all of which have ended: none is live, or, where
	// the filter names a time, none was valid at it.
	EndedMessages(messages []int64) ([]int64, error)
	// Successors returns, for messages whose facts ended, the facts that replaced those, however many steps later: what
	// is valid now, or at the filter's time. By fact, then message.
	Successors(messages []int64) ([]Succession, error)
	// States returns up to limit facts that give a subject a state, denied ones aside, the one said last first.
	States(subject memory.EntityID, limit int) ([]StateRow, error)

	// EntitiesNamed returns the entities that bear one of the names (NormalText) as name or alias, redirects followed,
	// by id.
	EntitiesNamed(names []string) ([]memory.EntityID, error)
	// Spellings returns the names and aliases of entities as they are written, sorted.
	Spellings(entities []memory.EntityID) ([]string, error)
	// PeopleBeginning returns up to limit names and aliases of persons that go on behind one of the beginnings
	// (NormalText), by beginning and name, with whom they name, redirects followed.
	PeopleBeginning(beginnings []string, limit int) ([]NamedPerson, error)
	// Relations returns up to limit relations from or to one of the records, the strongest first, ties by their ends.
	Relations(ids []string, limit int) ([]memory.Relation, error)
	// Uses returns what feedback reported of records, by id.
	Uses(ids []string) ([]memory.Use, error)
	// OpenConflicts returns up to limit open conflicts that one of the facts is party to, by id.
	OpenConflicts(ids []memory.FactID, limit int) ([]memory.Conflict, error)
}

// MessageRow is a message as ranking reads it. Text has secrets redacted.
type MessageRow struct {
	No       int64
	ID       memory.MessageID
	Session  memory.SessionID
	Role     memory.Role
	Speaker  string
	Text     string
	Caption  string
	Said     time.Time
	Recalled bool // it repeats what memory answered
}

// Neighbourhood names the messages around one, the nearest first.
type Neighbourhood struct {
	No            int64
	Before, After []int64
}

// FactRow is a fact as ranking reads it.
type FactRow struct {
	No         int64
	ID         memory.FactID
	Text       string
	Speaker    string
	Type       memory.Type
	Entities   []memory.EntityID
	Said       time.Time
	Occurred   memory.Span
	Confidence float64
	Pinned     bool
}

// Link says that a fact rests on a message.
type Link struct {
	Fact, Message int64
}

// NamedPerson is a name or alias of a person that goes on behind a beginning.
type NamedPerson struct {
	Beginning, Name string // NormalText
	ID              memory.EntityID
}

// StateRow is a fact that gives an attribute of its subject a value.
type StateRow struct {
	Fact      int64
	Attribute string
}

// Succession is a fact that replaced one that rests on a message, and what the replaced one said.
type Succession struct {
	Fact, Message int64
	Text, Speaker string // of the fact that ended
	Said          time.Time
}

// CompositeRow is a composite as ranking reads it. Leaves are the facts at its bottom that pass the filter, by number;
// Whole says that all of them do.
type CompositeRow struct {
	No         int64
	ID         memory.CompositeID
	Level      int
	Text       string
	Said       time.Time
	Confidence float64
	Leaves     []int64
	Whole      bool
}

// ObservationRow is an observation as ranking reads it.
type ObservationRow struct {
	No         int64
	ID         memory.ObservationID
	Text       string
	Entities   []memory.EntityID
	Said       time.Time
	Confidence float64
}
