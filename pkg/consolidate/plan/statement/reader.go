package statement

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// cachedReadings is how many readings a Reader keeps, some 1.5 kB each.
const cachedReadings = 8192

// Reader reads texts and keeps the readings of the last 8,192. It is safe for concurrent use. A nil Reader reads every
// text anew.
type Reader struct{ readings *lru.Cache[string, Reading] }

// NewReader returns a Reader that has read nothing.
func NewReader() *Reader {
	readings, err := lru.New[string, Reading](cachedReadings)
	if err != nil {
		panic(err) // for a size below 1 alone
	}
	return &Reader{readings}
}

// Read is the function Read, or its earlier result for the same text and entities.
func (r *Reader) Read(s string, entities []memory.EntityID) Reading {
	if r == nil {
		return Read(s, entities)
	}
	key := []byte(s)
	for _, e := range entities {
		key = append(append(key, 0), e...)
	}
	reading, ok := r.readings.Get(string(key))
	if !ok {
		reading = Read(s, entities)
		r.readings.Add(string(key), reading)
	}
	return reading
}

// Purge drops all readings: forgotten text must not survive in memory.
func (r *Reader) Purge() {
	if r != nil {
		r.readings.Purge()
	}
}
