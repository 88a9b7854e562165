package query

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Edit makes a new version of a fact. Another text is a new fact that
// supersedes the old one.
func (s *Service) Edit(ctx context.Context, bank memory.BankID, r memory.EditRequest) (memory.EditReply, error) {
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return memory.EditReply{}, err
	}
	if err := checkEdit(&r); err != nil {
		return memory.EditReply{}, err
	}
	if out, err := s.store.Outcome(ctx, bank, op); err != nil || out != nil {
		return edited(r, out, err)
	}
	var now memory.Item
	err = s.store.Read(ctx, bank, func(rd Reader) error {
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
		return memory.EditReply{}, err
	}
	if r.Version != nil && *r.Version != now.Version {
		return memory.EditReply{}, &memory.FieldError{Field: "version", Message: fmt.Sprintf("is %d; the fact is at %d", *r.Version, now.Version), Meaning: memory.ErrConflict}
	}
	r.Text = strings.TrimSpace(s.redact(r.Text))
	w := memory.Write{Bank: bank, Kind: memory.WriteEdit, Op: op, Edit: &memory.EditWrite{EditRequest: r}}
	w.Edit.WriteControl = memory.WriteControl{}
	if s.embedder != nil && r.Text != "" && r.Text != now.Text {
		w.Edit.Vector, w.Edit.Model, w.Usage = s.embedEdit(ctx, r.Text)
	}
	out, err := s.write(ctx, w, wait)
	return edited(r, &out, err)
}

func checkEdit(r *memory.EditRequest) error {
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
	if len(*r.Tags) > memory.MaxTags {
		return memory.Invalid("tags", "has %d tags; at most %d are allowed", len(*r.Tags), memory.MaxTags)
	}
	if err := checkNames("tags", *r.Tags); err != nil {
		return err
	}
	tags := make([]string, len(*r.Tags))
	for i, t := range *r.Tags {
		tags[i] = strings.ToLower(strings.TrimSpace(t))
	}
	r.Tags = &tags
	return nil
}

func edited(r memory.EditRequest, out *memory.WriteOutcome, err error) (memory.EditReply, error) {
	if err != nil {
		return memory.EditReply{}, err
	}
	if out.Code != 0 {
		return memory.EditReply{}, refusal(*out)
	}
	reply := memory.EditReply{Op: out.Op, Write: out.Write, ID: string(r.ID), Version: out.Version}
	if len(out.Results) > 0 && out.Results[0].ID != "" {
		reply.ID = out.Results[0].ID
	}
	return reply, nil
}
