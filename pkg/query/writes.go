package query

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Observe derives observations from the bank's facts, or takes ready-made ones.
func (s *Service) Observe(ctx context.Context, bank memory.BankID, r memory.ObserveRequest) (memory.ObserveReply, error) {
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return memory.ObserveReply{}, err
	}
	if err := s.checkObserve(r); err != nil {
		return memory.ObserveReply{}, err
	}
	if err := s.exists(ctx, bank); err != nil {
		return memory.ObserveReply{}, err
	}
	for i := range r.Observations {
		r.Observations[i].Text = s.redact(r.Observations[i].Text)
		r.Observations[i].Reasoning = s.redact(r.Observations[i].Reasoning)
	}
	r.WriteControl = memory.WriteControl{}
	until := time.Now().Add(wait)
	out, err := s.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteObserve, Op: op, Observe: &r}, wait)
	if err != nil {
		return memory.ObserveReply{}, err
	}
	reply := memory.ObserveReply{Op: out.Op, Write: out.Write, Observations: []memory.Observation{}}
	if len(r.Observations) == 0 {
		var more memory.WriteOutcome
		if more, reply.Pending, err = s.modelOutcome(ctx, bank, op, until); err != nil {
			return memory.ObserveReply{}, err
		}
		out.Observations = union(out.Observations, more.Observations)
	}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		list, err := rd.ObservationsByID(out.Observations)
		reply.Observations = append(reply.Observations, list...)
		return err
	})
	return reply, err
}

func (s *Service) checkObserve(r memory.ObserveRequest) error {
	if len(r.Query) > memory.MaxQuery {
		return memory.Invalid("query", "is %d bytes long; at most %d are allowed", len(r.Query), memory.MaxQuery)
	}
	for i, t := range r.Types {
		if !t.Valid() {
			return memory.Invalid(fieldOf("types", i), "is not a type of observation")
		}
	}
	if err := checkShare("min_confidence", r.MinConfidence); err != nil {
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
		if err := checkShare(field("confidence"), o.Confidence); err != nil {
			return err
		}
		for j, id := range o.Facts {
			if err := memory.CheckID(fieldOf(field("facts"), j), string(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkShare(field string, v *float64) error {
	if v != nil && (math.IsNaN(*v) || *v < 0 || *v > 1) {
		return memory.Invalid(field, "is %g; expected 0 to 1", *v)
	}
	return nil
}

// Consolidate runs what waits for a schedule.
func (s *Service) Consolidate(ctx context.Context, bank memory.BankID, r memory.ConsolidateRequest) (memory.ConsolidateReply, error) {
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return memory.ConsolidateReply{}, err
	}
	if err := s.exists(ctx, bank); err != nil {
		return memory.ConsolidateReply{}, err
	}
	r.WriteControl = memory.WriteControl{}
	until := time.Now().Add(wait)
	out, err := s.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteConsolidate, Op: op, Consolidate: &r}, wait)
	if err != nil {
		return memory.ConsolidateReply{}, err
	}
	reply := memory.ConsolidateReply{Op: out.Op, Write: out.Write, Ran: out.Ran != nil && *out.Ran, Facts: out.Facts, Composites: out.Composites}
	if reply.Ran {
		var more memory.WriteOutcome
		if more, reply.Pending, err = s.modelOutcome(ctx, bank, op, until); err != nil {
			return memory.ConsolidateReply{}, err
		}
		out.Observations = union(out.Observations, more.Observations)
	}
	reply.Observations = len(out.Observations)
	return reply, nil
}

// Feedback reports what a recall was good for: it moves ranking and decay.
func (s *Service) Feedback(ctx context.Context, bank memory.BankID, r memory.FeedbackRequest) (FeedbackReply, error) {
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return FeedbackReply{}, err
	}
	switch {
	case r.Outcome != "" && !slices.Contains([]string{"success", "failure", "correction", "unknown"}, r.Outcome):
		return FeedbackReply{}, memory.Invalid("outcome", "is not an outcome; expected success, failure, correction or unknown")
	case len(r.Retrieved)+len(r.Used) == 0:
		return FeedbackReply{}, memory.Invalid("used", "must name a record; retrieved and used are both empty")
	case len(r.Retrieved) > memory.MaxLimit || len(r.Used) > memory.MaxLimit:
		return FeedbackReply{}, memory.Invalid("retrieved", "names too many records; at most %d are allowed", memory.MaxLimit)
	case len(r.Note) > memory.MaxFactText || !utf8.ValidString(r.Note):
		return FeedbackReply{}, memory.Invalid("note", "must be UTF-8 of at most %d bytes", memory.MaxFactText)
	case len(r.Recall) > memory.MaxID:
		return FeedbackReply{}, memory.Invalid("recall", "is %d bytes long; at most %d are allowed", len(r.Recall), memory.MaxID)
	}
	for _, l := range []struct {
		field string
		ids   []string
	}{{"retrieved", r.Retrieved}, {"used", r.Used}} {
		for i, id := range l.ids {
			if err := memory.CheckID(fieldOf(l.field, i), id); err != nil {
				return FeedbackReply{}, err
			}
		}
	}
	if err := s.exists(ctx, bank); err != nil {
		return FeedbackReply{}, err
	}
	r.Note, r.WriteControl = s.redact(r.Note), memory.WriteControl{}
	out, err := s.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteFeedback, Op: op, Feedback: &r}, wait)
	return FeedbackReply{Op: out.Op, Write: out.Write}, err
}

// FeedbackReply answers a feedback.
type FeedbackReply struct {
	Op    string `json:"op"`
	Write uint64 `json:"write"`
}
