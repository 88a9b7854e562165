package main

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

const (
	loadBank       = memory.BankID("load")
	loadDimension  = 384
	loadVocabulary = 40_000 // words that carry meaning
	loadCluster    = 500    // facts around one middle of vectors
	loadModel      = "bench:clusters"
)

// loadPause is between two messages.
const loadPause = 10 * time.Second

var loadEpoch = time.Date(2025, 1, 1, 8, 0, 0, 0, time.UTC)

// corpus makes a bank of talk, always the same from one seed: words whose
// frequencies fall as those of a language do, facts in threads of a few that are
// near each other, vectors around clusters with a direction that all share.
type corpus struct {
	rng      *rand.Rand
	zipf     *rand.Zipf
	words    []string
	common   memory.Vector
	clusters []memory.Vector
	vectors  bool
	embedder memory.Embedder // nil = vectors of its own

	made      int // facts
	entities  []memory.EntityID
	questions []loadQuestion
	every     int // a question from so many facts
}

// loadQuestion asks for a fact that the bank has.
type loadQuestion struct {
	Text   string        `json:"text"`
	Vector memory.Vector `json:"vector"`
}

func newCorpus(f loadFlags, vectors bool) *corpus {
	rng := rand.New(rand.NewPCG(f.seed, 17))
	c := &corpus{rng: rng, zipf: rand.NewZipf(rng, 1.07, 12, loadVocabulary-1), vectors: vectors, every: max(1, f.facts/(f.questions+1))}
	syllables := strings.Fields("ba ke li mo nu ra se ti vo zu pla gre fin dor mas tel")
	for i := range loadVocabulary {
		w := syllables[i%16] + syllables[(i/16)%16] + syllables[(i/256)%16]
		if i >= 4096 {
			w += syllables[i/4096]
		}
		c.words = append(c.words, w)
	}
	if vectors {
		c.common = c.noise()
		for range 20 + f.facts/loadCluster {
			c.clusters = append(c.clusters, c.noise())
		}
	}
	return c
}

// noise is a vector of no direction, about as long as one.
func (c *corpus) noise() memory.Vector {
	v := make(memory.Vector, loadDimension)
	for i := range v {
		v[i] = float32(c.rng.NormFloat64()) / 19.6
	}
	return v
}

func mixed(parts ...any) memory.Vector {
	out := make(memory.Vector, loadDimension)
	for i := 0; i < len(parts); i += 2 {
		w := float32(parts[i].(float64))
		for j, x := range parts[i+1].(memory.Vector) {
			out[j] += w * x
		}
	}
	return out.Unit()
}

var loadFiller = strings.Fields("the a of to and in that it is was for on with as at by this I you he she they we not but what so about would there")

// say gives a sentence of n words about words of its own, stop words between them.
func (c *corpus) say(n int, own []string) string {
	out := make([]string, n)
	for i := range out {
		switch c.rng.IntN(5) {
		case 0, 1:
			out[i] = loadFiller[c.rng.IntN(len(loadFiller))]
		case 2:
			out[i] = own[c.rng.IntN(len(own))]
		default:
			out[i] = c.words[c.zipf.Uint64()]
		}
	}
	return strings.Join(out, " ")
}

// thread is what a few facts that follow each other are about.
type thread struct {
	own    []string
	entity memory.EntityID
	name   string
	base   memory.Vector
}

func (c *corpus) thread(bank memory.BankID) thread {
	t := thread{own: []string{c.words[c.rng.IntN(loadVocabulary)], c.words[c.rng.IntN(loadVocabulary)], c.words[c.zipf.Uint64()]}}
	t.name = strings.ToUpper(t.own[0][:1]) + t.own[0][1:] + fmt.Sprintf(" %c%d", 'A'+len(c.entities)%26, len(c.entities)/26)
	t.entity = memory.EntityID("person:" + strings.ToLower(t.name))
	c.entities = append(c.entities, t.entity)
	if c.vectors && c.embedder == nil {
		t.base = mixed(.35, c.common, .6, c.clusters[c.rng.IntN(len(c.clusters))], .6, c.noise())
	}
	return t
}

// loadSession is the session of the message after n.
func loadSession(n int) memory.SessionID { return memory.SessionID(fmt.Sprintf("s%d", n/200)) }

// batch makes the next hundred messages and facts: what is applied of each stream.
func (c *corpus) batch(ctx context.Context, bank memory.BankID, seq, write uint64) ([]consolidate.MessageEvent, []memory.Write, error) {
	var events []consolidate.MessageEvent
	var facts []memory.Fact
	var late []memory.LateVector
	session := loadSession(c.made)
	var t thread
	for i := range 100 {
		if i%4 == 0 {
			t = c.thread(bank)
		}
		seq++
		at := loadEpoch.Add(time.Duration(seq) * loadPause)
		speaker := []string{"Ann", "Ben"}[i%2]
		m := &memory.Message{Bank: bank, Session: session, Seq: seq, ID: memory.SequenceID(seq), Role: memory.RoleUser, Speaker: speaker,
			Content: c.say(10+c.rng.IntN(20), t.own) + ".", Time: at}
		events = append(events, consolidate.MessageEvent{Seq: seq, Bank: bank, Session: session, Stored: at, State: memory.StatePending, Message: m})
		f := memory.Fact{Bank: bank, Kind: memory.KindWorld, Type: memory.TypeFact, Text: t.name + " " + c.say(6+c.rng.IntN(8), t.own) + ".", Session: session,
			Entities: []memory.EntityID{t.entity}, Speaker: speaker, Role: memory.RoleUser, Said: at, Recorded: at, Valid: []memory.Interval{{From: at}}, Confidence: .7,
			Sources: []memory.Source{{Message: m.ID, Seq: seq, Said: at, Start: at}}, Extractor: "bench"}
		if i%10 == 0 {
			f.Type = memory.TypePreference
		}
		f.ID = memory.NewFactID(bank, f.Text, f.Kind)
		if c.vectors && c.embedder == nil {
			f.Model, f.Vector = loadModel, mixed(1., t.base, .45, c.noise())
			late = append(late, memory.LateVector{Record: memory.RecordMessage, ID: string(m.ID), Seq: seq, Model: loadModel, Vector: mixed(1., f.Vector, .5, c.noise())})
		}
		if c.made++; c.made%c.every == 0 {
			c.ask(f, t)
		}
		facts = append(facts, f)
	}
	if err := c.embed(ctx, facts); err != nil {
		return nil, nil, err
	}
	return events, loadWrites(bank, session, events, facts, late, write), nil
}

// embed gives facts the vectors of an embedder, where there is one.
func (c *corpus) embed(ctx context.Context, facts []memory.Fact) error {
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

// loadWrites are the ends of windows of two messages each.
func loadWrites(bank memory.BankID, session memory.SessionID, events []consolidate.MessageEvent, facts []memory.Fact, late []memory.LateVector, write uint64) []memory.Write {
	var out []memory.Write
	for i := 0; i < len(events); i += 2 {
		write++
		first, last := events[i].Seq, events[i+1].Seq
		w := memory.Window{ID: memory.NewWindowID(bank, session, first, last, 0), Bank: bank, Session: session,
			New: []memory.WindowMessage{{Seq: first}, {Seq: last}}, Trigger: memory.TriggerCount}
		end := memory.Write{Bank: bank, Kind: memory.WriteWindow, Seq: write, Op: string(w.ID), Time: events[i+1].Stored, Upto: last,
			Window: &memory.WindowEnd{Window: w, SessionID: session, Outcome: memory.WindowFacts, Extractor: "bench"}, Facts: facts[i : i+2]}
		if late != nil {
			end.Vectors = late[i : i+2]
		}
		out = append(out, end)
	}
	return out
}

// ask makes a question of 6 to 12 words about a fact, half of them stop words.
func (c *corpus) ask(f memory.Fact, t thread) {
	words := strings.Fields(strings.TrimSuffix(f.Text, "."))
	q := []string{"what", "did"}
	for n := 4 + c.rng.IntN(7); len(q) < n+2; {
		if c.rng.IntN(2) == 0 {
			q = append(q, loadFiller[c.rng.IntN(len(loadFiller))])
		} else {
			q = append(q, words[2+c.rng.IntN(len(words)-2)])
		}
	}
	l := loadQuestion{Text: strings.Join(q, " ") + "?"}
	if f.Vector != nil {
		l.Vector = mixed(1., f.Vector, .6, c.noise())
	}
	c.questions = append(c.questions, l)
}

// loadEmbedder gives the questions the vectors they were made with.
type loadEmbedder map[string]memory.Vector

func (loadEmbedder) Name() string   { return loadModel }
func (loadEmbedder) Dimension() int { return loadDimension }
func (loadEmbedder) Thresholds() memory.SimilarityThresholds {
	return memory.SimilarityThresholds{Dedup: .85, Cluster: .75, Diameter: .70, RankWeight: 1}
}

func (e loadEmbedder) Embed(_ context.Context, texts []string) ([]memory.Vector, error) {
	out := make([]memory.Vector, len(texts))
	for i, t := range texts {
		if out[i] = e[t]; out[i] != nil {
			continue
		}
		h := fnv.New64a()
		h.Write([]byte(t)) //nolint:errcheck // it cannot fail
		out[i] = (&corpus{rng: rand.New(rand.NewPCG(h.Sum64(), 1))}).noise().Unit()
	}
	return out, nil
}
