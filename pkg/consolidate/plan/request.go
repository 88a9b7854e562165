package plan

import (
	"cmp"
	"errors"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// edit makes a new version of a fact. Another text is a new fact that rests on the same messages, holds from the edit
// on and supersedes the old one; type, tags, pin and the same text written otherwise change the fact itself.
func (ws *workspace) edit(e memory.EditWrite) {
	f := ws.fact(e.ID)
	switch {
	case f == nil:
		ws.refuse(404, "id", "no fact %q", e.ID)
		return
	case e.Version != nil && *e.Version != f.Version:
		ws.refuse(409, "version", "the fact is at version %d", f.Version)
		return
	case !f.Live():
		ws.refuse(409, "id", "the fact no longer holds; edit %q instead", ws.heir(*f))
		return
	case e.Type != "" && !e.Type.Valid():
		ws.refuse(400, "type", "%.40q is no type", string(e.Type))
		return
	case e.Text != "" && memory.NormalText(e.Text) == "":
		ws.refuse(400, "text", "must not be empty")
		return
	}
	next := cloneFact(*f)
	if e.Type != "" {
		next.Type = e.Type
	}
	if e.Tags != nil {
		next.Tags = normalTags(*e.Tags)
	}
	if e.Pin != nil {
		next.Pinned = *e.Pin
	}
	ws.out.Outcome.Version = ws.write.Seq
	if e.Text != "" && memory.NewFactID(ws.write.Bank, e.Text, next.Kind) != next.ID {
		ws.rewrite(*f, next, e)
		return
	}
	if e.Text != "" {
		next.Text = e.Text
	}
	next.Ops = unite(next.Ops, []string{ws.write.Op}) // that write holds its tags
	ws.put(next)
	ws.out.Outcome.Results = []memory.WriteResult{{ID: string(next.ID), Outcome: memory.OutcomeUpdated}}
}

// rewrite merges the new wording as a fact of its own and ends the old one.
func (ws *workspace) rewrite(old, next memory.Fact, e memory.EditWrite) {
	next.Text, next.State, next.Vector, next.Model = e.Text, nil, e.Vector, e.Model
	next.Sources = slices.Clone(old.Sources)
	for i := range next.Sources {
		next.Sources[i].Said, next.Sources[i].Start = ws.write.Time, ws.write.Time
	}
	next.Said = ws.write.Time
	next = ws.normalize(next)
	next.Ops = unite(old.Ops, []string{ws.write.Op}) // that write holds its words
	result := ws.merge(next, old.ID)
	if after := ws.fact(old.ID); after != nil && after.Live() && result.ID != string(old.ID) {
		timeline.Close(after, &ws.write.Time, memory.FactID(result.ID))
		ws.put(*after)
	}
	result.Outcome = memory.OutcomeSuperseded
	ws.out.Outcome.Results = []memory.WriteResult{result}
}

// heir returns the fact that a superseded or merged one leads to.
func (ws *workspace) heir(f memory.Fact) memory.FactID {
	for range maxHops {
		to := f.Merged
		if to == "" {
			to = f.Superseded
		}
		next := ws.fact(to)
		if to == "" || next == nil {
			break
		}
		f = *next
	}
	return f.ID
}

// updateProfile sets what the update names of the bank's profile, and makes the bank if it does not exist.
func (ws *workspace) updateProfile(u memory.BankUpdate) {
	exists, err := ws.view.Made(ws.write.Upto)
	if ws.fail(err) {
		return
	}
	if u.Create && exists {
		ws.refuse(409, "create", "the bank exists")
		return
	}
	b := ws.bank
	b.ID = ws.write.Bank
	for _, f := range []struct{ to, from *string }{
		{&b.Name, u.Name}, {&b.Description, u.Description}, {&b.Background, u.Background}, {&b.Mission, u.Mission}, {&b.Instructions, u.Instructions}, {&b.Zone, u.Zone},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if u.Disposition != nil {
		if err := u.Disposition.Validate(); err != nil {
			var fe *memory.FieldError
			errors.As(err, &fe)
			ws.refuse(400, fe.Field, "%s", fe.Message)
			return
		}
		b.Disposition = *u.Disposition
	}
	if u.Windows != nil {
		b.Windows = u.Windows
	}
	if u.Thresholds != nil {
		b.Thresholds = u.Thresholds
	}
	if u.Quotas != nil {
		b.Quotas = u.Quotas
	}
	if u.KeepRecalls != nil {
		b.KeepRecalls = *u.KeepRecalls
	}
	if b.Created.IsZero() || ws.write.Time.Before(b.Created) {
		b.Created = ws.write.Time
	}
	if b.Disposition == (memory.Disposition{}) {
		b.Disposition = memory.DefaultDisposition()
	}
	b.Version = ws.write.Seq
	ws.out.Bank = &b
	ws.out.Outcome.Version = b.Version
	ws.announce(memory.ChangeBank, addedOrUpdated(!exists), string(b.ID))
}

// feedback counts what a recall returned and what of it was used, of records that are stored. It affects ranking and
// decay, never content.
func (ws *workspace) feedback(r memory.FeedbackRequest) {
	ids := ws.stored(unite(r.Retrieved, r.Used))
	if len(ids) == 0 {
		ws.refuse(404, "used", "none of the records is stored")
		return
	}
	for _, id := range ids {
		u := memory.Use{ID: id, At: ws.write.Time}
		if slices.Contains(r.Retrieved, id) {
			u.Retrieved = 1
		}
		if slices.Contains(r.Used, id) {
			u.Used = 1
			switch r.Outcome {
			case "success":
				u.Success = 1
			case "failure", "correction":
				u.Failure = 1
			}
		}
		ws.out.Uses = append(ws.out.Uses, u)
	}
	ws.announce(memory.ChangeUsage, memory.OutcomeUpdated, cmp.Or(r.Recall, ws.write.Op), ids...)
}

// stored returns those of some ids that name a fact, composite, observation or message of the bank, in their order.
func (ws *workspace) stored(ids []string) []string {
	there := map[string]bool{}
	facts, err := ws.view.Facts(typed[memory.FactID](ids))
	for _, f := range facts {
		there[string(f.ID)] = true
	}
	composites, cerr := ws.view.Composites(typed[memory.CompositeID](ids))
	for _, c := range composites {
		there[string(c.ID)] = true
	}
	observations, oerr := ws.view.Observations(typed[memory.ObservationID](ids))
	for _, o := range observations {
		there[string(o.ID)] = true
	}
	messages, merr := ws.view.MessagesByID(typed[memory.MessageID](ids))
	for _, m := range messages {
		there[string(m.ID)] = there[string(m.ID)] || !m.malformed()
	}
	if ws.fail(errors.Join(err, cerr, oerr, merr)) {
		return nil
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !there[id] })
}

// typed returns ids as those of one kind of record.
func typed[ID ~string](ids []string) []ID {
	out := make([]ID, len(ids))
	for i, id := range ids {
		out[i] = ID(id)
	}
	return out
}
