package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Said is one message of a Talk, in the order of its session.
type Said struct {
	Bank    memory.BankID
	Session memory.SessionID
	ID      memory.MessageID
	Body    []byte
}

// Talk is what is published: sessions by what is said in them. Equal seeds
// give equal talks.
type Talk struct {
	Sessions [][]Said
	Messages int
}

const (
	banks           = 4
	sessionsPerBank = 8
)

// The parts of words: a talk has some 3,000 of them, as a real one does, so
// that most of what is said is unlike the rest.
var (
	heads = []string{"Bel", "Cor", "Dal", "Fen", "Gar", "Hol", "Jas", "Kel", "Lor", "Mar", "Nor", "Pel", "Quin", "Ros", "Sal", "Tor", "Var", "Wil", "Zan", "Os"}
	tails = []string{"bach", "dale", "field", "gate", "heim", "ton", "mere", "stead", "wick", "by", "ford", "mouth", "more", "lund", "vik"}
	mids  = []string{"", "a", "e", "i", "o", "an", "er", "in", "ol", "us"}
)

// word makes a word of three parts.
func word(r *rand.Rand) string {
	return heads[r.IntN(len(heads))] + mids[r.IntN(len(mids))] + tails[r.IntN(len(tails))]
}

var (
	people   = []string{"Alice", "Ben", "Chiara", "Deniz", "Emre", "Fatima"}
	sayings  = []string{"I bought a %[2]s in %[1]s for %[3]d euros.", "My sister lives in %[1]s with %[3]d cats.", "We repaired the %[2]s on day %[3]d.", "I prefer the %[2]s from %[1]s, number %[3]d.", "I decided to learn about %[2]s number %[3]d.", "Hello there, what a day!", "I moved to %[1]s on day %[3]d.", "What do you think of the %[2]s?", "The %[2]s in %[1]s has %[3]d parts.", "Thanks, see you!"}
	firstDay = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

// NewTalk draws a talk of so many messages.
func NewTalk(seed uint64, messages int) Talk {
	r := rand.New(rand.NewPCG(seed, 1))
	t := Talk{Sessions: make([][]Said, banks*sessionsPerBank), Messages: messages}
	for n := range messages {
		at := r.IntN(len(t.Sessions))
		bank, session := fmt.Sprintf("bank%d", at%banks), fmt.Sprintf("session%d", at/banks)
		id := fmt.Sprintf("m%06d", n)
		body, err := json.Marshal(map[string]any{
			"id": id, "speaker": people[r.IntN(len(people))], "time": firstDay.Add(time.Duration(n) * time.Minute).Format(time.RFC3339),
			"content": fmt.Sprintf(sayings[r.IntN(len(sayings))]+"%.0[1]s%.0[2]s%.0[3]d", word(r), strings.ToLower(word(r)), n),
		})
		if err != nil {
			panic(err) // strings and numbers have a JSON form
		}
		t.Sessions[at] = append(t.Sessions[at], Said{Bank: memory.BankID(bank), Session: memory.SessionID(session), ID: memory.MessageID(id), Body: body})
	}
	return t
}

// Banks gives the banks the talk is published to, by name.
func (t Talk) Banks() []memory.BankID {
	var out []memory.BankID
	for n := range banks {
		out = append(out, memory.BankID(fmt.Sprintf("bank%d", n)))
	}
	return out
}

// Parts cuts every session into n runs: the parts, said one after the other,
// are the talk.
func (t Talk) Parts(n int) []Talk {
	out := make([]Talk, n)
	for i := range out {
		out[i].Sessions = make([][]Said, len(t.Sessions))
		for j, s := range t.Sessions {
			out[i].Sessions[j] = s[len(s)*i/n : len(s)*(i+1)/n]
			out[i].Messages += len(out[i].Sessions[j])
		}
	}
	return out
}

// Join is a talk that goes on with another's sessions.
func (t Talk) Join(more Talk) Talk {
	out := Talk{Sessions: make([][]Said, len(more.Sessions)), Messages: t.Messages + more.Messages}
	for i := range more.Sessions {
		if i < len(t.Sessions) {
			out.Sessions[i] = append(out.Sessions[i], t.Sessions[i]...)
		}
		out.Sessions[i] = append(out.Sessions[i], more.Sessions[i]...)
	}
	return out
}
