package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestDecodeNamesTheField(t *testing.T) {
	t.Parallel()
	for body, field := range map[string]string{
		`{"query":"a","max_fact":3}`:     "max_fact",
		`{"query":"a","max_facts":"3"}`:  "max_facts",
		`{"query":"a","speakers":"Bob"}`: "speakers",
		`{"query":true}`:                 "query",
	} {
		var r wire.RecallRequest
		err := memory.Decode([]byte(body), &r)
		var fe *memory.FieldError
		if !errors.As(err, &fe) || !strings.HasSuffix(fe.Field, field) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestDecodeReadsEmbeddedFields(t *testing.T) {
	t.Parallel()
	var r wire.ReflectRequest
	err := memory.Decode([]byte(`{"query":"a","style":"context","types":["event"],"wait":"300ms","as_of":"2026-01-01T00:00:00+02:00","vector":[1,0]}`), &r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Query != "a" || r.Types[0] != memory.TypeEvent || time.Duration(*r.Wait) != 300*time.Millisecond || len(r.Vector) != 2 {
		t.Fatalf("got %+v", r)
	}
}

func TestErrorsCrossTheWire(t *testing.T) {
	t.Parallel()
	for _, meaning := range []error{memory.ErrInvalid, memory.ErrNotFound, memory.ErrConflict, memory.ErrTooLarge, memory.ErrQuota, memory.ErrUnavailable, memory.ErrDeadline} {
		sent := &memory.FieldError{Field: "query", Message: "why", Meaning: meaning}
		b, _ := json.Marshal(wire.FaultOf(sent))
		var f wire.Fault
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		if got := f.Err(); !errors.Is(got, meaning) || got.Error() != sent.Error() {
			t.Errorf("%v came back as %v", sent, got)
		}
	}
}
