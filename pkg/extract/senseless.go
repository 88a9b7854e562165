package extract

import (
	"errors"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// senselessTries is how many tries of a bank's windows may end with an answer of which nothing can be kept, within an
// hour. Each took two answers: the second was asked for with what was wrong with the first.
const senselessTries = 6

// senseless counts, by bank, the tries of an hour whose answers made no sense. It is kept in the process alone.
type senseless struct {
	mu    sync.Mutex
	hour  time.Time
	tries map[memory.BankID]int
}

// failed counts the failure of a try, and reports whether the bank has just reached its bound.
func (s *senseless) failed(bank memory.BankID, now time.Time, err error) bool {
	var answer *deadletter.OutputError
	if !errors.As(err, &answer) || answer.Output == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	s.tries[bank]++
	return s.tries[bank] == senselessTries
}

// over reports whether the model is not to be asked about a bank's windows within this hour.
func (s *senseless) over(bank memory.BankID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	return s.tries[bank] >= senselessTries
}

func (s *senseless) turn(now time.Time) {
	if hour := now.Truncate(time.Hour); s.tries == nil || !hour.Equal(s.hour) {
		s.hour, s.tries = hour, map[memory.BankID]int{}
	}
}
