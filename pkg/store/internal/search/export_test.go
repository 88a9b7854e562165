package search

import "context"

// HeldStems is how many stems the vocabularies of a store hold.
func HeldStems(s *Store) int {
	s.vocabularies.mu.Lock()
	defer s.vocabularies.mu.Unlock()
	return s.vocabularies.stems
}

// DropGone does at once what a store does every few seconds.
func DropGone(ctx context.Context, s *Store) error { return s.dropGone(ctx) }

// The statements that name an index, or keep SQLite from one.
const (
	FindPeople  = findPeople
	CountStates = countStates
	ManyStates  = manyStates
)

// FindStates returns the statement that finds the states of a subject with so many of them.
func FindStates(states int, filter string) string { return findStates(states, filter) }

// FindSessions returns the statement that lists sessions.
func FindSessions(oldestFirst bool) string { return findSessions(oldestFirst) }
