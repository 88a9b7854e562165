package search

// The statements that name an index, or keep SQLite from one.
const (
	FindPeople  = findPeople
	CountStates = countStates
	ManyStates  = manyStates
)

// FindStates returns the statement that finds the states of a subject with so many of them.
func FindStates(states int, filter string) string { return findStates(states, filter) }
