package consolidate

import (
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// readingsKept is how many readings one generation holds, some 1.5 kB each.
const readingsKept = 4096

// readings are those of the texts read last: a fact is compared with the same
// neighbours write after write. A reading depends on its text and entities
// alone and is never changed, so every plan of a process may use them.
type readings struct {
	mu         sync.Mutex
	young, old map[string]reading
}

var lately readings

// read is readAnew for a text that may have been read lately.
func read(text string, entities []memory.EntityID) reading {
	of := []byte(text)
	for _, e := range entities {
		of = append(append(of, 0), e...)
	}
	r, ok := lately.find(of)
	if !ok {
		r = readAnew(text, entities)
	}
	lately.put(of, r)
	return r
}

func (l *readings) find(of []byte) (reading, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.young[string(of)]; ok {
		return r, true
	}
	r, ok := l.old[string(of)]
	return r, ok
}

// put keeps a reading in the young generation; when that is full, the old one
// is let go of.
func (l *readings) put(of []byte, r reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.young == nil || len(l.young) >= readingsKept {
		l.young, l.old = map[string]reading{}, l.young
	}
	l.young[string(of)] = r
}

// clear lets go of all: what is forgotten is not to stay in memory either.
func (l *readings) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.young, l.old = nil, nil
}
