package events

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DefaultPrefix is the first token of every subject of a deployment that sets no prefix.
const DefaultPrefix = "mem"

// Partitions is the number of partitions that messages are spread over by bank. It determines the stored subjects and
// never changes.
const Partitions = 16

// The kinds of events, which are the third token of their subjects.
const (
	KindMessage = "message"
	KindFlush   = "flush"
	KindWindow  = "window"
	KindWrite   = "write"
	KindChange  = "change"
	KindDead    = "dead"
	KindParked  = "parked"
	// KindIntake is the kind of messages and flushes on their way to the stream from a publisher in an account of its
	// own: prefix.bank.intake.message.session.
	KindIntake = "intake"
)

// Naming builds and parses subjects and names the streams and buckets of a deployment. The zero value uses
// DefaultPrefix.
type Naming struct{ Prefix string }

// Validate returns an error unless the prefix is one token of at most 32 plain bytes.
func (n Naming) Validate() error {
	p := n.prefix()
	if len(p) > 32 || EncodeToken(p) != p {
		return memory.Invalid("prefix", "%q is not a prefix; expected 1 to 32 of A-Z a-z 0-9 _ -", p)
	}
	return nil
}

func (n Naming) prefix() string { return cmp.Or(n.Prefix, DefaultPrefix) }

func (n Naming) upper(s string) string { return strings.ToUpper(n.prefix()) + "_" + s }

// Messages names the stream of messages. Names of streams and buckets begin with the prefix in upper case.
func (n Naming) Messages() string { return n.upper("MESSAGES") }

// Windows names the work queue of windows to extract.
func (n Naming) Windows() string { return n.upper("WINDOWS") }

// Writes names the stream of everything that changes the store.
func (n Naming) Writes() string { return n.upper("WRITES") }

// Changes names the stream of announced changes of the store.
func (n Naming) Changes() string { return n.upper("CHANGES") }

// Dead names the stream of dead letters.
func (n Naming) Dead() string { return n.upper("DEAD") }

// Parked names the stream of windows that wait for the token budget of their bank.
func (n Naming) Parked() string { return n.upper("PARKED") }

// IngestBucket names the bucket of ingest's sessions and positions.
func (n Naming) IngestBucket() string { return n.upper("INGEST") }

// LeaseBucket names the bucket of leases, which live LeaseTTL.
func (n Naming) LeaseBucket() string { return n.upper("LEASES") }

// BankBucket names the bucket of bank profiles, for the stages that have no store.
func (n Naming) BankBucket() string { return n.upper("BANKS") }

// RecallBucket names the bucket of the recalls that banks keep, in memory.
func (n Naming) RecallBucket() string { return n.upper("RECALLS") }

// BudgetBucket names the bucket of what extraction spent: tokens today, by bank, and tries of windows.
func (n Naming) BudgetBucket() string { return n.upper("BUDGETS") }

// Subject returns prefix.bankToken.kind.rest, a subject as published. bankToken and rest must be encoded tokens or
// wildcards.
func (n Naming) Subject(bankToken, kind, rest string) string {
	return n.prefix() + "." + bankToken + "." + kind + "." + rest
}

// MessageSubject returns the subject for messages of a session.
func (n Naming) MessageSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindMessage, EncodeToken(string(session)))
}

// FlushSubject returns the subject for flushes of a session.
func (n Naming) FlushSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindFlush, EncodeToken(string(session)))
}

// WindowSubject returns the subject for windows of a session.
func (n Naming) WindowSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindWindow, EncodeToken(string(session)))
}

// WriteSubject returns the subject for writes of a bank.
func (n Naming) WriteSubject(bank memory.BankID, kind memory.WriteKind) string {
	return n.Subject(EncodeToken(string(bank)), KindWrite, EncodeToken(string(kind)))
}

// ChangeSubject returns the subject for changes of a bank.
func (n Naming) ChangeSubject(bank memory.BankID, what string) string {
	return n.Subject(EncodeToken(string(bank)), KindChange, EncodeToken(what))
}

// DeadSubject returns the subject for dead letters of a stage. The token of the bank may be undecodable.
func (n Naming) DeadSubject(bankToken, stage string) string {
	return n.Subject(bankToken, KindDead, EncodeToken(stage))
}

// ParkedSubject returns the subject for parked windows of a session.
func (n Naming) ParkedSubject(bank memory.BankID, session memory.SessionID) string {
	return n.Subject(EncodeToken(string(bank)), KindParked, EncodeToken(string(session)))
}

// RequestSubject returns the subject of a request to a bank: mem.<bank>.<what>.
func (n Naming) RequestSubject(bank memory.BankID, what string) string {
	return n.prefix() + "." + EncodeToken(string(bank)) + "." + what
}

// AdminSubject returns the subject of an operator's request: mem.admin.<what>.
func (n Naming) AdminSubject(what string) string { return n.prefix() + ".admin." + what }

// PartitionOf returns the partition of a bank's messages, 0 to Partitions-1. It is the hash that the broker's subject
// transform uses.
func (n Naming) PartitionOf(bankToken string) int {
	h := fnv.New32a()
	h.Write([]byte(bankToken))
	return int(h.Sum32() % Partitions)
}

// StoredMessages returns the filter on stored subjects that matches messages and flushes of one partition.
func (n Naming) StoredMessages(partition int) string {
	return n.prefix() + "." + strconv.Itoa(partition) + ".*.*.*"
}

// StoredOf returns the filter on stored subjects that matches one kind in MEM_MESSAGES of one bank.
func (n Naming) StoredOf(bank memory.BankID, kind string) string {
	tok := EncodeToken(string(bank))
	return fmt.Sprintf("%s.%d.%s.%s.*", n.prefix(), n.PartitionOf(tok), tok, kind)
}

// StoredOfBank returns the filter on stored subjects that matches everything in MEM_MESSAGES of one bank.
func (n Naming) StoredOfBank(bank memory.BankID) string {
	tok := EncodeToken(string(bank))
	return fmt.Sprintf("%s.%d.%s.*.*", n.prefix(), n.PartitionOf(tok), tok)
}

// StoredOfSession returns the filter on stored subjects that matches everything in MEM_MESSAGES of one session.
func (n Naming) StoredOfSession(bank memory.BankID, session memory.SessionID) string {
	tok := EncodeToken(string(bank))
	return fmt.Sprintf("%s.%d.%s.*.%s", n.prefix(), n.PartitionOf(tok), tok, EncodeToken(string(session)))
}

// BankKind returns the filter that matches one kind of one bank in the streams other than MEM_MESSAGES.
func (n Naming) BankKind(bank memory.BankID, kind string) string {
	return n.Subject(EncodeToken(string(bank)), kind, "*")
}

// Names are the parts of a subject.
type Names struct {
	Partition   int // -1 if the subject has none
	BankToken   string
	Kind        string
	Last        string // last token, encoded
	Bank        memory.BankID
	Session     memory.SessionID // for message, flush, window and parked
	Undecodable error            // why Bank or Session could not be decoded; both are then empty
}

// Parse parses a subject as published or as stored. The error is for a subject that has not our form; a bank or session
// that cannot be decoded is reported in Names.Undecodable.
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
