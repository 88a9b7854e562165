package events

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DefaultPrefix is the first token of every subject unless a deployment has its own.
const DefaultPrefix = "mem"

// Partitions is how many parts the messages are spread over by bank. It is
// part of the stored subjects and never changes.
const Partitions = 16

// The kinds of event, third token of a subject.
const (
	KindMessage = "message"
	KindFlush   = "flush"
	KindWindow  = "window"
	KindWrite   = "write"
	KindChange  = "change"
	KindDead    = "dead"
	KindParked  = "parked"
)

// Naming builds and parses subjects and names streams and buckets. The zero
// value uses DefaultPrefix.
type Naming struct{ Prefix string }

// Validate refuses a prefix that is not one plain token of at most 32 bytes.
func (n Naming) Validate() error {
	p := n.prefix()
	if len(p) > 32 || EncodeToken(p) != p {
		return memory.Invalid("prefix", "%q is not a prefix; expected 1 to 32 of A-Z a-z 0-9 _ -", p)
	}
	return nil
}

func (n Naming) prefix() string {
	if n.Prefix == "" {
		return DefaultPrefix
	}
	return n.Prefix
}

func (n Naming) upper(s string) string { return strings.ToUpper(n.prefix()) + "_" + s }

// The streams, named after the upper-cased prefix.

// Messages is the stream of what was said.
func (n Naming) Messages() string { return n.upper("MESSAGES") }

// Windows is the work queue of windows to extract.
func (n Naming) Windows() string { return n.upper("WINDOWS") }

// Writes is the stream of everything that changes the store.
func (n Naming) Writes() string { return n.upper("WRITES") }

// Changes is the stream of what became of it.
func (n Naming) Changes() string { return n.upper("CHANGES") }

// Dead is the stream of dead letters.
func (n Naming) Dead() string { return n.upper("DEAD") }

// Parked is the stream of windows that wait for their bank's token budget.
func (n Naming) Parked() string { return n.upper("PARKED") }

// The buckets.

// IngestBucket keeps ingest's sessions and positions.
func (n Naming) IngestBucket() string { return n.upper("INGEST") }

// LeaseBucket keeps who owns what; a lease lives LeaseTTL.
func (n Naming) LeaseBucket() string { return n.upper("LEASES") }

// BankBucket keeps the profiles of banks for the stages without the store.
func (n Naming) BankBucket() string { return n.upper("BANKS") }

// BudgetBucket keeps what extraction spent of each bank's token budget today.
func (n Naming) BudgetBucket() string { return n.upper("BUDGETS") }

// Subject joins the prefix, a bank's token, the kind and what follows it, as
// published. bank and rest must be tokens already.
func (n Naming) Subject(bankToken, kind, rest string) string {
	return n.prefix() + "." + bankToken + "." + kind + "." + rest
}

// MessageSubject is where a message of a session is published.
func (n Naming) MessageSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindMessage, EncodeToken(string(session)))
}

// FlushSubject is where a flush of a session is published.
func (n Naming) FlushSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindFlush, EncodeToken(string(session)))
}

// WindowSubject is where a window of a session is published.
func (n Naming) WindowSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindWindow, EncodeToken(string(session)))
}

// WriteSubject is where a write of a bank is appended.
func (n Naming) WriteSubject(bank memory.BankID, kind memory.WriteKind) string {
	return n.Subject(EncodeToken(string(bank)), KindWrite, EncodeToken(string(kind)))
}

// ChangeSubject is where a change of a bank is announced.
func (n Naming) ChangeSubject(bank memory.BankID, what string) string {
	return n.Subject(EncodeToken(string(bank)), KindChange, EncodeToken(what))
}

// DeadSubject is where a dead letter goes, under the bank's token as it stands.
func (n Naming) DeadSubject(bankToken, stage string) string {
	return n.Subject(bankToken, KindDead, EncodeToken(stage))
}

// ParkedSubject is where a window of a session waits for the bank's token budget.
func (n Naming) ParkedSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindParked, EncodeToken(string(session)))
}

// RequestSubject is where a bank is asked: mem.<bank>.<what>.
func (n Naming) RequestSubject(bank memory.BankID, what string) string {
	return n.prefix() + "." + EncodeToken(string(bank)) + "." + what
}

// AdminSubject is where an operator asks: mem.admin.<what>.
func (n Naming) AdminSubject(what string) string { return n.prefix() + ".admin." + what }

// PartitionOf is the partition a bank's messages are stored under, 0 to
// Partitions-1: the broker's own hash of the bank's token.
func (n Naming) PartitionOf(bankToken string) int {
	h := fnv.New32a()
	h.Write([]byte(bankToken))
	return int(h.Sum32() % Partitions)
}

// The filters are for consumers and counts; they match stored subjects.

// StoredMessages filters messages and flushes of one partition.
func (n Naming) StoredMessages(partition int) string {
	return n.prefix() + "." + strconv.Itoa(partition) + ".*.*.*"
}

// StoredOf filters one kind of MEM_MESSAGES of one bank, all sessions.
func (n Naming) StoredOf(bank memory.BankID, kind string) string {
	tok := EncodeToken(string(bank))
	return fmt.Sprintf("%s.%d.%s.%s.*", n.prefix(), n.PartitionOf(tok), tok, kind)
}

// BankKind filters one kind of the other streams of one bank.
func (n Naming) BankKind(bank memory.BankID, kind string) string {
	return n.Subject(EncodeToken(string(bank)), kind, "*")
}

// Names is what a subject says.
type Names struct {
	Partition   int // -1 where the subject names none
	BankToken   string
	Kind        string
	Last        string // last token as it stands
	Bank        memory.BankID
	Session     memory.SessionID // for message, flush, window and parked
	Undecodable error            // why Bank or Session could not be read
}

// Parse reads a subject as published or as stored. A bank or session that does
// not decode is reported in Names.Undecodable, with the tokens as they stand;
// the error is for a subject that is none of ours.
func (n Naming) Parse(subject string) (Names, error) {
	t := strings.Split(subject, ".")
	names := Names{Partition: -1}
	if len(t) == 5 {
		p, err := strconv.Atoi(t[1])
		if err != nil || p < 0 || p >= Partitions || strconv.Itoa(p) != t[1] {
			return Names{}, memory.Invalid("subject", "%q has no partition in its second token", subject)
		}
		names.Partition = p
		t = append(t[:1:1], t[2:]...)
	}
	if len(t) != 4 || t[0] != n.prefix() {
		return Names{}, memory.Invalid("subject", "%q is not %s.<bank>.<kind>.<what>", subject, n.prefix())
	}
	names.BankToken, names.Kind, names.Last = t[1], t[2], t[3]
	names.Bank, names.Undecodable = DecodeBank(t[1])
	switch t[2] {
	case KindMessage, KindFlush, KindWindow, KindParked:
		session, err := DecodeSession(t[3])
		names.Session = session
		if names.Undecodable == nil {
			names.Undecodable = err
		}
	}
	if names.Undecodable != nil {
		names.Bank, names.Session = "", ""
	}
	return names, nil
}
