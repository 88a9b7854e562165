package memory

// Conservation accounts for every message event of a bank: Published is the sum of the eight others.
type Conservation struct {
	Published int `json:"published"`
	Forgotten int `json:"forgotten"`
	Dead      int `json:"dead"`
	Duplicate int `json:"duplicate"`
	Throttled int `json:"throttled"`
	Skipped   int `json:"skipped"`
	Committed int `json:"committed"`
	Empty     int `json:"empty"`
	Pending   int `json:"pending"`
}

// Sum adds up the eight.
func (c Conservation) Sum() int {
	return c.Forgotten + c.Dead + c.Duplicate + c.Throttled + c.Skipped + c.Committed + c.Empty + c.Pending
}
