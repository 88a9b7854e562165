package write

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Observe derives observations from the bank's facts, or takes ready-made ones.
func (a *Appender) Observe(ctx context.Context, bank memory.BankID, r wire.ObserveRequest) (wire.ObserveReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.ObserveReply{}, err
	}
	if err := a.checkObserve(r); err != nil {
		return wire.ObserveReply{}, err
	}
	if err := a.exists(ctx, bank); err != nil {
		return wire.ObserveReply{}, err
	}
	for i := range r.Observations {
		r.Observations[i].Text = a.deps.Redact(r.Observations[i].Text)
		r.Observations[i].Reasoning = a.deps.Redact(r.Observations[i].Reasoning)
	}
	if r.Query != "" {
		r.Query = memory.HashedWords(bank, text.ContentStems(r.Query))
	}
	r.WriteControl = wire.WriteControl{}
	until := time.Now().Add(wait)
	out, err := a.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteObserve, Op: op, Observe: &r}, wait)
	if err != nil {
		return wire.ObserveReply{}, err
	}
	reply := wire.ObserveReply{Op: out.Op, Write: out.Write, Observations: []memory.Observation{}}
	if len(r.Observations) == 0 {
		var more memory.WriteOutcome
		if more, reply.Pending, err = a.modelOutcome(ctx, bank, op, until); err != nil {
			return wire.ObserveReply{}, err
		}
		out.Observations = union(out.Observations, more.Observations)
	}
	err = a.deps.Store.Read(ctx, bank, func(rd Reader) error {
		list, err := rd.ObservationsByID(out.Observations)
		reply.Observations = append(reply.Observations, list...)
		return err
	})
	return reply, err
}

func (a *Appender) checkObserve(r wire.ObserveRequest) error {
	if len(r.Query) > memory.MaxQuery {
		return memory.Invalid("query", "is %d bytes long; at most %d are allowed", len(r.Query), memory.MaxQuery)
	}
	for i, t := range r.Types {
		if !t.Valid() {
			return memory.Invalid(request.Element("types", i), "is not a type of observation")
		}
	}
	if err := request.Share("min_confidence", r.MinConfidence); err != nil {
		return err
	}
	if len(r.Observations) > memory.MaxFacts {
		return memory.Invalid("observations", "has %d observations; at most %d are allowed", len(r.Observations), memory.MaxFacts)
	}
	for i, o := range r.Observations {
		field := func(name string) string { return fmt.Sprintf("observations.%d.%s", i, name) }
		switch {
		case !o.Type.Valid():
			return memory.Invalid(field("type"), "is not a type of observation; expected pattern, causal, generalization, preference, risk or strategy")
		case strings.TrimSpace(o.Text) == "":
			return memory.Invalid(field("text"), "must not be empty")
		case len(o.Text) > memory.MaxFactText || len(o.Reasoning) > memory.MaxFactText:
			return memory.Invalid(field("text"), "text and reasoning may have %d bytes each", memory.MaxFactText)
		case len(o.Facts) > memory.MaxEntities:
			return memory.Invalid(field("facts"), "has %d facts; at most %d are allowed", len(o.Facts), memory.MaxEntities)
		}
		if err := request.Share(field("confidence"), o.Confidence); err != nil {
			return err
		}
		for j, id := range o.Facts {
			if err := memory.CheckID(request.Element(field("facts"), j), string(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Consolidate runs at once what the consolidator runs on a schedule.
func (a *Appender) Consolidate(ctx context.Context, bank memory.BankID, r wire.ConsolidateRequest) (wire.ConsolidateReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.ConsolidateReply{}, err
	}
	if err := a.exists(ctx, bank); err != nil {
		return wire.ConsolidateReply{}, err
	}
	r.WriteControl = wire.WriteControl{}
	until := time.Now().Add(wait)
	out, err := a.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteConsolidate, Op: op, Consolidate: &r}, wait)
	if err != nil {
		return wire.ConsolidateReply{}, err
	}
	reply := wire.ConsolidateReply{Op: out.Op, Write: out.Write, Ran: out.Ran != nil && *out.Ran, Facts: out.Facts, Composites: out.Composites}
	if reply.Ran {
		var more memory.WriteOutcome
		if more, reply.Pending, err = a.modelOutcome(ctx, bank, op, until); err != nil {
			return wire.ConsolidateReply{}, err
		}
		out.Observations = union(out.Observations, more.Observations)
	}
	reply.Observations = len(out.Observations)
	return reply, nil
}

// modelOutcome waits until a moment for what a language model makes of the request of an op. Without a model it returns at
// once; pending means that the model has not answered in time.
func (a *Appender) modelOutcome(ctx context.Context, bank memory.BankID, op string, until time.Time) (out memory.WriteOutcome, pending bool, err error) {
	if !a.cfg.Observer {
		return out, false, nil
	}
	found, err := request.Await(ctx, max(0, time.Until(until)), func(ctx context.Context) (*memory.WriteOutcome, error) {
		return a.deps.Store.Outcome(ctx, bank, memory.ModelOp(op))
	})
	if err != nil || found == nil {
		return out, err == nil, err
	}
	return *found, false, nil
}

// union returns both lists, each id once, in order.
func union(a, b []memory.ObservationID) []memory.ObservationID {
	out := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
