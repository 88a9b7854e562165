package write

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Edit makes a new version of a fact. With another text it makes a new fact that supersedes the old one.
func (a *Appender) Edit(ctx context.Context, bank memory.BankID, r wire.EditRequest) (wire.EditReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.EditReply{}, err
	}
	if err := checkEdit(&r); err != nil {
		return wire.EditReply{}, err
	}
	if out, err := a.before(ctx, bank, op); err != nil || out != nil {
		return edited(r, out, err)
	}
	var now memory.Item
	err = a.deps.Store.Read(ctx, bank, func(rd Reader) error {
		list, err := rd.FactItems([]memory.FactID{r.ID})
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("fact %q: %w", string(r.ID), memory.ErrNotFound)
		}
		if err == nil {
			now = list[0]
		}
		return err
	})
	if err != nil {
		return wire.EditReply{}, err
	}
	if r.Version != nil && *r.Version != now.Version {
		return wire.EditReply{}, &memory.FieldError{Field: "version", Message: fmt.Sprintf("is %d; the fact is at %d", *r.Version, now.Version), Meaning: memory.ErrConflict}
	}
	r.Text = strings.TrimSpace(a.deps.Redact(r.Text))
	w := memory.Write{Bank: bank, Kind: memory.WriteEdit, Op: op, Edit: &memory.EditWrite{EditRequest: r}}
	w.Edit.WriteControl = wire.WriteControl{}
	if a.deps.Embedder != nil && r.Text != "" && r.Text != now.Text {
		w.Edit.Vector, w.Edit.Model, w.Usage = a.embedEdit(ctx, r.Text)
	}
	out, err := a.write(ctx, w, wait)
	return edited(r, &out, err)
}

func checkEdit(r *wire.EditRequest) error {
	if err := memory.CheckID("id", string(r.ID)); err != nil {
		return err
	}
	switch {
	case r.Text == "" && r.Type == "" && r.Tags == nil && r.Pin == nil:
		return memory.Invalid("text", "must change something: give text, type, tags or pin")
	case len(r.Text) > memory.MaxFactText:
		return memory.Invalid("text", "is %d bytes long; at most %d are allowed", len(r.Text), memory.MaxFactText)
	case r.Text != "" && strings.TrimSpace(r.Text) == "" || !utf8.ValidString(r.Text):
		return memory.Invalid("text", "must be UTF-8 and not only white space")
	case r.Type != "" && !r.Type.Valid():
		return memory.Invalid("type", "is not the form of a type; expected 1 to 64 of a-z, 0-9 and _")
	}
	if r.Tags == nil {
		return nil
	}
	tags, err := request.Tags("tags", *r.Tags)
	r.Tags = &tags
	return err
}

func edited(r wire.EditRequest, out *memory.WriteOutcome, err error) (wire.EditReply, error) {
	if err != nil {
		return wire.EditReply{}, err
	}
	if out.Code != 0 {
		return wire.EditReply{}, Refusal(*out)
	}
	reply := wire.EditReply{Op: out.Op, Write: out.Write, ID: string(r.ID), Version: out.Version}
	if len(out.Results) > 0 && out.Results[0].ID != "" {
		reply.ID = out.Results[0].ID
	}
	return reply, nil
}

// DecideConflict resolves a conflict by its winner, or dismisses it.
func (a *Appender) DecideConflict(ctx context.Context, bank memory.BankID, r wire.ConflictRequest) (wire.ConflictReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.ConflictReply{}, err
	}
	if err := memory.CheckID("id", string(r.ID)); err != nil {
		return wire.ConflictReply{}, err
	}
	switch {
	case r.State != "" || r.Limit != 0 || r.Cursor != "":
		return wire.ConflictReply{}, memory.Invalid("state", "lists conflicts; it does not go with id")
	case (r.Winner == "") != r.Dismiss:
		return wire.ConflictReply{}, memory.Invalid("winner", "give either the winner or dismiss: true")
	}
	if r.Winner != "" {
		if err := memory.CheckID("winner", string(r.Winner)); err != nil {
			return wire.ConflictReply{}, err
		}
	}
	if err := a.exists(ctx, bank); err != nil {
		return wire.ConflictReply{}, err
	}
	r.WriteControl = wire.WriteControl{}
	out, err := a.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteConflict, Op: op, Conflict: &r}, wait)
	if err != nil {
		return wire.ConflictReply{}, err
	}
	reply := wire.ConflictReply{Op: out.Op, Write: out.Write, ID: r.ID, Version: out.Version, State: memory.ConflictResolved, Items: []wire.ConflictItem{}}
	if r.Dismiss {
		reply.State = memory.ConflictDismissed
	}
	return reply, nil
}

// Feedback records what a recall was good for: it changes ranking and decay.
func (a *Appender) Feedback(ctx context.Context, bank memory.BankID, r wire.FeedbackRequest) (wire.FeedbackReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.FeedbackReply{}, err
	}
	switch {
	case r.Outcome != "" && !slices.Contains([]string{"success", "failure", "correction", "unknown"}, r.Outcome):
		return wire.FeedbackReply{}, memory.Invalid("outcome", "is not an outcome; expected success, failure, correction or unknown")
	case len(r.Retrieved)+len(r.Used) == 0:
		return wire.FeedbackReply{}, memory.Invalid("used", "must name a record; retrieved and used are both empty")
	case len(r.Retrieved) > memory.MaxLimit || len(r.Used) > memory.MaxLimit:
		return wire.FeedbackReply{}, memory.Invalid("retrieved", "names too many records; at most %d are allowed", memory.MaxLimit)
	case len(r.Note) > memory.MaxFactText || !utf8.ValidString(r.Note):
		return wire.FeedbackReply{}, memory.Invalid("note", "must be UTF-8 of at most %d bytes", memory.MaxFactText)
	case len(r.Recall) > memory.MaxID:
		return wire.FeedbackReply{}, memory.Invalid("recall", "is %d bytes long; at most %d are allowed", len(r.Recall), memory.MaxID)
	}
	for _, l := range []struct {
		field string
		ids   []string
	}{{"retrieved", r.Retrieved}, {"used", r.Used}} {
		for i, id := range l.ids {
			if err := memory.CheckID(request.Element(l.field, i), id); err != nil {
				return wire.FeedbackReply{}, err
			}
		}
	}
	if out, err := a.before(ctx, bank, op); err != nil {
		return wire.FeedbackReply{}, err
	} else if out == nil { // a repeat is not refused for what was forgotten since
		if err := a.recordsExist(ctx, bank, r); err != nil {
			return wire.FeedbackReply{}, err
		}
	}
	r.Note, r.WriteControl = "", wire.WriteControl{} // nothing reads a note, and no forget could find its words
	out, err := a.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteFeedback, Op: op, Feedback: &r}, wait)
	return wire.FeedbackReply{Op: out.Op, Write: out.Write}, err
}

// recordsExist checks that every record that feedback names is stored.
func (a *Appender) recordsExist(ctx context.Context, bank memory.BankID, r wire.FeedbackRequest) error {
	return a.deps.Store.Read(ctx, bank, func(rd Reader) error {
		for _, l := range []struct {
			field string
			ids   []string
		}{{"retrieved", r.Retrieved}, {"used", r.Used}} {
			for i, id := range l.ids {
				item, err := rd.Item(id)
				if err != nil {
					return err
				}
				if item == nil {
					return &memory.FieldError{Field: request.Element(l.field, i), Message: fmt.Sprintf("no record %q", id), Meaning: memory.ErrNotFound}
				}
			}
		}
		return nil
	})
}
