package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

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

// Truncate returns at most the first n bytes of s, without a part of a character at the end.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
