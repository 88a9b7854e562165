package storetest

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// everyReading calls each method that reads, once with arguments that name what there is and once with nothing: an engine
// must be able to run every statement, also those that no other case reaches.
func everyReading(t *testing.T, h *harness) {
	h.say("b", memory.Message{ID: "m", Speaker: "Ann", Content: "I moved to Porto"})
	h.say("b", memory.Message{ID: "n", Speaker: "Ann", Content: "I like tea"})
	moved, tea := fact("b", "Ann moved to Porto.", 1), fact("b", "Ann likes tea.", 2)
	for _, f := range []*memory.Fact{&moved, &tea} {
		f.Entities, f.Speaker, f.Vector = []memory.EntityID{"person:ann"}, "Ann", vector(8, 1, 0)
	}
	byHand := fact("b", "Ann owns a loom.", 1)
	byHand.Sources, byHand.Speaker, byHand.Ops = nil, "Ann", []string{"op-9"}
	h.put("b", memory.Changes{Facts: []memory.Fact{moved, tea, byHand},
		Entities:     []memory.Entity{{ID: "person:ann", Type: "person", Name: "Ann"}},
		Composites:   []memory.Composite{{ID: "c_1", Bank: "b", Level: 1, Text: "Ann.", Representative: string(moved.ID), Children: []string{string(moved.ID), string(tea.ID)}}},
		Observations: []memory.Observation{{ID: "o_1", Bank: "b", Type: "pattern", Subject: "ann", Text: "Ann moves.", Facts: []memory.FactID{moved.ID}}},
		Relations:    []memory.Relation{{From: string(moved.ID), To: string(tea.ID), Type: memory.RelSupersedes, Strength: 1}},
		Conflicts:    []memory.Conflict{{ID: "x_1", A: moved.ID, B: tea.ID, Reason: "one or the other", State: memory.ConflictOpen}}})
	some := samples{
		reflect.TypeFor[memory.BankID](): "b", reflect.TypeFor[memory.FactID](): string(moved.ID), reflect.TypeFor[memory.MessageID](): "m",
		reflect.TypeFor[memory.EntityID](): "person:ann", reflect.TypeFor[memory.CompositeID](): "c_1", reflect.TypeFor[memory.ObservationID](): "o_1",
		reflect.TypeFor[memory.SessionID](): "s", reflect.TypeFor[memory.EntityType](): "person", reflect.TypeFor[memory.RelationType](): string(memory.RelSupersedes),
	}
	nothing := samples{reflect.TypeFor[memory.BankID](): "b"}
	for _, args := range []samples{some, nothing} {
		args.call(t, h.Store, reflect.TypeFor[store.Store]())
		h.view("b", func(v plan.View) { args.call(t, v, reflect.TypeFor[plan.View]()) })
		h.must(h.Read(context.Background(), "b", func(r query.Reader) error {
			args.call(t, r, reflect.TypeFor[query.Reader]())
			return nil
		}))
		h.must(h.Search(context.Background(), "b", memory.Filter{}, func(s recall.Searcher) error {
			args.call(t, s, reflect.TypeFor[recall.Searcher]())
			return nil
		}))
	}
	h.view("b", func(v plan.View) {
		if of, err := v.FactsByHand("ann", ""); err != nil || len(of) != 1 || of[0].ID != byHand.ID {
			t.Errorf("by hand of Ann are %v, %v", of, err)
		}
		if all, err := v.FactsByHand("", ""); err != nil || len(all) != 1 {
			t.Errorf("by hand are %v, %v", all, err)
		}
		if none, err := v.FactsByHand("", "elsewhere"); err != nil || len(none) != 0 {
			t.Errorf("by hand elsewhere are %v, %v", none, err)
		}
	})
}

// samples are the values of arguments by type; what is not in them is empty if there is only one, else a value of its kind.
type samples map[reflect.Type]string

// changing are the beginnings of the names of methods that change a store, and those whose argument is not of its kind.
var changing = []string{"Apply", "Adopt", "Erased", "Close", "Warm", "Preview", "Published", "Remove", "Vacuum", "Verify", "Copy", "Dump"}

// call calls the methods of an interface that read. An error is one of the test unless something asked for is not there or
// invalid.
func (s samples) call(t *testing.T, v any, of reflect.Type) {
	t.Helper()
	for i := range of.NumMethod() {
		m := of.Method(i)
		if !m.IsExported() || m.Type.NumOut() == 0 || m.Type.Out(m.Type.NumOut()-1) != reflect.TypeFor[error]() {
			continue
		}
		args, ok := s.arguments(m)
		for _, name := range changing {
			ok = ok && !strings.HasPrefix(m.Name, name)
		}
		if !ok {
			continue
		}
		out := reflect.ValueOf(v).MethodByName(m.Name).Call(args)
		if err, _ := out[len(out)-1].Interface().(error); err != nil && memory.Code(err) != 404 && memory.Code(err) != 400 {
			t.Errorf("%s.%s(%v): %v", of.Name(), m.Name, args, err)
		}
	}
}

// arguments returns those of a method; ok is false where one is a function.
func (s samples) arguments(m reflect.Method) (args []reflect.Value, ok bool) {
	for i := range m.Type.NumIn() {
		switch in := m.Type.In(i); in.Kind() {
		case reflect.Func:
			return nil, false
		case reflect.Slice:
			if in.Elem().Kind() == reflect.Func {
				return nil, false
			}
			args = append(args, s.value(in))
		case reflect.Interface:
			args = append(args, reflect.ValueOf(context.Background()))
		default:
			args = append(args, s.value(in))
		}
	}
	return args, true
}

// value returns a value of a type.
func (s samples) value(of reflect.Type) reflect.Value {
	v := reflect.New(of).Elem()
	text, known := s[of]
	full := len(s) > 1
	switch {
	case known:
		v.SetString(text)
	case of == reflect.TypeFor[memory.Record]():
		v.SetString(string(memory.RecordFact))
	case of == reflect.TypeFor[memory.Vector]():
		v.Set(reflect.ValueOf(vector(8, 1, 0)))
	case of == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(at(1)))
	case of.Kind() == reflect.Slice && full:
		v.Set(reflect.Append(v, s.value(of.Elem())))
	case of.Kind() == reflect.String && full:
		v.SetString("Ann")
	case v.CanInt():
		v.SetInt(5)
	case v.CanUint():
		v.SetUint(1)
	}
	return v
}
