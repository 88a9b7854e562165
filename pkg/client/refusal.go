package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// refusals tells who waits that the broker does not allow what it needs. The
// broker says so beside the request, which would wait until its deadline.
type refusals struct {
	mu      sync.Mutex
	waiting map[*waiting]struct{}
	inbox   error // the replies themselves are refused
}

type waiting struct {
	subject string
	cancel  context.CancelCauseFunc
}

// notAllowed is what the broker refuses, with what to do about it.
func notAllowed(what, subject string) error {
	return fmt.Errorf("the broker does not allow these credentials to %s %s: those of a bot reach its own bank alone, mem.admin is for operators (`eunoe auth list` shows who may what): %w",
		what, subject, memory.ErrInvalid)
}

// handle is the connection's error handler.
func (r *refusals) handle(nc *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	text := err.Error()
	r.mu.Lock()
	defer r.mu.Unlock()
	prefix := nc.Opts.InboxPrefix
	if prefix == "" {
		prefix = strings.TrimSuffix(nats.InboxPrefix, ".")
	}
	if strings.Contains(text, `Subscription to "`+prefix+".") {
		r.inbox = fmt.Errorf("the broker does not allow these credentials to receive replies under %s: name the inbox prefix they have in EUNOE_INBOX, as _INBOX_alice: %w", prefix, memory.ErrInvalid)
	}
	for w := range r.waiting {
		switch {
		case r.inbox != nil:
			w.cancel(r.inbox)
		case strings.Contains(text, `Publish to "`+w.subject+`"`):
			w.cancel(notAllowed("publish to", w.subject))
		}
	}
}

// watch gives a context that ends when the broker refuses the subject, and
// what gives the reason in place of an error that came of it.
func (r *refusals) watch(ctx context.Context, subject string) (context.Context, func(error) error) {
	if r == nil {
		return ctx, func(err error) error { return err }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &waiting{subject: subject, cancel: cancel}
	r.mu.Lock()
	if r.inbox != nil {
		cancel(r.inbox)
	}
	r.waiting[w] = struct{}{}
	r.mu.Unlock()
	return ctx, func(err error) error {
		r.mu.Lock()
		delete(r.waiting, w)
		r.mu.Unlock()
		cause := context.Cause(ctx)
		cancel(nil)
		if err != nil && cause != nil && errors.Is(cause, memory.ErrInvalid) {
			return cause
		}
		return err
	}
}
