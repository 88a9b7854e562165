package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxID is the longest id, bank or session name, in bytes.
const MaxID = 128

// BankID names an isolated memory. 1 to 128 bytes of UTF-8 without control characters.
type BankID string

// SessionID names one conversation in a bank. Same form as a BankID.
type SessionID string

// The ids of records. A record's id is hashed from what it names and starts with a letter that tells its kind; a
// message's id is its publisher's.
type (
	// MessageID is unique in the bank, forever.
	MessageID string
	// FactID starts with "f_".
	FactID string
	// CompositeID starts with "c_".
	CompositeID string
	// ObservationID starts with "o_".
	ObservationID string
	// ConflictID starts with "x_".
	ConflictID string
	// WindowID starts with "w_".
	WindowID string
	// EntityID is "type:name", canonical: lower case, with single spaces.
	EntityID string
)

// ParseBankID checks a bank's name as it comes from a caller.
func ParseBankID(s string) (BankID, error) {
	if err := checkName("bank", s); err != nil {
		return "", err
	}
	if s == "admin" {
		return "", Invalid("bank", `"admin" is reserved for operators; choose another name`)
	}
	return BankID(s), nil
}

// ParseSessionID checks a session's name as it comes from a caller.
func ParseSessionID(s string) (SessionID, error) {
	if err := checkName("session", s); err != nil {
		return "", err
	}
	return SessionID(s), nil
}

// CheckID checks an id in a body: 1 to 128 bytes of UTF-8 without control characters.
func CheckID(field, s string) error { return checkName(field, s) }

func checkName(field, s string) error {
	switch {
	case s == "":
		return Invalid(field, "must not be empty; expected 1 to %d bytes", MaxID)
	case len(s) > MaxID:
		return Invalid(field, "is %d bytes long; at most %d are allowed", len(s), MaxID)
	case !utf8.ValidString(s):
		return Invalid(field, "is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return Invalid(field, "contains a control character")
	}
	return nil
}

// NewEntityID returns the canonical id of a named thing: lower case, NFKC, single spaces, of a person the PersonName.
// EntityPerson and " Alice  B." make "person:alice b.". An empty name makes "".
func NewEntityID(typ EntityType, name string) EntityID {
	name = folded(name)
	if typ == EntityPerson {
		name = PersonName(name)
	}
	name = strings.Join(strings.Fields(name), " ")
	if name == "" {
		return ""
	}
	if typ == "" {
		typ = EntityOther
	}
	return EntityID(string(typ) + ":" + name)
}

// ParseEntityID returns the canonical form of "type:name". A name without a known type before the colon is of type
// other.
func ParseEntityID(field, s string) (EntityID, error) {
	typ, name, found := strings.Cut(s, ":")
	t := EntityType(strings.ToLower(strings.TrimSpace(typ)))
	if !found || !t.Known() {
		t, name = EntityOther, s
	}
	id := NewEntityID(t, name)
	if id == "" {
		return "", Invalid(field, "must name an entity as type:name")
	}
	if err := CheckID(field, string(id)); err != nil {
		return "", err
	}
	return id, nil
}

// GivenName returns the type that a name is given with, "" for none, and the name as it is written.
func GivenName(s string) (EntityType, string) {
	typ, name, found := strings.Cut(s, ":")
	if t := EntityType(strings.ToLower(strings.TrimSpace(typ))); found && t.Known() {
		return t, strings.TrimSpace(name)
	}
	return "", strings.TrimSpace(s)
}

// Split returns the type and the name of an entity id.
func (e EntityID) Split() (EntityType, string) {
	typ, name, found := strings.Cut(string(e), ":")
	if !found {
		return EntityOther, string(e)
	}
	return EntityType(typ), name
}

// NewFactID hashes bank, normalised text and kind: the same statement is one fact however it is spaced, cased or ended
// (NormalText).
func NewFactID(bank BankID, text string, kind Kind) FactID {
	return FactID(digest("f_", string(bank), NormalText(text), string(kind)))
}

// NewCompositeID hashes bank, level and the set of members, in any order.
func NewCompositeID(bank BankID, level int, members []string) CompositeID {
	m := append([]string(nil), members...)
	sort.Strings(m)
	return CompositeID(digest("c_", append([]string{string(bank), string(rune('0' + level))}, m...)...))
}

// NewObservationID hashes bank, type and subject, so that a second run updates an observation and adds no other.
func NewObservationID(bank BankID, typ ObservationType, subject string) ObservationID {
	return ObservationID(digest("o_", string(bank), string(typ), NormalText(subject)))
}

// NewConflictID hashes bank and the two parties, in any order.
func NewConflictID(bank BankID, a, b FactID) ConflictID {
	if b < a {
		a, b = b, a
	}
	return ConflictID(digest("x_", string(bank), string(a), string(b)))
}

// NewWindowID hashes bank, session, the first and last new sequence and the generation: a window cut twice has one id.
func NewWindowID(bank BankID, session SessionID, first, last uint64, generation int) WindowID {
	return WindowID(digest("w_", string(bank), string(session), number(first), number(last), number(uint64(generation))))
}

// NewChangeID hashes the causing stream, its sequence and the position in it: a change that is sent twice is recognised
// by it.
func NewChangeID(stream string, seq uint64, position int) string {
	return digest("e_", stream, number(seq), number(uint64(position)))
}

// NormalText returns the form in which two equal statements are the same: Unicode NFKC, case folded, with single spaces
// and without final punctuation. It is for comparing and hashing, never for display.
func NormalText(s string) string {
	s = folded(s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRightFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || (unicode.IsPunct(r) && !strings.ContainsRune(`)]}"'%`, r))
	})
}

// folded returns s in NFKC and case folded. Invalid UTF-8 becomes one replacement character. Cherokee folds to its
// capitals, which the library would fold again.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 0xAB70 <= r && r <= 0xABBF:
			return r - 0xAB70 + 0x13A0
		case 0x13F8 <= r && r <= 0x13FD:
			return r - 8
		}
		return r
	}, cases.Fold().String(norm.NFKC.String(strings.ToValidUTF8(s, "\uFFFD"))))
}

func digest(prefix string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		writePart(h, p)
	}
	return prefix + idEncoding.EncodeToString(h.Sum(nil)[:16])
}

// writePart writes the length first, so that ("ab","c") and ("a","bc") differ.
func writePart(h hash.Hash, p string) {
	h.Write([]byte(number(uint64(len(p)))))
	h.Write([]byte(p))
}

func number(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return string(b[:])
}

var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)
