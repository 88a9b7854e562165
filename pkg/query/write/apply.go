package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Apply makes several changes at once, all of them or none, and says what became of each. A dry run says what would, and
// changes nothing. Changes that would be refused are refused before anything is appended.
func (a *Appender) Apply(ctx context.Context, bank memory.BankID, r wire.ApplyRequest) (wire.ApplyReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.ApplyReply{}, err
	}
	if len(r.Changes) == 0 || len(r.Changes) > wire.MaxChanges {
		return wire.ApplyReply{}, memory.Invalid("changes", "holds %d changes; expected 1 to %d", len(r.Changes), wire.MaxChanges)
	}
	for i, c := range r.Changes {
		if err := checkCuration(request.Element("changes", i), c); err != nil {
			return wire.ApplyReply{}, err
		}
	}
	if !r.DryRun {
		if out, err := a.before(ctx, bank, op); err != nil || out != nil {
			return a.applied(ctx, bank, r, out, err)
		}
	}
	w, err := a.applyWrite(ctx, bank, r, op, wait)
	if err != nil {
		return wire.ApplyReply{}, err
	}
	would, err := a.deps.Preview(ctx, w)
	if err != nil {
		return wire.ApplyReply{}, err
	}
	if would.Outcome.Code != 0 {
		return wire.ApplyReply{}, Refusal(would.Outcome)
	}
	if r.DryRun {
		return a.applied(ctx, bank, r, &would.Outcome, nil)
	}
	out, err := a.write(ctx, w, wait)
	return a.applied(ctx, bank, r, &out, err)
}

// applyWrite returns the write of an apply: its facts, with vectors, stand beside its changes.
func (a *Appender) applyWrite(ctx context.Context, bank memory.BankID, r wire.ApplyRequest, op string, wait time.Duration) (memory.Write, error) {
	w := memory.Write{Bank: bank, Kind: memory.WriteApply, Op: op, Time: a.deps.Now()}
	kinds, err := a.checkVersions(ctx, bank, r.Changes)
	if err != nil {
		return w, err
	}
	var inputs []memory.FactInput
	for i, c := range r.Changes {
		at := request.Element("changes", i)
		change := memory.CurationWrite{Curation: c}
		add := func(in memory.FactInput, at string) error {
			f, err := a.retainedFact(bank, in, at, w.Time)
			if err != nil {
				return err
			}
			change.Facts = append(change.Facts, len(w.Facts))
			w.Facts, inputs = append(w.Facts, f), append(inputs, in)
			return nil
		}
		switch c.Op {
		case memory.CurateRemember:
			in := c.FactInput
			in.Text = c.Text
			err = add(in, at)
		case memory.CurateEdit:
			if c.Text != "" {
				err = add(memory.FactInput{Text: c.Text, Kind: kinds[c.ID]}, at)
			}
		case memory.CurateSplit:
			for k, p := range c.Parts {
				if len(p.Sources) > 0 || p.Said != nil || p.Kind != "" || p.Key != "" {
					return w, memory.Invalid(request.Element(at+".parts", k), "has the sources, the time and the kind of the fact that is split, and no key")
				}
				p.Kind = kinds[c.ID]
				if err = add(p, request.Element(at+".parts", k)); err != nil {
					break
				}
			}
		}
		if err != nil {
			return w, err
		}
		tags := c.Tags
		change.Text, change.FactInput, change.Parts = "", memory.FactInput{Type: c.Type}, nil // the facts hold the words
		if c.Op == memory.CurateEdit && tags != nil {
			change.Tags, _ = request.Tags("tags", tags) //nolint:errcheck // they were checked
		}
		w.Apply = append(w.Apply, change)
	}
	w.Usage = a.embedFacts(ctx, w.Facts)
	if err := a.nameSources(ctx, bank, inputs, &w, wait); err != nil {
		return w, err
	}
	if len(w.Refused) > 0 {
		return w, memory.Invalid("changes", "name a source that is not there: %s", w.Refused[0].Reason)
	}
	return w, nil
}

// checkVersions compares the versions that changes name with those of the records, and returns the kinds of the facts
// that they name. The plan compares once more, for what changes until then.
func (a *Appender) checkVersions(ctx context.Context, bank memory.BankID, changes []memory.Curation) (map[string]memory.Kind, error) {
	kinds := map[string]memory.Kind{}
	var ids []memory.FactID
	for _, c := range changes {
		if c.ID != "" && !strings.HasPrefix(c.ID, "$") {
			ids = append(ids, memory.FactID(c.ID))
		}
	}
	versions := map[string]uint64{}
	err := a.deps.Store.Read(ctx, bank, func(rd Reader) error {
		items, err := rd.FactItems(ids)
		for _, i := range items {
			kinds[i.ID], versions[i.ID] = i.Kind, i.Version
		}
		return err
	})
	if errors.Is(err, memory.ErrNotFound) && slices.ContainsFunc(changes, func(c memory.Curation) bool { return c.Op == memory.CurateRemember }) {
		err = nil // what is remembered makes the bank
	}
	for i, c := range changes {
		if v, known := versions[c.ID]; err == nil && known && c.Version != nil && *c.Version != v {
			return nil, &memory.FieldError{Field: request.Element("changes", i) + ".version", Message: fmt.Sprintf("is %d; the fact is at %d", *c.Version, v), Meaning: memory.ErrConflict}
		}
	}
	return kinds, err
}

// applied is the reply to an apply by its outcome.
func (a *Appender) applied(ctx context.Context, bank memory.BankID, r wire.ApplyRequest, out *memory.WriteOutcome, err error) (wire.ApplyReply, error) {
	if err != nil {
		return wire.ApplyReply{}, err
	}
	if out.Code != 0 {
		return wire.ApplyReply{}, Refusal(*out)
	}
	reply := wire.ApplyReply{Op: out.Op, Write: out.Write, DryRun: r.DryRun, Results: []wire.ApplyResult{}}
	if r.DryRun {
		reply.Op, reply.Write = "", 0
	}
	if err := a.tellCollisions(ctx, bank, out.Results); err != nil {
		return reply, err
	}
	for i, result := range out.Results {
		x := wire.ApplyResult{WriteResult: result}
		if len(out.Results) == len(r.Changes) { // else a forget took some of them
			x.Change, x.As = r.Changes[i].Op, r.Changes[i].As
		}
		reply.Results = append(reply.Results, x)
	}
	return reply, nil
}

// Undo takes an apply back, all of it or nothing; a dry run says what would become of its facts. What would be refused is
// refused before anything is appended.
func (a *Appender) Undo(ctx context.Context, bank memory.BankID, r wire.UndoRequest) (wire.UndoReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.UndoReply{}, err
	}
	if err := memory.CheckID("apply", r.Apply); err != nil {
		return wire.UndoReply{}, err
	}
	out, err := a.before(ctx, bank, op)
	if err == nil && (out == nil || r.DryRun) {
		if err = a.exists(ctx, bank); err == nil {
			out, err = a.undo(ctx, memory.Write{Bank: bank, Kind: memory.WriteUndo, Op: op, Time: a.deps.Now(), Undo: r.Apply}, r.DryRun, wait)
		}
	}
	switch {
	case err != nil:
		return wire.UndoReply{}, err
	case out.Code != 0:
		return wire.UndoReply{}, Refusal(*out)
	}
	reply := wire.UndoReply{Op: out.Op, Write: out.Write, DryRun: r.DryRun, Results: append([]memory.WriteResult{}, out.Results...)}
	if r.DryRun {
		reply.Op, reply.Write = "", 0
	}
	return reply, nil
}

func (a *Appender) undo(ctx context.Context, w memory.Write, dry bool, wait time.Duration) (*memory.WriteOutcome, error) {
	would, err := a.deps.Preview(ctx, w)
	if err != nil || dry || would.Outcome.Code != 0 {
		return &would.Outcome, err
	}
	out, err := a.write(ctx, w, wait)
	return &out, err
}

// tellCollisions fills in what the facts say that results collide with, and the changes that would settle it.
func (a *Appender) tellCollisions(ctx context.Context, bank memory.BankID, results []memory.WriteResult) error {
	var ids []memory.FactID
	for _, r := range results {
		for _, c := range r.Collides {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	texts := map[memory.FactID]string{}
	err := a.deps.Store.Read(ctx, bank, func(rd Reader) error {
		items, err := rd.FactItems(ids)
		for _, i := range items {
			texts[memory.FactID(i.ID)] = i.Text
		}
		return err
	})
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return err
	}
	for i := range results {
		r := &results[i]
		r.Collides = slices.DeleteFunc(slices.Clone(r.Collides), func(c memory.Collision) bool { return texts[c.ID] == "" })
		for k := range r.Collides {
			c := &r.Collides[k]
			c.Text, c.Settle = texts[c.ID], Settling(r.ID, *c)
		}
	}
	return nil
}

// Settling returns changes for apply, one of which would settle a collision.
func Settling(id string, c memory.Collision) []memory.Curation {
	if c.Conflict != "" {
		return []memory.Curation{{Op: memory.CurateResolve, ID: string(c.Conflict), Winner: id}, {Op: memory.CurateResolve, ID: string(c.Conflict), Winner: string(c.ID)},
			{Op: memory.CurateDismiss, ID: string(c.Conflict)}}
	}
	return []memory.Curation{{Op: memory.CurateSupersede, ID: string(c.ID), By: id}, {Op: memory.CurateMerge, IDs: []string{id, string(c.ID)}, Into: id},
		{Op: memory.CurateConflict, IDs: []string{id, string(c.ID)}}}
}
