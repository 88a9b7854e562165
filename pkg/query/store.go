package query

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store is what the query service asks of a backend. Implementations are safe
// for concurrent use. Every answer is deterministic: equal stores give equal
// answers in equal order.
type Store interface {
	// Applied gives the last applied sequence of MEM_MESSAGES and MEM_WRITES.
	Applied(ctx context.Context) (messages, writes uint64, err error)
	// Search runs fn on one unchanging state of a bank, narrowed by f: what f
	// excludes is not seen by any method. fn must not keep the Searcher. A bank
	// that was never made is memory.ErrNotFound.
	Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(Searcher) error) error
	// Read runs fn on one unchanging state of a bank, every record in it. A bank
	// that was never made is memory.ErrNotFound.
	Read(ctx context.Context, bank memory.BankID, fn func(Reader) error) error
	// Outcome gives the outcome of an op that was applied; nil if it was not.
	Outcome(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error)
	// Spent gives the tokens that language models took for a bank on a UTC day
	// ("2026-05-20"), embedding and reranking aside, and the bank's own bound of
	// them; 0 = it has none. A bank that was never made spent nothing.
	Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error)
	// Warm prepares what searches are quick by, in the background, and returns at
	// once. Searches are right without it, and slower.
	Warm()
	// Sketches says what this process holds to search vectors quickly.
	Sketches() Sketches
	// Admin is what operators ask of the store.
	Admin
}

// Sketches says what a process holds of vectors in memory, to find those that
// may be near without comparing all.
type Sketches struct {
	Banks    int   `json:"banks"`    // with sketches of their facts, their messages or both
	Rows     int   `json:"rows"`     // vectors that are sketched
	Bytes    int64 `json:"bytes"`    // memory they take
	Building int   `json:"building"` // large banks, by record, of which every vector is compared meanwhile
}

// Admin is what operators ask of the store.
type Admin interface {
	// Banks gives up to limit banks whose id is past after, by id.
	Banks(ctx context.Context, after memory.BankID, limit int) ([]memory.Bank, error)
	// Verify checks the whole store: the file, its indexes, and what must hold
	// within and between its tables.
	Verify(ctx context.Context, o VerifyOptions) (Verification, error)
	// Accounted gives up to limit message events past a sequence that the store
	// knows of, forgotten ones too, by sequence.
	Accounted(ctx context.Context, after uint64, limit int) ([]Accounted, error)
	// Queues says what commits left to be done.
	Queues(ctx context.Context) (Queues, error)
}

// Term is one word to look for, in every form that counts as the same. A form
// may hold any text; it is never read as a search syntax.
type Term struct {
	Forms  []string // any of them matches; empty forms are ignored
	Prefix string   // words that begin so match too; "" = none
	Grams  bool     // the forms are one or two Chinese, Japanese or Korean characters
}

// Searcher finds candidates in one state of a bank, seen through a filter.
// Rows are known by a number that is the store's own (a message's is its
// stream sequence) and means nothing outside one Searcher.
type Searcher interface {
	// Applied gives the last applied sequence of MEM_MESSAGES and MEM_WRITES.
	Applied() (messages, writes uint64, err error)
	// Bank gives the profile.
	Bank() (memory.Bank, error)
	// Speakers gives up to limit spellings of who speaks in the bank, sorted.
	Speakers(limit int) ([]string, error)
	// Size gives how many rows of the record the bank has, filtered or not.
	Size(r memory.Record) (int, error)

	// Matching gives the numbers of rows whose text has the term, the latest
	// number first, at most limit, and how many there are in all: exact below
	// limit, an estimate from there on.
	Matching(r memory.Record, t Term, limit int) (nos []int64, all int, err error)
	// Expect says that Nearest and NearestMessages will be asked for v: up to so
	// many facts and messages, 0 = they will not. What they can do without the
	// store begins beside what else is asked.
	Expect(v memory.Vector, facts, messages int) error
	// Nearest gives up to limit facts by descending cosine similarity to v,
	// which must have unit length; ties by number. Vectors of another size are
	// not compared. Those given are compared exactly; in a large bank one that is
	// among the nearest may be missing, unless exact is set: then every vector
	// of the bank is compared. It ends early with ctx's error.
	Nearest(ctx context.Context, v memory.Vector, limit int, exact bool) ([]Near, error)
	// NearestMessages is Nearest over messages that have a vector.
	NearestMessages(ctx context.Context, v memory.Vector, limit int, exact bool) ([]Near, error)
	// Compare gives the similarity of facts or messages to v, as Nearest does, by
	// number; those without a vector of its size are left out.
	Compare(ctx context.Context, r memory.Record, v memory.Vector, nos []int64) ([]Near, error)
	// Dimension is the size of the bank's vectors, 0 while there is none.
	Dimension() (int, error)
	// Naming gives up to limit facts that name one of the entities, newest said first.
	Naming(entities []memory.EntityID, limit int) ([]int64, error)
	// NamingEach gives up to limit facts that name an entity, newest said first,
	// for each of the entities.
	NamingEach(entities []memory.EntityID, limit int) (map[memory.EntityID][]int64, error)
	// Within gives up to limit facts or messages said or happened in [from, to],
	// both inclusive, newest first.
	Within(r memory.Record, from, to time.Time, limit int) ([]int64, error)
	// Recent gives up to limit facts or messages, the latest said first.
	Recent(r memory.Record, limit int) ([]int64, error)

	// Beside gives another Searcher of the same state and filter, for one more
	// goroutine; nil where none is to spare. It ends with this one.
	Beside() (Searcher, error)

	Rows
}

// Near is a fact or a message and how near its vector is.
type Near struct {
	No     int64
	Cosine float64 // in [-1, 1]
}

// Rows reads what candidates hold and how they hang together, through the filter.
type Rows interface {
	// Messages gives messages by number, in the order asked; the ones that are
	// not there or that the filter excludes are left out.
	Messages(nos []int64) ([]MessageRow, error)
	// Around gives the neighbours of messages in their session: up to before
	// and after of them, the nearest first. Neighbours are not filtered: they
	// are context, never answers.
	Around(nos []int64, before, after int) ([]Neighbourhood, error)
	// Context gives messages by number without the filter, as context.
	Context(nos []int64) ([]MessageRow, error)
	// Facts gives facts by number, in the order asked.
	Facts(nos []int64) ([]FactRow, error)
	// FactNumbers gives the numbers of facts by id; the ones that are not there
	// or that the filter excludes are left out.
	FactNumbers(ids []memory.FactID) ([]int64, error)
	// Links gives what facts rest on, by fact number and then stream sequence.
	Links(facts []int64) ([]Link, error)
	// Unheld gives those of the messages that facts rest on of which none is live,
	// or, where the filter names a time, was held at it.
	Unheld(messages []int64) ([]int64, error)
	// Successors gives, for messages whose facts ended, the facts that took the
	// place of those, however many steps later: what holds now, or at the filter's
	// time, of what was said then. By fact, then message.
	Successors(messages []int64) ([]Succession, error)
	// States gives up to limit facts that give a subject a state, denied ones
	// aside, the one said last first.
	States(subject memory.EntityID, limit int) ([]StateRow, error)
	// Composites gives composites by number, in the order asked.
	Composites(nos []int64) ([]CompositeRow, error)
	// CompositeNumbers gives the numbers of composites by id.
	CompositeNumbers(ids []memory.CompositeID) ([]int64, error)
	// Observations gives observations by number, in the order asked: those all
	// of whose facts pass the filter.
	Observations(nos []int64) ([]ObservationRow, error)
	// Items gives rows whole, in the order asked, unfiltered.
	Items(r memory.Record, nos []int64) ([]memory.Item, error)

	// EntitiesNamed gives the entities that bear one of the names (NormalText)
	// as name or alias, redirects followed, by id.
	EntitiesNamed(names []string) ([]memory.EntityID, error)
	// Relations gives up to limit relations from or to one of the records, the
	// strongest first, ties by their ends.
	Relations(ids []string, limit int) ([]memory.Relation, error)
	// Uses gives what feedback reported of records, by id.
	Uses(ids []string) ([]memory.Use, error)
	// OpenConflicts gives up to limit open conflicts one of the facts is party to, by id.
	OpenConflicts(ids []memory.FactID, limit int) ([]memory.Conflict, error)
}

// MessageRow is a message as ranking reads it. Text has secrets redacted.
type MessageRow struct {
	No       int64
	ID       memory.MessageID
	Session  memory.SessionID
	Speaker  string
	Text     string
	Caption  string
	Said     time.Time
	Recalled bool
}

// Neighbourhood names the messages beside one, the nearest first.
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

// StateRow is a fact that gives an attribute of its subject a value.
type StateRow struct {
	Fact      int64
	Attribute string
}

// Succession says that a fact took the place of one that rests on a message,
// and what that one said.
type Succession struct {
	Fact, Message int64
	Text, Speaker string // of the fact that ended
	Said          time.Time
}

// CompositeRow is a composite as ranking reads it. Leaves are the facts at its
// bottom that pass the filter, by number; Whole says that all of them do.
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
