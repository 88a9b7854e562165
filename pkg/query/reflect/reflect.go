package reflect

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// The styles of a request.
const (
	StyleAnswer  = "answer"  // a model's answer, or the context where there is none
	StyleContext = "context" // the context, without asking a model
)

// nothingFound is the response where memory holds nothing.
const nothingFound = "Memory holds nothing that bears on this."

// A context begins with nothingSure where the confidence of the recall is below unsure: of questions that had an answer
// one or two in a hundred are.
const (
	nothingSure = "Nothing known surely bears on this. The nearest:"
	unsure      = .1
)

// defaultTurns is how often a model is asked where a request does not say.
const defaultTurns = 4

// Store is what reflect reads besides recalling.
type Store interface {
	// Search runs fn on one unchanging state of a bank, narrowed by f.
	Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(recall.Searcher) error) error
	// Read runs fn on one unchanging state of a bank, every record in it.
	Read(ctx context.Context, bank memory.BankID, fn func(Reader) error) error
}

// Reader reads single records of a bank.
type Reader interface {
	// Item returns one record by id; nil if there is none.
	Item(id string) (*memory.Item, error)
	// SourcesNamed returns messages as sources, by sequence; those that are not in the bank are left out.
	SourcesNamed(ids []memory.MessageID) ([]memory.Source, error)
}

// Config holds the numbers of reflect.
type Config struct {
	Timeout time.Duration // bounds an answer by a language model; after it the context is the reply
}

// Deps are the collaborators of a Reflector.
type Deps struct {
	Store  Store
	Recall *recall.Engine
	Model  memory.LanguageModel // writes the answers; nil = every reply is the context
	Redact func(string) string  // takes secrets out of what the model is shown; nil = nothing is taken out
	// History returns a fact with every fact that it replaced or that replaced it.
	History func(ctx context.Context, bank memory.BankID, id memory.FactID) ([]memory.Item, error)
	// Charge is told what models took for a request.
	Charge func(bank memory.BankID, used []memory.StageUsage)
	Log    zerolog.Logger
}

// Reflector answers questions. It is safe for concurrent use.
type Reflector struct {
	cfg Config
	Deps
}

// New returns a reflector. Store, Recall, History and Charge are required.
func New(cfg Config, deps Deps) (*Reflector, error) {
	if cfg.Timeout <= 0 {
		return nil, errors.New("reflect: the timeout must be positive")
	}
	if deps.Store == nil || deps.Recall == nil || deps.History == nil || deps.Charge == nil {
		return nil, errors.New("reflect: store, recall, history and charge are required")
	}
	if deps.Redact == nil {
		deps.Redact = func(text string) string { return text }
	}
	return &Reflector{cfg: cfg, Deps: deps}, nil
}

// Reflect answers a request. send gets the response in pieces while it comes; nil = it is not sent in pieces. The pieces
// since the last reset, joined, are the reply's response.
func (r *Reflector) Reflect(ctx context.Context, bank memory.BankID, req wire.ReflectRequest, send func(wire.Delta) error) (wire.ReflectReply, error) {
	switch req.Style {
	case "", StyleAnswer, StyleContext:
	default:
		return wire.ReflectReply{}, memory.Invalid("style", "is not a style; expected answer or context")
	}
	turns := defaultTurns
	if req.MaxTurns != nil {
		if turns = *req.MaxTurns; turns < 1 || turns > 16 {
			return wire.ReflectReply{}, memory.Invalid("max_turns", "is %d; expected 1 to 16", turns)
		}
	}
	q, err := r.Recall.Parse(req.RecallRequest)
	if err != nil {
		return wire.ReflectReply{}, err
	}
	q.Sources = true
	meter := &memory.Meter{}
	pieces := newStream(send)
	reply, err := r.respond(memory.WithMeter(ctx, meter), bank, q, req.Style, turns, pieces)
	used := meter.Take()
	r.Charge(bank, used)
	if err != nil {
		return wire.ReflectReply{}, err
	}
	for _, u := range used {
		reply.Usage = reply.Usage.Plus(u.Usage)
	}
	return reply, pieces.end(reply.Response)
}

// respond returns the answer of a language model, else the context.
func (r *Reflector) respond(ctx context.Context, bank memory.BankID, q recall.Request, style string, turns int, pieces *stream) (wire.ReflectReply, error) {
	found, err := r.Recall.Find(ctx, bank, q)
	if err != nil {
		return wire.ReflectReply{}, err
	}
	quotes, err := r.quotes(ctx, bank, found)
	if err != nil {
		return wire.ReflectReply{}, err
	}
	why, taken := "", 0
	switch {
	case style == StyleContext, style == "" && r.Model == nil:
	case r.Model == nil:
		why = "no language model is configured"
	default:
		if why, err = r.Recall.Exhausted(ctx, bank); err != nil {
			return wire.ReflectReply{}, err
		}
		if why != "" {
			break
		}
		c := r.newConversation(bank, q, turns, found, pieces)
		reply, failed, err := c.answer(ctx, newSections(found, quotes))
		if err != nil || failed == "" {
			return reply, err
		}
		why, taken = failed, c.taken
	}
	reply := newSections(found, quotes).context(q.MaxTokens)
	reply.Degraded = append(found.Reply.Degraded, reply.Degraded...)
	if why != "" {
		reply.Degraded = append(reply.Degraded, "answer: "+why+"; the context is given")
	}
	reply.Fresh, reply.Judged, reply.Turns = found.Reply.Fresh, found.Reply.Judged, taken
	return reply, nil
}

// quotes returns the first source message of each fact, by the fact's id, where the disposition asks for what was said
// rather than for a paraphrase; else nil.
func (r *Reflector) quotes(ctx context.Context, bank memory.BankID, found recall.Found) (map[string]memory.Item, error) {
	if found.Bank.Disposition.Literalism < 4 {
		return nil, nil
	}
	out := map[string]memory.Item{}
	err := r.Store.Read(ctx, bank, func(rd Reader) error {
		for _, i := range found.Reply.Items {
			if i.Record != memory.RecordFact || len(i.Sources) == 0 {
				continue
			}
			m, err := rd.Item(string(i.Sources[0]))
			if err != nil {
				return err
			}
			if m != nil && m.Record == memory.RecordMessage {
				out[i.ID] = *m
			}
		}
		return nil
	})
	return out, err
}
