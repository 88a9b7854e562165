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

// RetainSession is the session of a retained text that names no session.
const RetainSession memory.SessionID = "retain"

// retainText publishes a text as a message whose id is the op, flushes its window and waits for the window's results.
func (a *Appender) retainText(ctx context.Context, bank memory.BankID, r wire.RetainRequest, op string, wait time.Duration) (wire.RetainReply, error) {
	session := r.Session
	if session == "" {
		session = RetainSession
	}
	if _, err := memory.ParseSessionID(string(session)); err != nil {
		return wire.RetainReply{}, err
	}
	m := memory.Message{ID: memory.MessageID(op), Speaker: r.Speaker, Content: r.Text}
	if strings.TrimSpace(r.Text) == "" {
		return wire.RetainReply{}, memory.Invalid("text", "must not be empty")
	}
	if r.Time != nil {
		if err := request.Time("time", *r.Time); err != nil {
			return wire.RetainReply{}, err
		}
		m.Time = memory.At(*r.Time)
	}
	if err := m.Validate(); err != nil {
		return wire.RetainReply{}, err
	}
	if a.deps.Conn == nil {
		return wire.RetainReply{}, fmt.Errorf("retain a text: no connection to the log: %w", memory.ErrUnavailable)
	}
	if end, err := a.windowOf(ctx, bank, m.ID); err != nil || end != nil {
		return retainedWindow(op, end, err)
	}
	if err := a.checkQuotas(ctx, bank, m.ID, r.Text); err != nil {
		return wire.RetainReply{}, err
	}
	body, err := memory.Encode(m)
	if err != nil {
		return wire.RetainReply{}, fmt.Errorf("encode the text of %s: %w", op, err)
	}
	seq, err := a.deps.Conn.PublishIdentified(ctx, bank, session, body)
	if err != nil {
		return wire.RetainReply{}, &opError{op, err}
	}
	if _, err := a.deps.Conn.PublishFlush(ctx, bank, session, memory.Flush{Upto: seq}); err != nil {
		return wire.RetainReply{}, &opError{op, err}
	}
	end, err := request.Await(ctx, wait, func(ctx context.Context) (*WindowResult, error) { return a.windowOf(ctx, bank, m.ID) })
	if err != nil {
		return wire.RetainReply{}, &opError{op, err}
	}
	if end == nil {
		return wire.RetainReply{}, &opError{op, fmt.Errorf("the text %s is stored but what it says was not extracted within %s; repeating it with the same op is safe: %w",
			op, wait, memory.ErrDeadline)}
	}
	return retainedWindow(op, end, nil)
}

// windowOf returns the end of the window in which a message was new, nil while there is none.
func (a *Appender) windowOf(ctx context.Context, bank memory.BankID, id memory.MessageID) (*WindowResult, error) {
	var end *WindowResult
	err := a.deps.Store.Read(ctx, bank, func(r Reader) error {
		var err error
		end, err = r.WindowOf(id)
		return err
	})
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	return end, err
}

func retainedWindow(op string, end *WindowResult, err error) (wire.RetainReply, error) {
	if err != nil {
		return wire.RetainReply{}, err
	}
	reply := wire.RetainReply{Op: op, Write: end.Write, Results: end.Results}
	if reply.Results == nil {
		reply.Results = []memory.WriteResult{}
	}
	if end.Outcome == memory.WindowDead {
		reply.Results = append(reply.Results, memory.WriteResult{Outcome: memory.OutcomeRefused, Reason: end.Reason})
	}
	return reply, nil
}

// nameSources fills in the sequences of the messages that retained facts name as sources, and their times unless the
// caller gave a time. A fact that names a message which is not in the bank is refused.
func (a *Appender) nameSources(ctx context.Context, bank memory.BankID, in []memory.FactInput, w *memory.Write, wait time.Duration) error {
	var ids []memory.MessageID
	for _, f := range in {
		ids = append(ids, f.Sources...)
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := a.sourcesNamed(ctx, bank, ids, wait)
	if err != nil {
		return err
	}
	facts := w.Facts[:0]
	for i, f := range w.Facts {
		missing := ""
		for _, id := range in[i].Sources {
			src, ok := found[id]
			if !ok {
				missing = string(id)
				break
			}
			if in[i].Said != nil {
				src.Said, src.Start = f.Said, f.Said
			}
			f.Sources = append(f.Sources, src)
			w.Upto = max(w.Upto, src.Seq)
		}
		if missing != "" {
			w.Refused = append(w.Refused, memory.WriteResult{Key: f.Key, ID: string(f.ID), Outcome: memory.OutcomeRefused, Reason: "no message " + missing + " in this bank"})
			continue
		}
		facts = append(facts, f)
	}
	w.Facts = facts
	return nil
}

// sourcesNamed finds messages by id. If one is missing, it waits until the store has applied what was published for the
// bank by then: a source may have been published just before.
func (a *Appender) sourcesNamed(ctx context.Context, bank memory.BankID, ids []memory.MessageID, wait time.Duration) (map[memory.MessageID]memory.Source, error) {
	found := map[memory.MessageID]memory.Source{}
	look := func() (bool, error) {
		err := a.deps.Store.Read(ctx, bank, func(r Reader) error {
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
	if all, err := look(); all || err != nil || a.deps.Conn == nil {
		return found, err
	}
	last, err := a.deps.Conn.LastMessage(ctx, bank)
	if err != nil {
		return nil, err
	}
	if _, err := request.Applied(ctx, a.deps.Store, bank, last, 0, wait); err != nil {
		return nil, err
	}
	_, err = look()
	return found, err
}
