package write_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
)

// TestABankWritesLittleAhead fills the places of one bank: another write of it is told when to come again, and comes in when
// a place is free, while other banks find theirs.
func TestABankWritesLittleAhead(t *testing.T) {
	t.Parallel()
	var a write.Ahead
	loud := memory.Write{Bank: "loud"}
	large := memory.Write{Bank: "large", Facts: make([]memory.Fact, 1000)}
	var leave []func()
	enter := func(w memory.Write, wait time.Duration) error {
		done, err := a.Enter(t.Context(), w, wait)
		if err == nil {
			leave = append(leave, done)
		}
		return err
	}
	for range write.AheadOfBank {
		if err := enter(loud, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	var field *memory.FieldError
	if err := enter(loud, time.Millisecond); !errors.As(err, &field) || memory.Code(err) != 429 || field.RetryAfter <= 0 {
		t.Errorf("one more: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Enter(ended, loud, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("one whose caller is gone: %v", err)
	}
	if err := enter(memory.Write{Bank: "quiet"}, time.Millisecond); err != nil {
		t.Errorf("another bank: %v", err)
	}
	if err := enter(large, time.Millisecond); err != nil {
		t.Errorf("a write of many facts, alone: %v", err)
	}
	if err := enter(large, time.Millisecond); memory.Code(err) != 429 {
		t.Errorf("two writes of many facts: %v", err)
	}
	next := make(chan error, 1)
	go func() {
		done, err := a.Enter(t.Context(), loud, time.Minute)
		if err == nil {
			done()
		}
		next <- err
	}()
	leave[0]()
	if err := <-next; err != nil {
		t.Errorf("after one was applied: %v", err)
	}
	for _, done := range leave[1:] {
		done()
	}
	if n := a.Banks(); n != 0 {
		t.Errorf("%d banks are kept that write nothing", n)
	}
}
