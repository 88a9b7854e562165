package memory

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// NormalText is the form under which two statements are the same: Unicode
// NFKC, case folded, white space folded to single spaces, final punctuation
// dropped. It is for comparing and hashing, never for showing.
func NormalText(s string) string {
	s = folded(s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRightFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || (unicode.IsPunct(r) && !strings.ContainsRune(`)]}"'%`, r))
	})
}

// folded is s in NFKC and case folded; bytes that are no UTF-8 are one
// replacement character. Cherokee folds to its capitals, which the library takes
// for letters to be made small again.
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

// NewEntityID is the canonical id of a named thing: lower case, NFKC, white
// space folded; "Person", " Alice  B." gives "person:alice b.". An empty name gives "".
func NewEntityID(typ EntityType, name string) EntityID {
	name = strings.Join(strings.Fields(folded(name)), " ")
	if name == "" {
		return ""
	}
	if typ == "" {
		typ = EntityOther
	}
	return EntityID(string(typ) + ":" + name)
}

// ParseEntityID checks "type:name" and gives its canonical form; a name
// without a known type before the colon is of type other.
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

// Split gives the type and the name of an entity id.
func (e EntityID) Split() (EntityType, string) {
	typ, name, found := strings.Cut(string(e), ":")
	if !found {
		return EntityOther, string(e)
	}
	return EntityType(typ), name
}
