package events

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const hexDigits = "0123456789ABCDEF"

// EncodeToken encodes a bank or session name as one token of a subject: every byte outside A-Z, a-z, 0-9, "_" and "-"
// becomes %XX in upper-case hex. It accepts any string; only for "" the result is not a valid token.
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

// DecodeToken decodes what EncodeToken returns and nothing else, so that every name has exactly one token: a token that
// encodes a plain byte, uses lower-case hex or contains a byte that should be encoded is memory.ErrInvalid.
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

// DecodeBank decodes and parses the token of a bank. The error is memory.ErrInvalid.
func DecodeBank(tok string) (memory.BankID, error) {
	s, err := DecodeToken(tok)
	if err != nil {
		return "", err
	}
	return memory.ParseBankID(s)
}

// DecodeSession decodes and parses the token of a session. The error is memory.ErrInvalid.
func DecodeSession(tok string) (memory.SessionID, error) {
	s, err := DecodeToken(tok)
	if err != nil {
		return "", err
	}
	return memory.ParseSessionID(s)
}

// Key encodes a bank or session name as one token of a bucket's key. Keys must not contain "%": it is EncodeToken with
// "=" instead.
func Key(s string) string { return strings.ReplaceAll(EncodeToken(s), "%", "=") }

// ParseKey decodes what Key returns. The error is memory.ErrInvalid.
func ParseKey(key string) (string, error) {
	if strings.IndexByte(key, '%') >= 0 {
		return "", notCanonical(key)
	}
	return DecodeToken(strings.ReplaceAll(key, "=", "%"))
}
