package search

import (
	"slices"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

const (
	// mostHeldBytes bounds the messages that are held, of all banks, with their order.
	mostHeldBytes = 64 << 20
	// placeBytes is about what the place of a message in its session takes, and mostHeldSessions bounds the messages of a bank
	// whose order is held.
	placeBytes, mostHeldSessions = 48, 1 << 20
	// sessionsAtOnce is how many sessions are read to be held when neighbours of messages are looked for, and mostOfSession how
	// many messages one may have to be held.
	sessionsAtOnce, mostOfSession = 8, 2000
	// mostCame is how many messages may have come for the sessions to be kept that are held.
	mostCame = 5000
)

// heldMessages are messages of a bank, and the order of those of some sessions. Nothing of a message changes but that another
// one replaces it, or it is forgotten; either counts as gone, and nothing that is held stays.
type heldMessages struct {
	rows  *simplelru.LRU[int64, heldMessage]
	bytes int // of all that follows too

	sessions map[memory.SessionID]*heldSession
	of       map[int64]*heldSession // of each message of these
	upto     int64                  // they have all messages up to this number
}

type heldMessage struct {
	recall.MessageRow
	hidden bool
}

// size is about how many bytes a message takes.
func (m heldMessage) size() int {
	const fixed = 350 // with its place in a map and a list
	return fixed + len(m.ID) + len(m.Session) + len(m.Speaker) + len(m.Text) + len(m.Caption)
}

// heldSession has the numbers of all messages of a session, ascending, unless they were too many when it was read.
type heldSession struct {
	nos     []int64
	tooMany bool
}

// lack reports whether messages came that the held sessions lack.
func (m *heldMessages) lack(s rowsState) bool { return len(m.sessions) > 0 && s.last > m.upto }

// findMessages returns those of some messages that are held, and the numbers of the others.
func (h *heldRows) findMessages(key sketchKey, s rowsState, nos []int64) (found []heldMessage, others []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil || k.messages.rows == nil {
		return nil, nos
	}
	found = make([]heldMessage, 0, len(nos))
	for _, no := range nos {
		m, held := k.messages.rows.Peek(no) // a third of the time of Get: the one that was read first makes room
		switch {
		case no > s.last: // it came later
		case held:
			found = append(found, m)
		default:
			others = append(others, no)
		}
	}
	return found, others
}

// holdMessages holds messages, whose texts it copies out of what they were read with.
func (h *heldRows) holdMessages(key sketchKey, s rowsState, read []heldMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil {
		return
	}
	m := &k.messages
	if m.rows == nil {
		m.rows, _ = simplelru.NewLRU(mostHeldBytes/350, func(_ int64, gone heldMessage) { // the size is positive
			m.bytes -= gone.size()
			h.bytes -= gone.size()
		})
	}
	for _, r := range read {
		r.ID, r.Session, r.Role = cloned(r.ID), cloned(r.Session), cloned(r.Role)
		r.Speaker, r.Text, r.Caption = cloned(r.Speaker), cloned(r.Text), cloned(r.Caption)
		m.rows.Remove(r.No)
		m.rows.Add(r.No, r)
		m.bytes += r.size()
		h.bytes += r.size()
	}
	h.makeRoom(k)
}

func cloned[T ~string](s T) T { return T(strings.Clone(string(s))) }

// makeRoom keeps to mostHeldBytes. The bank used longest ago makes room, and of the only one its messages.
func (h *heldRows) makeRoom(k *heldRecord) {
	for h.bytes > mostHeldBytes {
		if _, oldest, _ := h.of.GetOldest(); oldest != k {
			h.of.RemoveOldest()
		} else if k.messages.rows == nil || k.messages.rows.Len() == 0 {
			return
		} else {
			k.messages.rows.RemoveOldest()
		}
	}
}

// neighbours returns the neighbours of messages whose sessions are held, as a search sees them, and the other messages.
func (h *heldRows) neighbours(key sketchKey, s rowsState, nos []int64, before, after int) (out []recall.Neighbourhood, others []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil || s.last > k.messages.upto {
		return nil, nos
	}
	for _, no := range nos {
		session, found := k.messages.of[no]
		switch {
		case no > s.last: // it came later
			continue
		case !found:
			others = append(others, no)
			continue
		}
		at, _ := slices.BinarySearch(session.nos, no)
		n := recall.Neighbourhood{No: no}
		for i := at - 1; i >= 0 && len(n.Before) < before; i-- {
			n.Before = append(n.Before, session.nos[i])
		}
		for i := at + 1; i < len(session.nos) && session.nos[i] <= s.last && len(n.After) < after; i++ {
			n.After = append(n.After, session.nos[i])
		}
		out = append(out, n)
	}
	return out, others
}

// unknownSessions returns those of some sessions of which nothing is known, sessionsAtOnce at most.
func (h *heldRows) unknownSessions(key sketchKey, s rowsState, sessions []memory.SessionID) (out []memory.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil {
		return nil
	}
	for _, session := range sessions {
		if _, known := k.messages.sessions[session]; !known && !slices.Contains(out, session) && len(out) < sessionsAtOnce {
			out = append(out, session)
		}
	}
	return out
}

// holdSession holds a session, of which nos are all messages that a search sees, ascending, or mostOfSession and one more.
func (h *heldRows) holdSession(key sketchKey, s rowsState, session memory.SessionID, nos []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil {
		return
	}
	m := &k.messages
	if len(m.sessions) == 0 || len(m.of)+len(nos) > mostHeldSessions {
		h.place(k, -len(m.of))
		m.sessions, m.of, m.upto = map[memory.SessionID]*heldSession{}, map[int64]*heldSession{}, s.last
	}
	if _, known := m.sessions[session]; known || m.upto != s.last {
		return
	}
	held := &heldSession{tooMany: len(nos) > mostOfSession}
	m.sessions[cloned(session)] = held
	if !held.tooMany {
		m.add(held, nos...)
		h.place(k, len(nos))
	}
}

func (m *heldMessages) add(session *heldSession, nos ...int64) {
	session.nos = append(session.nos, nos...)
	for _, no := range nos {
		m.of[no] = session
	}
}

// place counts the places of n more messages.
func (h *heldRows) place(k *heldRecord, n int) {
	k.messages.bytes += n * placeBytes
	h.bytes += n * placeBytes
	h.makeRoom(k)
}

// placed is a message and its session.
type placed struct {
	session memory.SessionID
	no      int64
}

// messagesCame adds the messages that came behind a number to the sessions that are held, up to the state of a search. More
// than mostCame drop them.
func (h *heldRows) messagesCame(key sketchKey, s rowsState, behind int64, came []placed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil || k.messages.upto != behind {
		return
	}
	m := &k.messages
	if len(came) > mostCame {
		h.place(k, -len(m.of))
		m.sessions, m.of, m.upto = nil, nil, 0
		return
	}
	before := len(m.of)
	for _, x := range came {
		if session, held := m.sessions[x.session]; held && !session.tooMany {
			m.add(session, x.no)
		}
	}
	m.upto = s.last
	h.place(k, len(m.of)-before)
}
