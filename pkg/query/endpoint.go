package query

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// handlers binds a method to each endpoint of the table in pkg/wire, in the order that `nats micro info` shows.
func (s *Service) handlers() []wire.Handler {
	return []wire.Handler{
		wire.Handle(wire.Recall, s.Recall),
		wire.HandleStream(wire.Reflect, s.reflectStream),
		wire.Handle(wire.Observe, s.writes.Observe),
		wire.Handle(wire.Consolidate, s.writes.Consolidate),
		wire.Handle(wire.Retain, s.writes.Retain),
		wire.Handle(wire.Forget, s.Forget),
		wire.Handle(wire.Feedback, s.writes.Feedback),
		wire.Handle(wire.Alias, s.writes.Alias),
		wire.Handle(wire.Edit, s.writes.Edit),
		wire.Handle(wire.Apply, s.writes.Apply),
		wire.Handle(wire.Undo, s.writes.Undo),
		wire.Handle(wire.Conflicts, s.Conflicts),
		wire.Handle(wire.Bank, s.writes.Bank),
		wire.Handle(wire.Get, s.Get),
		wire.Handle(wire.List, s.List),
		wire.Handle(wire.Tree, s.Tree),
		wire.Handle(wire.Entities, s.Entities),
		wire.Handle(wire.History, s.History),
		wire.Handle(wire.Changes, s.Changes),
		wire.Handle(wire.StatusOf, s.Status),
		wire.Handle(wire.Sessions, s.Sessions),
		wire.Handle(wire.Windows, s.Windows),
		wire.Handle(wire.DeadLetters, s.DeadLetters),
		wire.Handle(wire.SnapshotOf, s.Snapshot),
		wire.Handle(wire.Recalls, s.Recalls),
		wire.Handle(wire.Banks, s.Banks),
		wire.Handle(wire.Dead, s.Dead),
		wire.Handle(wire.Reextract, s.writes.Reextract),
		wire.Handle(wire.Verify, s.Verify),
		wire.Handle(wire.Erase, s.EraseBank),
	}
}

// addEndpoints registers every handler with the micro service. Their requests are worked on under ctx.
func (s *Service) addEndpoints(ctx context.Context, svc micro.Service) error {
	for _, h := range s.handlers() {
		subject := s.conn.Naming.Subject("*", h.Name, "")
		if h.Role == wire.Operator {
			subject = s.conn.Naming.AdminSubject(h.Name)
		}
		subject = strings.TrimSuffix(subject, ".")
		err := svc.AddEndpoint(h.Name, micro.HandlerFunc(func(r micro.Request) { s.handle(ctx, h, r) }),
			micro.WithEndpointSubject(subject),
			micro.WithEndpointMetadata(h.Metadata()))
		if err != nil {
			return fmt.Errorf("add the endpoint %s: %w", subject, err)
		}
	}
	return nil
}

// handle hands a request to a goroutine of its own, which waits for its bank's turn: the service reads each endpoint in
// one goroutine, which must not wait for anything.
func (s *Service) handle(ctx context.Context, h wire.Handler, r micro.Request) {
	// A broker does not check a reply subject against its sender's permissions. A reply under the prefix would be written
	// into a stream, one under $ into a bucket or to the broker itself: neither is sent.
	if r.Reply() == "" || strings.HasPrefix(r.Reply(), "$") || strings.HasPrefix(r.Reply(), strings.TrimSuffix(s.conn.Naming.AdminSubject(""), "admin.")) {
		return
	}
	start := time.Now()
	var bank memory.BankID
	var err error
	if h.Role != wire.Operator {
		bank, err = events.DecodeBank(strings.Split(r.Subject(), ".")[1])
	}
	var ticket *admission.Ticket
	if err == nil {
		ticket, err = s.gate.Admit(admission.Request{Bank: string(bank), Name: h.Name, Size: len(r.Data()), Answers: h.Name == wire.Reflect.Name})
	}
	if err != nil {
		s.metrics.answered(h.Name, memory.Code(err), time.Since(start))
		s.refuse(ctx, h, r, bank, err, start)
		return
	}
	s.metrics.working.Inc()
	go func() {
		defer s.metrics.working.Dec()
		defer ticket.End()
		if ctx, err := ticket.Start(ctx); err == nil { // else the service has stopped
			s.answer(ctx, h, r, bank)
		}
	}()
}

func (s *Service) answer(ctx context.Context, h wire.Handler, r micro.Request, bank memory.BankID) {
	start := time.Now()
	ctx, span := s.begin(ctx, h, r)
	reply, err := s.call(ctx, h, r, bank)
	var body []byte
	if err == nil {
		body, err = memory.Encode(reply)
	}
	if limit := s.conn.NC.MaxPayload(); err == nil && limit > 0 && int64(len(body)) > limit-replyMargin {
		err = replyTooLarge(h.Name, strconv.Itoa(len(body)), limit)
	}
	if err != nil {
		s.metrics.answered(h.Name, memory.Code(err), time.Since(start))
		answered(span, bank, memory.Code(err), reply).End(err)
		s.refuse(ctx, h, r, bank, err, start)
		return
	}
	s.metrics.answered(h.Name, 200, time.Since(start))
	answered(span, bank, 200, reply).End(nil)
	if err = s.reply(r, nil, body); err != nil {
		s.log.Warn().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Str("error", err.Error()).Msg("a reply could not be sent")
	}
}

func replyTooLarge(name, size string, limit int64) error {
	return &memory.FieldError{Message: fmt.Sprintf("the reply is %s bytes and the broker takes %d: %s", size, limit, narrower(name)), Meaning: memory.ErrTooLarge}
}

// narrower says how a request gets a smaller reply.
func narrower(name string) string {
	switch name {
	case "recall", "reflect":
		return "ask for fewer max_facts or max_tokens, or sources: false"
	case "list", "tree", "entities", "changes", "conflicts", "banks", "dead", "sessions", "windows", "dead_letters":
		return "ask for a smaller limit and page on"
	}
	return "ask for less"
}

// needsLog reports whether a request means nothing while the log is not the one that the store was made from: one that
// appends to it, and status, which compares the two.
func needsLog(d wire.Description) bool {
	return d.Writes() || d.Name == wire.Reextract.Name || d.Name == wire.StatusOf.Name
}

func (s *Service) call(ctx context.Context, h wire.Handler, r micro.Request, bank memory.BankID) (reply any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v", h.Name, p)
			s.log.Error().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Interface("error", p).Msg("a request panicked")
		}
	}()
	if s.sameLog() != nil && needsLog(h.Description) {
		return nil, fmt.Errorf("the log is not the one that the store was made from, and nothing is applied: restore the backup of the streams, or rebuild the store (/readyz says more): %w",
			memory.ErrUnavailable)
	}
	return h.Serve(ctx, bank, r.Data(), func(d wire.Delta) error {
		body, err := memory.Encode(d)
		if err == nil {
			err = s.conn.NC.Publish(r.Reply(), body)
		}
		return err
	})
}

// refuse replies with the error's code, in the header and the body.
func (s *Service) refuse(ctx context.Context, h wire.Handler, r micro.Request, bank memory.BankID, err error, start time.Time) {
	fault := wire.FaultOf(err)
	fault.Error.Op = write.OpOf(err)
	if fault.Error.Code == 500 {
		s.log.Error().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Str("request", h.Name).Dur("took", time.Since(start)).
			Str("error", err.Error()).Msg("a request failed")
		fault.Error.Message = "internal error"
	}
	body, merr := memory.Encode(fault)
	if merr == nil {
		merr = s.reply(r, nats.Header{micro.ErrorHeader: {header(fault.Error.Message)}, micro.ErrorCodeHeader: {strconv.Itoa(fault.Error.Code)}}, body)
	}
	if merr != nil {
		s.log.Warn().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Str("error", merr.Error()).Msg("an error reply could not be sent")
	}
}

// reply answers a request. It does not use micro.Request.Respond: the micro service reads what Respond leaves in the
// request as soon as the handler returns, which is before the reply (nats.go 1.55). So the error counts of `nats micro
// stats` are 0, and those of the metrics are right.
func (s *Service) reply(r micro.Request, header nats.Header, body []byte) error {
	return s.conn.NC.PublishMsg(&nats.Msg{Subject: r.Reply(), Header: header, Data: body})
}

// header replaces what a header line cannot hold by spaces.
func header(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if s == "" {
		return "error"
	}
	return s
}
