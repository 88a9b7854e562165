package consolidatetest

import (
	"context"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

// Hashed returns the vector of a text by the embedder that needs no model.
func Hashed(t testing.TB, text string) memory.Vector {
	t.Helper()
	return vectorOf(t, hashed.New(), text)
}

// Fact returns a fact of the world with confidence 0.8 and the hashed vector of its text. It names its speaker as an
// entity, unless speaker is empty.
func Fact(t testing.TB, speaker, text string) memory.Fact {
	t.Helper()
	f := memory.Fact{Text: text, Kind: memory.KindWorld, Type: memory.TypeFact, Speaker: speaker, Confidence: 0.8, Vector: Hashed(t, text)}
	if speaker != "" {
		f.Entities = []memory.EntityID{memory.NewEntityID(memory.EntityPerson, speaker)}
	}
	return f
}

// FactWithoutVector returns a fact about Alice that has no vector yet.
func FactWithoutVector(text string) memory.Fact {
	return memory.Fact{Text: text, Kind: memory.KindWorld, Type: memory.TypeFact, Confidence: .8, Entities: []memory.EntityID{"person:alice"}}
}

// Vector returns the embedder's vector of a text.
func (e *Embedder) Vector(t testing.TB, text string) memory.Vector {
	t.Helper()
	return vectorOf(t, e, text)
}

func vectorOf(t testing.TB, e memory.Embedder, text string) memory.Vector {
	t.Helper()
	v, err := e.Embed(context.Background(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// LateVector returns the vector of a fact of the bank "alice" with this text, as an event of the log brings it.
func (e *Embedder) LateVector(t testing.TB, text string) memory.LateVector {
	t.Helper()
	id := memory.NewFactID("alice", text, memory.KindWorld)
	return memory.LateVector{Record: memory.RecordFact, ID: string(id), Model: e.Name(), Vector: e.Vector(t, text)}
}
