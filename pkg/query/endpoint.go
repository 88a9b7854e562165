package query

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
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
	if !q.Stream {
		return s.Reflect(ctx, bank, q)
	}
	return s.reflect(ctx, bank, q, func(d memory.Delta) error { return send(d) })
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
		{"reextract", "ReextractRequest", "ReextractReply", true, opened(s.Reextract)},
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
	free, ok := s.acquire(ctx, e)
	if !ok {
		return
	}
	s.metrics.working.Inc()
	go func() {
		defer s.metrics.working.Dec()
		defer free()
		s.answer(ctx, e, r)
	}()
}

// acquire waits for a slot, and for one of the answers' where reflect asks: what
// waits for a language model must not leave quick requests without a slot.
func (s *Service) acquire(ctx context.Context, e endpoint) (free func(), ok bool) {
	needs := []chan struct{}{s.slots}
	if e.name == "reflect" {
		needs = []chan struct{}{s.answers, s.slots}
	}
	held := 0
	free = func() {
		for _, c := range needs[:held] {
			<-c
		}
	}
	for _, c := range needs {
		select {
		case c <- struct{}{}:
			held++
		case <-ctx.Done():
			free()
			return nil, false
		}
	}
	if ctx.Err() != nil {
		free()
		return nil, false
	}
	return free, true
}

func (s *Service) answer(ctx context.Context, e endpoint, r micro.Request) {
	start := time.Now()
	ctx, span := s.begin(ctx, e, r)
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
		answered(span, bank, memory.Code(err), reply).End(err)
		s.refuse(ctx, e, r, bank, err, start)
		return
	}
	s.metrics.answered(e.name, 200, time.Since(start))
	answered(span, bank, 200, reply).End(nil)
	if err = s.reply(r, nil, body); err != nil {
		s.log.Warn().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Str("error", err.Error()).Msg("a reply could not be sent")
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
			s.log.Error().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Interface("error", p).Msg("a request panicked")
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
func (s *Service) refuse(ctx context.Context, e endpoint, r micro.Request, bank memory.BankID, err error, start time.Time) {
	fault := memory.FaultOf(err)
	fault.Error.Op = opOf(err)
	if fault.Error.Code == 500 {
		s.log.Error().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Str("request", e.name).Dur("took", time.Since(start)).
			Str("error", err.Error()).Msg("a request failed")
		fault.Error.Message = "internal error"
	}
	body, merr := json.Marshal(fault)
	if merr == nil {
		merr = s.reply(r, nats.Header{micro.ErrorHeader: {header(fault.Error.Message)}, micro.ErrorCodeHeader: {strconv.Itoa(fault.Error.Code)}}, body)
	}
	if merr != nil {
		s.log.Warn().Ctx(ctx).Str("stage", "query").Str("bank", string(bank)).Str("error", merr.Error()).Msg("an error reply could not be sent")
	}
}

// reply answers a request. Not by the request itself: its service looks at what
// an answer left there as soon as the handler returns, which is before (nats.go
// 1.55), so the counts of errors it shows are 0 and those of the metrics are right.
func (s *Service) reply(r micro.Request, header nats.Header, body []byte) error {
	return s.conn.NC.PublishMsg(&nats.Msg{Subject: r.Reply(), Header: header, Data: body})
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
