package events

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const hexDigits = "0123456789ABCDEF"

// EncodeToken writes a bank or session name as one token of a subject: every
// byte outside A-Z, a-z, 0-9, "_" and "-" becomes %XX in upper-case hex. It
// takes any string; only "" gives a string that is no token.
func EncodeToken(s string) string {
	n := 0
	for i := range len(s) {
		if !plain(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 2*n)
	for i := range len(s) {
		c := s[i]
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

// DecodeToken reads what EncodeToken wrote and nothing else: a token that
// encodes a byte which needs no encoding, uses lower-case hex or holds a byte
// that should be encoded is memory.ErrInvalid. So every name has one token.
func DecodeToken(tok string) (string, error) {
	if tok == "" {
		return "", memory.Invalid("subject", "has an empty token")
	}
	if strings.IndexByte(tok, '%') < 0 {
		for i := range len(tok) {
			if !plain(tok[i]) {
				return "", notCanonical(tok)
			}
		}
		return tok, nil
	}
	out := make([]byte, 0, len(tok))
	for i := 0; i < len(tok); i++ {
		c := tok[i]
		if plain(c) {
			out = append(out, c)
			continue
		}
		if c != '%' || i+2 >= len(tok) {
			return "", notCanonical(tok)
		}
		hi, lo := strings.IndexByte(hexDigits, tok[i+1]), strings.IndexByte(hexDigits, tok[i+2])
		if hi < 0 || lo < 0 {
			return "", notCanonical(tok)
		}
		v := byte(hi<<4 | lo)
		if plain(v) {
			return "", notCanonical(tok)
		}
		out = append(out, v)
		i += 2
	}
	return string(out), nil
}

func notCanonical(tok string) error {
	if len(tok) > 60 {
		tok = tok[:60] + "…"
	}
	return memory.Invalid("subject", "token %q is not in canonical percent-encoding: bytes outside A-Z a-z 0-9 _ - are written %%XX with upper-case hex, all others as they are", tok)
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// DecodeBank reads the bank of a subject's token. The error is memory.ErrInvalid.
func DecodeBank(tok string) (memory.BankID, error) {
	s, err := DecodeToken(tok)
	if err != nil {
		return "", err
	}
	return memory.ParseBankID(s)
}

// DecodeSession reads the session of a subject's token. The error is memory.ErrInvalid.
func DecodeSession(tok string) (memory.SessionID, error) {
	s, err := DecodeToken(tok)
	if err != nil {
		return "", err
	}
	return memory.ParseSessionID(s)
}

// Key writes a bank or session name as one token of a bucket's key, where "%"
// is not allowed: EncodeToken with "=" in its place.
func Key(s string) string { return strings.ReplaceAll(EncodeToken(s), "%", "=") }

// ParseKey reads what Key wrote.
func ParseKey(key string) (string, error) {
	if strings.IndexByte(key, '%') >= 0 {
		return "", notCanonical(key)
	}
	return DecodeToken(strings.ReplaceAll(key, "=", "%"))
}
