package query

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// door answers one kind of request: a body in, a value to write as JSON out.
// send puts a value on the reply subject before the answer.
type door func(ctx context.Context, bank memory.BankID, body []byte, send func(any) error) (any, error)

// opened is a door that decodes its body strictly.
func opened[Q, A any](fn func(context.Context, memory.BankID, Q) (A, error)) door {
	return func(ctx context.Context, bank memory.BankID, body []byte, _ func(any) error) (any, error) {
		var q Q
		if err := memory.Decode(body, &q); err != nil {
			return nil, err
		}
		return fn(ctx, bank, q)
	}
}

// reflectDoor is Reflect, with its response in pieces first where the request
// asks for a stream.
func (s *Service) reflectDoor(ctx context.Context, bank memory.BankID, body []byte, send func(any) error) (any, error) {
	var q memory.ReflectRequest
	if err := memory.Decode(body, &q); err != nil {
		return nil, err
	}
	reply, err := s.Reflect(ctx, bank, q)
	if err != nil || !q.Stream {
		return reply, err
	}
	for piece := range strings.SplitAfterSeq(reply.Response, "\n") {
		if err := send(map[string]string{"delta": piece}); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// endpoint is a door with its name on the wire and what it is for.
type endpoint struct {
	name, request, reply string // schemas by name
	admin                bool
	door                 door
}

// endpoints lists every door, in the order `nats micro info` shows.
func (s *Service) endpoints() []endpoint {
	return []endpoint{
		{"recall", "RecallRequest", "RecallReply", false, opened(s.Recall)},
		{"reflect", "ReflectRequest", "ReflectReply", false, s.reflectDoor},
		{"observe", "ObserveRequest", "ObserveReply", false, opened(s.Observe)},
		{"consolidate", "ConsolidateRequest", "ConsolidateReply", false, opened(s.Consolidate)},
		{"retain", "RetainRequest", "RetainReply", false, opened(s.Retain)},
		{"forget", "ForgetRequest", "ForgetReply", false, opened(s.Forget)},
		{"feedback", "FeedbackRequest", "FeedbackReply", false, opened(s.Feedback)},
		{"edit", "EditRequest", "EditReply", false, opened(s.Edit)},
		{"conflicts", "ConflictRequest", "ConflictReply", false, opened(s.Conflicts)},
		{"bank", "BankUpdate", "Bank", false, opened(s.Bank)},
		{"get", "GetRequest", "Item", false, opened(s.Get)},
		{"list", "ListRequest", "ItemPage", false, opened(s.List)},
		{"tree", "TreeRequest", "TreePage", false, opened(s.Tree)},
		{"entities", "EntitiesRequest", "EntityPage", false, opened(s.Entities)},
		{"history", "HistoryRequest", "HistoryReply", false, opened(s.History)},
		{"changes", "ChangesRequest", "ChangesReply", false, opened(s.Changes)},
		{"status", "StatusRequest", "Status", false, opened(s.Status)},
		{"banks", "BanksRequest", "BankPage", true, opened(s.Banks)},
		{"dead", "DeadRequest", "DeadReply", true, opened(s.Dead)},
		{"verify", "VerifyRequest", "Verification", true, opened(s.Verify)},
		{"erase", "EraseRequest", "Receipt", true, opened(s.EraseBank)},
	}
}

func (s *Service) addEndpoints(ctx context.Context, svc micro.Service) error {
	for _, e := range s.endpoints() {
		subject := s.conn.Naming.Subject("*", e.name, "")
		if e.admin {
			subject = s.conn.Naming.AdminSubject(e.name)
		}
		subject = strings.TrimSuffix(subject, ".")
		err := svc.AddEndpoint(e.name, micro.HandlerFunc(func(r micro.Request) { s.take(ctx, e, r) }),
			micro.WithEndpointSubject(subject),
			micro.WithEndpointMetadata(map[string]string{"request": e.request, "reply": e.reply, "schema": "eunoe/" + e.request}))
		if err != nil {
			return fmt.Errorf("add the endpoint %s: %w", subject, err)
		}
	}
	return nil
}

// take hands a request to a goroutine of its own, once a slot is free: the
// service has one reader per endpoint, which must not wait for an answer.
func (s *Service) take(ctx context.Context, e endpoint, r micro.Request) {
	// A broker does not check a reply subject against its sender's rights. An
	// answer under the prefix would write into a stream, one under $ into a
	// bucket or the broker's own doors: neither is given.
	if r.Reply() == "" || strings.HasPrefix(r.Reply(), "$") || strings.HasPrefix(r.Reply(), strings.TrimSuffix(s.conn.Naming.AdminSubject(""), "admin.")) {
		return
	}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	if ctx.Err() != nil {
		<-s.slots
		return
	}
	s.metrics.working.Inc()
	go func() {
		defer s.metrics.working.Dec()
		defer func() { <-s.slots }()
		s.answer(ctx, e, r)
	}()
}

func (s *Service) answer(ctx context.Context, e endpoint, r micro.Request) {
	start := time.Now()
	bank, reply, err := s.call(ctx, e, r)
	var body []byte
	if err == nil {
		body, err = json.Marshal(reply)
	}
	if limit := s.conn.NC.MaxPayload(); err == nil && limit > 0 && int64(len(body)) > limit-1024 {
		err = &memory.FieldError{Message: fmt.Sprintf("the reply is %d bytes and the broker takes %d: %s", len(body), limit, narrower(e.name)), Meaning: memory.ErrTooLarge}
	}
	if err != nil {
		s.metrics.answered(e.name, memory.Code(err), time.Since(start))
		s.refuse(e, r, bank, err, start)
		return
	}
	s.metrics.answered(e.name, 200, time.Since(start))
	err = r.Respond(body)
	if err != nil {
		s.log.Warn().Str("stage", "query").Str("bank", string(bank)).Str("error", err.Error()).Msg("a reply could not be sent")
	}
}

// narrower says what to ask for less of.
func narrower(name string) string {
	switch name {
	case "recall", "reflect":
		return "ask for fewer max_facts or max_tokens, or sources: false"
	case "list", "tree", "entities", "changes", "conflicts", "banks", "dead":
		return "ask for a smaller limit and page on"
	}
	return "ask for less"
}

func (s *Service) call(ctx context.Context, e endpoint, r micro.Request) (bank memory.BankID, reply any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v", e.name, p)
			s.log.Error().Str("stage", "query").Str("bank", string(bank)).Interface("error", p).Msg("a request panicked")
		}
	}()
	if !e.admin {
		tokens := strings.Split(r.Subject(), ".")
		if bank, err = events.DecodeBank(tokens[1]); err != nil {
			return "", nil, err
		}
	}
	reply, err = e.door(ctx, bank, r.Data(), func(v any) error {
		body, err := json.Marshal(v)
		if err == nil {
			err = s.conn.NC.Publish(r.Reply(), body)
		}
		return err
	})
	return bank, reply, err
}

// refuse answers with the error's code, in the header and the body.
func (s *Service) refuse(e endpoint, r micro.Request, bank memory.BankID, err error, start time.Time) {
	fault := memory.FaultOf(err)
	fault.Error.Op = opOf(err)
	if fault.Error.Code == 500 {
		s.log.Error().Str("stage", "query").Str("bank", string(bank)).Str("request", e.name).Dur("took", time.Since(start)).
			Str("error", err.Error()).Msg("a request failed")
		fault.Error.Message = "internal error"
	}
	body, merr := json.Marshal(fault)
	if merr == nil {
		merr = r.Error(strconv.Itoa(fault.Error.Code), header(fault.Error.Message), body)
	}
	if merr != nil {
		s.log.Warn().Str("stage", "query").Str("bank", string(bank)).Str("error", merr.Error()).Msg("an error reply could not be sent")
	}
}

// header makes a message fit for a header line.
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
