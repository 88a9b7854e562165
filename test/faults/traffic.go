package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Message is a message of Traffic.
type Message struct {
	Bank    memory.BankID
	Session memory.SessionID
	ID      memory.MessageID
	Body    []byte
}

// Traffic is what is published: sessions of messages in their order. Equal seeds make equal traffic.
type Traffic struct {
	Sessions [][]Message
	Messages int
}

const (
	banks           = 4
	sessionsPerBank = 8
)

// The syllables of words: traffic has some 3,000 words, as a real conversation does, so that most messages are unlike.
var (
	syllables1 = []string{"Bel", "Cor", "Dal", "Fen", "Gar", "Hol", "Jas", "Kel", "Lor", "Mar", "Nor", "Pel", "Quin", "Ros", "Sal", "Tor", "Var", "Wil", "Zan", "Os"}
	syllables3 = []string{"bach", "dale", "field", "gate", "heim", "ton", "mere", "stead", "wick", "by", "ford", "mouth", "more", "lund", "vik"}
	syllables2 = []string{"", "a", "e", "i", "o", "an", "er", "in", "ol", "us"}
)

// word makes a word of three syllables.
func word(r *rand.Rand) string {
	return syllables1[r.IntN(len(syllables1))] + syllables2[r.IntN(len(syllables2))] + syllables3[r.IntN(len(syllables3))]
}

var (
	people    = []string{"Alice", "Ben", "Chiara", "Deniz", "Emre", "Fatima"}
	sentences = []string{"I bought a %[2]s in %[1]s for %[3]d euros.", "My sister lives in %[1]s with %[3]d cats.", "We repaired the %[2]s on day %[3]d.", "I prefer the %[2]s from %[1]s, number %[3]d.", "I decided to learn about %[2]s number %[3]d.", "Hello there, what a day!", "I moved to %[1]s on day %[3]d.", "What do you think of the %[2]s?", "The %[2]s in %[1]s has %[3]d parts.", "Thanks, see you!"}
	firstDay  = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

// NewTraffic draws traffic of a number of messages from a seed.
func NewTraffic(seed uint64, messages int) Traffic {
	r := rand.New(rand.NewPCG(seed, 1))
	t := Traffic{Sessions: make([][]Message, banks*sessionsPerBank), Messages: messages}
	for n := range messages {
		at := r.IntN(len(t.Sessions))
		bank, session := fmt.Sprintf("bank%d", at%banks), fmt.Sprintf("session%d", at/banks)
		id := fmt.Sprintf("m%06d", n)
		body, err := json.Marshal(map[string]any{
			"id": id, "speaker": people[r.IntN(len(people))], "time": firstDay.Add(time.Duration(n) * time.Minute).Format(time.RFC3339),
			"content": fmt.Sprintf(sentences[r.IntN(len(sentences))]+"%.0[1]s%.0[2]s%.0[3]d", word(r), strings.ToLower(word(r)), n),
		})
		if err != nil {
			panic(err) // strings and numbers have a JSON form
		}
		t.Sessions[at] = append(t.Sessions[at], Message{Bank: memory.BankID(bank), Session: memory.SessionID(session), ID: memory.MessageID(id), Body: body})
	}
	return t
}

// Banks returns the banks that traffic is published to, by name.
func (t Traffic) Banks() []memory.BankID {
	var out []memory.BankID
	for n := range banks {
		out = append(out, memory.BankID(fmt.Sprintf("bank%d", n)))
	}
	return out
}

// Parts cuts every session into n parts, which make the whole when they are published one after the other.
func (t Traffic) Parts(n int) []Traffic {
	out := make([]Traffic, n)
	for i := range out {
		out[i].Sessions = make([][]Message, len(t.Sessions))
		for j, s := range t.Sessions {
			out[i].Sessions[j] = s[len(s)*i/n : len(s)*(i+1)/n]
			out[i].Messages += len(out[i].Sessions[j])
		}
	}
	return out
}

// Join returns traffic whose sessions continue with those of more.
func (t Traffic) Join(more Traffic) Traffic {
	out := Traffic{Sessions: make([][]Message, len(more.Sessions)), Messages: t.Messages + more.Messages}
	for i := range more.Sessions {
		if i < len(t.Sessions) {
			out.Sessions[i] = append(out.Sessions[i], t.Sessions[i]...)
		}
		out.Sessions[i] = append(out.Sessions[i], more.Sessions[i]...)
	}
	return out
}
