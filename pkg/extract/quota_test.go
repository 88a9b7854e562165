package extract_test

import (
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestQuotas(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, p *pipeline, field string, req wire.RetainRequest) {
		t.Helper()
		_, err := p.client.Retain(t.Context(), "alice", req)
		var fe *memory.FieldError
		if !errors.Is(err, memory.ErrQuota) || !errors.As(err, &fe) || fe.Field != field {
			t.Errorf("over %s: %v", field, err)
		}
	}
	set := func(t *testing.T, p *pipeline, q memory.Quotas) {
		t.Helper()
		if _, err := p.client.SetBank(t.Context(), "alice", memory.BankUpdate{Quotas: &q}); err != nil {
			t.Fatal(err)
		}
	}
	byHand := wire.RetainRequest{Facts: []memory.FactInput{{Text: "Alice is tall."}}}
	t.Run("beyond the quota of facts nothing is retained, and messages still yield their facts", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		set(t, p, memory.Quotas{Facts: 2})
		p.extractor(version("v1"), nil)
		p.say("alice", "s1", "tea", "boats", "maps")
		st := p.until("alice", "all is extracted", settled(3))
		if st.Facts != 3 || st.Conservation.Committed != 3 {
			t.Errorf("got %+v", st)
		}
		refused(t, p, "quotas.facts", byHand)
		refused(t, p, "quotas.facts", wire.RetainRequest{Text: "Alice is tall."})
		set(t, p, memory.Quotas{Facts: 4})
		if r, err := p.client.Retain(t.Context(), "alice", byHand); err != nil || r.Results[0].Outcome != memory.OutcomeAdded {
			t.Errorf("with room for one: %+v, %v", r, err)
		}
		refused(t, p, "quotas.facts", byHand)
	})
	t.Run("beyond the quota of bytes messages are kept and not extracted, and nothing is retained", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		set(t, p, memory.Quotas{Bytes: 10})
		p.until("alice", "the quota is known to ingest", func(wire.Status) bool {
			b, err := p.profile(t.Context(), "alice")
			return err == nil && b.Quotas != nil
		})
		p.extractor(version("v1"), nil)
		refused(t, p, "quotas.bytes", wire.RetainRequest{Text: "Alice is tall."})
		req := wire.RetainRequest{Text: "0123456789"}
		req.Op = "mine"
		first, err := p.client.Retain(t.Context(), "alice", req)
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.client.Retain(t.Context(), "alice", req)
		if err != nil || again.Write != first.Write {
			t.Errorf("repeating what filled it: %+v, %v", again, err)
		}
		p.say("alice", "s1", "tea", "boats")
		st := p.until("alice", "all is settled", settled(3))
		if c := st.Conservation; c.Throttled != 2 || c.Committed != 1 {
			t.Errorf("got %+v", c)
		}
		refused(t, p, "quotas.bytes", byHand)
	})
}
