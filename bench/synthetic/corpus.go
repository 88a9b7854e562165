// Package synthetic makes banks of any size that look like a language in what matters for speed: words whose frequencies
// follow Zipf's law, facts in threads of a few that are near each other, vectors around clusters with a direction that
// all share. The same seed makes the same bank.
//
// Fill makes a store of such a bank as a consolidator would make it from a log; Corpus makes what is in it.
package synthetic

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Bank is the bank that a filled store has.
const Bank = memory.BankID("load")

const (
	dimension   = 384
	vocabulary  = 40_000 // words that carry meaning
	clusterSize = 500    // facts around one centre of vectors
	model       = "bench:clusters"
)

// Interval is the time between two messages.
const Interval = 10 * time.Second

// Epoch is one Interval before the first message.
var Epoch = time.Date(2025, 1, 1, 8, 0, 0, 0, time.UTC)

// Config says what a bank is made from and how large it is.
type Config struct {
	Seed      uint64
	Facts     int // and as many messages; rounded up to a hundred
	Questions int
	Store     string // DSN of a store on a PostgreSQL server; "" = a file of SQLite
}

// Corpus makes messages, facts and questions. It is not safe for concurrent use.
type Corpus struct {
	rng      *rand.Rand
	zipf     *rand.Zipf
	words    []string
	common   memory.Vector
	clusters []memory.Vector
	vectors  bool
	embedder memory.Embedder // nil = vectors of the corpus

	facts         int // made so far
	entities      []memory.EntityID
	questions     []Question
	questionEvery int // facts
}

// Question asks for a fact that the bank has.
type Question struct {
	Text   string        `json:"text"`
	Vector memory.Vector `json:"vector"`
}

// NewCorpus returns a corpus whose facts and messages have vectors of its own, or none.
func NewCorpus(cfg Config, vectors bool) *Corpus {
	rng := rand.New(rand.NewPCG(cfg.Seed, 17))
	c := &Corpus{rng: rng, zipf: rand.NewZipf(rng, 1.07, 12, vocabulary-1), vectors: vectors, questionEvery: max(1, cfg.Facts/(cfg.Questions+1))}
	syllables := strings.Fields("ba ke li mo nu ra se ti vo zu pla gre fin dor mas tel")
	for i := range vocabulary {
		w := syllables[i%16] + syllables[(i/16)%16] + syllables[(i/256)%16]
		if i >= 4096 {
			w += syllables[i/4096]
		}
		c.words = append(c.words, w)
	}
	if vectors {
		c.common = c.noise()
		for range 20 + cfg.Facts/clusterSize {
			c.clusters = append(c.clusters, c.noise())
		}
	}
	return c
}

// noise returns a vector in a random direction, about of unit length.
func (c *Corpus) noise() memory.Vector {
	v := make(memory.Vector, dimension)
	for i := range v {
		v[i] = float32(c.rng.NormFloat64()) / 19.6
	}
	return v
}

// mixed returns the sum of weights and vectors, which alternate, at unit length.
func mixed(parts ...any) memory.Vector {
	out := make(memory.Vector, dimension)
	for i := 0; i < len(parts); i += 2 {
		w := float32(parts[i].(float64))
		for j, x := range parts[i+1].(memory.Vector) {
			out[j] += w * x
		}
	}
	return out.Unit()
}

var stopWords = strings.Fields("the a of to and in that it is was for on with as at by this I you he she they we not but what so about would there")

// sentence returns n words: two fifths stop words, a fifth of own, the rest of the vocabulary.
func (c *Corpus) sentence(n int, own []string) string {
	out := make([]string, n)
	for i := range out {
		switch c.rng.IntN(5) {
		case 0, 1:
			out[i] = stopWords[c.rng.IntN(len(stopWords))]
		case 2:
			out[i] = own[c.rng.IntN(len(own))]
		default:
			out[i] = c.words[c.zipf.Uint64()]
		}
	}
	return strings.Join(out, " ")
}

// thread is what a few facts in a row are about.
type thread struct {
	own    []string
	entity memory.EntityID
	name   string
	base   memory.Vector
}

func (c *Corpus) thread() thread {
	t := thread{own: []string{c.words[c.rng.IntN(vocabulary)], c.words[c.rng.IntN(vocabulary)], c.words[c.zipf.Uint64()]}}
	t.name = strings.ToUpper(t.own[0][:1]) + t.own[0][1:] + fmt.Sprintf(" %c%d", 'A'+len(c.entities)%26, len(c.entities)/26)
	t.entity = memory.EntityID("person:" + strings.ToLower(t.name))
	c.entities = append(c.entities, t.entity)
	if c.vectors && c.embedder == nil {
		t.base = mixed(.35, c.common, .6, c.clusters[c.rng.IntN(len(c.clusters))], .6, c.noise())
	}
	return t
}

// Session returns the session of the message after n.
func Session(n int) memory.SessionID { return memory.SessionID(fmt.Sprintf("s%d", n/200)) }

// batch makes the next hundred messages and facts, as events of the messages and writes streams after seq and write.
func (c *Corpus) batch(ctx context.Context, bank memory.BankID, seq, write uint64) ([]consolidate.MessageEvent, []memory.Write, error) {
	var events []consolidate.MessageEvent
	var facts []memory.Fact
	var vectors []memory.LateVector
	session := Session(c.facts)
	var t thread
	for i := range 100 {
		if i%4 == 0 {
			t = c.thread()
		}
		seq++
		at := Epoch.Add(time.Duration(seq) * Interval)
		speaker := []string{"Ann", "Ben"}[i%2]
		m := &memory.Message{Bank: bank, Session: session, Seq: seq, ID: memory.SequenceID(seq), Role: memory.RoleUser, Speaker: speaker,
			Content: c.sentence(10+c.rng.IntN(20), t.own) + ".", Time: at}
		events = append(events, consolidate.MessageEvent{Seq: seq, Bank: bank, Session: session, Stored: at, State: memory.StatePending, Message: m})
		f := memory.Fact{Bank: bank, Kind: memory.KindWorld, Type: memory.TypeFact, Text: t.name + " " + c.sentence(6+c.rng.IntN(8), t.own) + ".", Session: session,
			Entities: []memory.EntityID{t.entity}, Speaker: speaker, Role: memory.RoleUser, Said: at, Recorded: at, Valid: []memory.Interval{{From: at}}, Confidence: .7,
			Sources: []memory.Source{{Message: m.ID, Seq: seq, Said: at, Start: at}}, Extractor: "bench"}
		if i%10 == 0 {
			f.Type = memory.TypePreference
		}
		f.ID = memory.NewFactID(bank, f.Text, f.Kind)
		if c.vectors && c.embedder == nil {
			f.Model, f.Vector = model, mixed(1., t.base, .45, c.noise())
			vectors = append(vectors, memory.LateVector{Record: memory.RecordMessage, ID: string(m.ID), Seq: seq, Model: model, Vector: mixed(1., f.Vector, .5, c.noise())})
		}
		if c.facts++; c.facts%c.questionEvery == 0 {
			c.ask(f, t)
		}
		facts = append(facts, f)
	}
	if err := c.embed(ctx, facts); err != nil {
		return nil, nil, err
	}
	return events, windowEnds(bank, session, events, facts, vectors, write), nil
}

// embed embeds facts with the embedder, where there is one.
func (c *Corpus) embed(ctx context.Context, facts []memory.Fact) error {
	if c.embedder == nil {
		return nil
	}
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Text
	}
	vectors, err := c.embedder.Embed(ctx, texts)
	for i := range vectors {
		facts[i].Model, facts[i].Vector = c.embedder.Name(), vectors[i]
	}
	return err
}

// windowEnds returns the writes that end windows of two messages each.
func windowEnds(bank memory.BankID, session memory.SessionID, events []consolidate.MessageEvent, facts []memory.Fact, vectors []memory.LateVector, write uint64) []memory.Write {
	var out []memory.Write
	for i := 0; i < len(events); i += 2 {
		write++
		first, last := events[i].Seq, events[i+1].Seq
		w := memory.Window{ID: memory.NewWindowID(bank, session, first, last, 0), Bank: bank, Session: session,
			New: []memory.WindowMessage{{Seq: first}, {Seq: last}}, Trigger: memory.TriggerCount}
		end := memory.Write{Bank: bank, Kind: memory.WriteWindow, Seq: write, Op: string(w.ID), Time: events[i+1].Stored, Upto: last,
			Window: &memory.WindowEnd{Window: w, SessionID: session, Outcome: memory.WindowFacts, Extractor: "bench"}, Facts: facts[i : i+2]}
		if vectors != nil {
			end.Vectors = vectors[i : i+2]
		}
		out = append(out, end)
	}
	return out
}

// Message makes a message about people of a new thread, in sentences from which rules extract facts.
func (c *Corpus) Message() memory.Message {
	t := c.thread()
	return memory.Message{Speaker: []string{"Ann", "Ben"}[c.rng.IntN(2)],
		Content: "My friend " + t.name + " likes " + c.sentence(4+c.rng.IntN(6), t.own) + ". I " + c.sentence(6+c.rng.IntN(10), t.own) + "."}
}

// ask adds a question of 6 to 12 words about a fact, half of them stop words.
func (c *Corpus) ask(f memory.Fact, t thread) {
	words := strings.Fields(strings.TrimSuffix(f.Text, "."))
	q := []string{"what", "did"}
	for n := 4 + c.rng.IntN(7); len(q) < n+2; {
		if c.rng.IntN(2) == 0 {
			q = append(q, stopWords[c.rng.IntN(len(stopWords))])
		} else {
			q = append(q, words[2+c.rng.IntN(len(words)-2)])
		}
	}
	made := Question{Text: strings.Join(q, " ") + "?"}
	if f.Vector != nil {
		made.Vector = mixed(1., f.Vector, .6, c.noise())
	}
	c.questions = append(c.questions, made)
}

// Embedder embeds questions as the vectors they were made with, and any other text as a random vector of its own.
type Embedder map[string]memory.Vector

// Name implements memory.Embedder.
func (Embedder) Name() string { return model }

// Dimension implements memory.Embedder.
func (Embedder) Dimension() int { return dimension }

// Thresholds implements memory.Embedder.
func (Embedder) Thresholds() memory.SimilarityThresholds {
	return memory.SimilarityThresholds{Dedup: .85, Cluster: .75, Diameter: .70, RankWeight: 1}
}

// Embed implements memory.Embedder.
func (e Embedder) Embed(_ context.Context, texts []string) ([]memory.Vector, error) {
	out := make([]memory.Vector, len(texts))
	for i, t := range texts {
		if out[i] = e[t]; out[i] != nil {
			continue
		}
		h := fnv.New64a()
		h.Write([]byte(t)) //nolint:errcheck // it cannot fail
		out[i] = (&Corpus{rng: rand.New(rand.NewPCG(h.Sum64(), 1))}).noise().Unit()
	}
	return out, nil
}
