package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// RetainSession is the session of a retained text that names none.
const RetainSession memory.SessionID = "retain"

// retainText publishes a text as a message whose id is the op, ends its window
// with a flush and waits for the window's results.
func (s *Service) retainText(ctx context.Context, bank memory.BankID, r memory.RetainRequest, op string, wait time.Duration) (memory.RetainReply, error) {
	session := r.Session
	if session == "" {
		session = RetainSession
	}
	if _, err := memory.ParseSessionID(string(session)); err != nil {
		return memory.RetainReply{}, err
	}
	m := memory.Message{ID: memory.MessageID(op), Content: r.Text}
	if strings.TrimSpace(r.Text) == "" {
		return memory.RetainReply{}, memory.Invalid("text", "must not be empty")
	}
	if r.Time != nil {
		if err := checkTime("time", *r.Time); err != nil {
			return memory.RetainReply{}, err
		}
		m.Time = memory.At(*r.Time)
	}
	if err := m.Validate(); err != nil {
		return memory.RetainReply{}, err
	}
	if s.conn == nil {
		return memory.RetainReply{}, fmt.Errorf("retain a text: no connection to the log: %w", memory.ErrUnavailable)
	}
	if end, err := s.windowOf(ctx, bank, m.ID); err != nil || end != nil {
		return retainedWindow(op, end, err)
	}
	if err := s.room(ctx, bank, m.ID, r.Text); err != nil {
		return memory.RetainReply{}, err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return memory.RetainReply{}, fmt.Errorf("encode the text of %s: %w", op, err)
	}
	seq, err := s.conn.PublishMessage(ctx, bank, session, body)
	if err != nil {
		return memory.RetainReply{}, &opError{op, err}
	}
	if _, err := s.conn.PublishFlush(ctx, bank, session, memory.Flush{Upto: seq}); err != nil {
		return memory.RetainReply{}, &opError{op, err}
	}
	var end *WindowResult
	done, err := pollUntil(ctx, wait, func(ctx context.Context) (bool, error) {
		var err error
		end, err = s.windowOf(ctx, bank, m.ID)
		return end != nil, err
	})
	if err != nil {
		return memory.RetainReply{}, &opError{op, err}
	}
	if !done {
		return memory.RetainReply{}, &opError{op, fmt.Errorf("the text %s is stored but what it says was not extracted within %s; repeating it with the same op is safe: %w",
			op, wait, memory.ErrDeadline)}
	}
	return retainedWindow(op, end, nil)
}

// windowOf gives the end of the window in which a message was new, nil while
// there is none.
func (s *Service) windowOf(ctx context.Context, bank memory.BankID, id memory.MessageID) (*WindowResult, error) {
	var end *WindowResult
	err := s.store.Read(ctx, bank, func(r Reader) error {
		var err error
		end, err = r.WindowOf(id)
		return err
	})
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	return end, err
}

func retainedWindow(op string, end *WindowResult, err error) (memory.RetainReply, error) {
	if err != nil {
		return memory.RetainReply{}, err
	}
	reply := memory.RetainReply{Op: op, Write: end.Write, Results: end.Results}
	if reply.Results == nil {
		reply.Results = []memory.WriteResult{}
	}
	if end.Outcome == memory.WindowDead {
		reply.Results = append(reply.Results, memory.WriteResult{Outcome: memory.OutcomeRefused, Reason: end.Reason})
	}
	return reply, nil
}

// nameSources gives facts retained with sources the messages' sequences, and
// the time of those where the caller gave none of his own. A message that is
// not in the bank refuses its fact.
func (s *Service) nameSources(ctx context.Context, bank memory.BankID, in []memory.FactInput, w *memory.Write, wait time.Duration) error {
	var ids []memory.MessageID
	for _, f := range in {
		ids = append(ids, f.Sources...)
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.sourcesNamed(ctx, bank, ids, wait)
	if err != nil {
		return err
	}
	facts := w.Facts[:0]
	for i, f := range w.Facts {
		unknown := ""
		for _, id := range in[i].Sources {
			src, ok := found[id]
			if !ok {
				unknown = string(id)
				break
			}
			if in[i].Said != nil {
				src.Said, src.Start = f.Said, f.Said
			}
			f.Sources = append(f.Sources, src)
			w.Upto = max(w.Upto, src.Seq)
		}
		if unknown != "" {
			w.Refused = append(w.Refused, memory.WriteResult{Key: f.Key, ID: string(f.ID), Outcome: memory.OutcomeRefused, Reason: "no message " + unknown + " in this bank"})
			continue
		}
		facts = append(facts, f)
	}
	w.Facts = facts
	return nil
}

// sourcesNamed finds messages by id. Where one is not there it waits until the
// store has applied what was published for the bank when it was asked: a source
// may have been published just before.
func (s *Service) sourcesNamed(ctx context.Context, bank memory.BankID, ids []memory.MessageID, wait time.Duration) (map[memory.MessageID]memory.Source, error) {
	found := map[memory.MessageID]memory.Source{}
	look := func() (bool, error) {
		err := s.store.Read(ctx, bank, func(r Reader) error {
			list, err := r.SourcesNamed(ids)
			for _, src := range list {
				found[src.Message] = src
			}
			return err
		})
		if errors.Is(err, memory.ErrNotFound) {
			err = nil
		}
		return !slices.ContainsFunc(ids, func(id memory.MessageID) bool { return found[id].Message == "" }), err
	}
	if all, err := look(); all || err != nil || s.conn == nil {
		return found, err
	}
	last, err := s.conn.LastMessage(ctx, bank)
	if err != nil {
		return nil, err
	}
	if _, err := s.fresh(ctx, last, 0, wait); err != nil {
		return nil, err
	}
	_, err = look()
	return found, err
}
