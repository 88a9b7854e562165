package events_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, token string }{
		{"alice", "alice"},
		{"!room:server.org", "%21room%3Aserver%2Eorg"},
		{"a b", "a%20b"}, {"*", "%2A"}, {">", "%3E"}, {"%", "%25"}, {"A_-9", "A_-9"}, {"é", "%C3%A9"},
	} {
		if got := events.EncodeToken(c.name); got != c.token {
			t.Errorf("%q is %s, want %s", c.name, got, c.token)
		}
		if got, err := events.DecodeToken(c.token); err != nil || got != c.name {
			t.Errorf("%s is %q (%v), want %q", c.token, got, err, c.name)
		}
		if got, err := events.ParseKey(events.Key(c.name)); err != nil || got != c.name || strings.Contains(events.Key(c.name), "%") {
			t.Errorf("the key %s is %q (%v), want %q", events.Key(c.name), got, err, c.name)
		}
	}
	for _, bad := range []string{"", "%61lice", "%2e", "%2", "%", "%zz", "a.b", "a b", "é", "%C3%a9", "a%", "*", "="} {
		if got, err := events.DecodeToken(bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q was read as %q (%v)", bad, got, err)
		}
	}
	for _, bad := range []string{"admin", strings.Repeat("a", 129), "a%00b", "%FF"} {
		if got, err := events.DecodeBank(bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("bank %q was read as %q (%v)", bad, got, err)
		}
	}
	if s, err := events.DecodeSession("admin"); err != nil || s != "admin" {
		t.Errorf("session admin: %q, %v", s, err)
	}
}

func TestNaming(t *testing.T) {
	t.Parallel()
	n := events.Naming{Prefix: "team"}
	if n.Messages() != "TEAM_MESSAGES" || n.Dead() != "TEAM_DEAD" || (events.Naming{}).Writes() != "MEM_WRITES" {
		t.Error("streams do not follow the prefix")
	}
	if s := n.MessageSubject("a.b", "c d"); s != "team.a%2Eb.message.c%20d" {
		t.Error(s)
	}
	for _, bad := range []string{"a.b", "*", "a b", strings.Repeat("x", 33)} {
		if (events.Naming{Prefix: bad}).Validate() == nil {
			t.Errorf("the prefix %q was taken", bad)
		}
	}
	p, err := n.Parse("team.7.a%2Eb.message.s")
	if err != nil || p.Partition != 7 || p.Bank != "a.b" || p.Session != "s" || p.Undecodable != nil {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = n.Parse("team.%61.message.s")
	if err != nil || p.Bank != "" || p.BankToken != "%61" || p.Undecodable == nil {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"", "team", "team.a.message", "mem.a.message.s", "team.16.a.message.s", "team.07.a.message.s", "team.x.a.message.s", "team.1.2.a.message.s"} {
		if _, err := n.Parse(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzToken(f *testing.F) {
	for _, s := range []string{"alice", "!room:server.org", "%", "\x00", "日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s != "" {
			tok := events.EncodeToken(s)
			if back, err := events.DecodeToken(tok); err != nil || back != s {
				t.Errorf("%q became %q by %s (%v)", s, back, tok, err)
			}
			if strings.ContainsAny(tok, ".*> \t\r\n\x00") {
				t.Errorf("%q is no token", tok)
			}
			if back, err := events.ParseKey(events.Key(s)); err != nil || back != s {
				t.Errorf("%q became %q by the key %s (%v)", s, back, events.Key(s), err)
			}
		}
		// A parsed token has one canonical form.
		if name, err := events.DecodeToken(s); err == nil && events.EncodeToken(name) != s {
			t.Errorf("the token %q is not the canonical one of %q", s, name)
		}
	})
}

func FuzzParseSubject(f *testing.F) {
	f.Add("mem.alice.message.s")
	f.Add("mem.3.%61.flush.s")
	n := events.Naming{}
	f.Fuzz(func(t *testing.T, subject string) {
		p, err := n.Parse(subject)
		if err != nil {
			return
		}
		if got := n.Subject(p.BankToken, p.Kind, p.Last); p.Partition < 0 && got != subject {
			t.Errorf("%q is %q", subject, got)
		}
		if p.Undecodable == nil && events.EncodeToken(string(p.Bank)) != p.BankToken {
			t.Errorf("%q names the bank %q", subject, p.Bank)
		}
		if p.Undecodable != nil && (p.Bank != "" || p.Session != "") {
			t.Errorf("%q does not decode and names %q", subject, p.Bank)
		}
	})
}
