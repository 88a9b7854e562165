package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// spoilEvent flips bits within one event in the only block of a stream of a stopped broker: in the first one past the
// middle of the block that holds the text, or in the last one.
func spoilEvent(t *testing.T, data, stream, text string, last bool) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(data, "streams", "jetstream", "*", "streams", stream, "msgs", "*.blk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("blocks %v, %v", found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	from := len(raw) / 2
	at := bytes.Index(raw[from:], []byte(text)) + from
	if last {
		at = bytes.LastIndex(raw, []byte(text))
	}
	if at < from {
		t.Fatalf("the block of %s has no %q past its middle", stream, text)
	}
	for i := range text {
		raw[at+i] ^= 0x15
	}
	apptest.Write(t, found[0], string(raw))
}

// broken returns the sentences of a verification about the rules that begin so, and fails where there is another one.
func broken(t *testing.T, v object, rules ...string) []string {
	t.Helper()
	var out []string
	for _, p := range list(v["problems"]) {
		known := false
		for _, r := range rules {
			known = known || strings.HasPrefix(p.(string), r)
		}
		if !known {
			t.Errorf("verify says %q", p)
		}
		out = append(out, p.(string))
	}
	if v["ok"] != (len(out) == 0) {
		t.Errorf("ok is %v with %q", v["ok"], out)
	}
	return out
}

// TestVerifyInFullReadsWhatTheBrokerCannot damages one event within a block of a stopped broker, which goes on as if it
// were whole: it counts the event and gives it to nobody.
func TestVerifyInFullReadsWhatTheBrokerCannot(t *testing.T) {
	t.Parallel()
	const counts = "every event that a stream counts can be read: broken"
	for name, c := range map[string]struct {
		stream, text string
		last         bool
		also         string // the rule about the store's events
	}{
		"a write within a block":   {"MEM_WRITES", `"op":"`, false, "the log holds every write of the store: broken ("},
		"the last write":           {"MEM_WRITES", `"op":"`, true, "the log holds every write of the store: broken ("},
		"a message within a block": {"MEM_MESSAGES", `"content":"`, false, "the log holds every message of the store: broken ("},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := apptest.Settings(t, nil)
			var last uint64
			session(t, set, func(p plain, l *local.Local) {
				converse(p, "palermo", 24)
				p.settle("palermo")
				waitApplied(t, l, set.Store)
				if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
					t.Fatalf("before the damage verify says %v", v["problems"])
				}
				s, err := l.Conn.JS.Stream(t.Context(), c.stream)
				if err != nil {
					t.Fatal(err)
				}
				last = s.CachedInfo().State.LastSeq
			})
			spoilEvent(t, set.Data, c.stream, c.text, c.last)
			says := fmt.Sprintf("%s (%s counts %d and gives out %d)", counts, c.stream, last, last-1)
			session(t, set, func(p plain, _ *local.Local) {
				found := broken(t, p.mustAsk("mem.admin.verify", `{"full":true}`), counts, c.also)
				if len(found) != 2 || found[1] != says {
					t.Errorf("verify --full says %q, expected a lost event and %q", found, says)
				}
			})
			v, err := offline.Verify(t.Context(), set, true, false)
			if err != nil || v.OK || len(v.Problems) != 2 || v.Problems[1] != says {
				t.Errorf("of the stopped one: %q, %v", v.Problems, err)
			}
			m, err := offline.Backup(t.Context(), set, filepath.Join(t.TempDir(), "copy"), true, nil)
			if err != nil || len(m.Unreadable) != 1 || counts+" ("+m.Unreadable[0]+")" != says {
				t.Errorf("a backup of what is left: %+v, %v", m, err)
			}
			before := dump(t, set.Store)
			if err := offline.Rebuild(t.Context(), set, nil); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "--smaller") {
				t.Errorf("a rebuild from what is left: %v", err)
			}
			if dump(t, set.Store) != before {
				t.Error("the refused rebuild changed the store")
			}
			if err := offline.Rebuild(t.Context(), set, nil, offline.Smaller); err != nil {
				t.Fatal(err)
			}
			v, err = offline.Verify(t.Context(), set, true, false)
			if err != nil || len(v.Problems) != 1 || v.Problems[0] != says {
				t.Errorf("of the smaller store in full: %q, %v", v.Problems, err)
			}
			if v, err = offline.Verify(t.Context(), set, false, false); err != nil || !v.OK {
				t.Errorf("of the smaller store: %q, %v", v.Problems, err)
			}
		})
	}
}

// TestVerifyInFullKnowsWhatWasErased erases by every way that removes writes from the log, each twice over what is left of
// an earlier one: no position is missed.
func TestVerifyInFullKnowsWhatWasErased(t *testing.T) {
	t.Parallel()
	set := apptest.Settings(t, nil)
	l := apptest.Start(t, set)
	p := dial(t, l.URL)
	for i, thing := range []string{"violino", "canoa", "telescopio"} {
		p.publish("mem.palermo.message.casa", fmt.Sprintf(`{"id":"p%d","speaker":"Rosalia","content":"I bought a %s."}`, i, thing))
	}
	p.publish("mem.palermo.flush.casa", "")
	converse(p, "other", 8)
	p.settle("palermo")
	p.settle("other")
	p.mustAsk("mem.palermo.retain", `{"facts":[{"key":"dog","text":"Rosalia has a dog called Birillo."},{"text":"Rosalia sings."}],"wait":"60s"}`)
	whole := func(when string) {
		t.Helper()
		if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
			t.Errorf("%s: verify says %q", when, v["problems"])
		}
	}
	for _, f := range []struct{ request, word string }{
		{`{"id":"p0"}`, "violino"}, {`{"id":"p1"}`, "canoa"}, {`{"session":"casa"}`, "telescopio"}, {`{"speaker":"Rosalia"}`, "Birillo"},
	} {
		whole("before " + f.word + " is forgotten")
		p.mustAsk("mem.palermo.forget", f.request)
		whole("while " + f.word + " is forgotten")
		if f.word != "Birillo" {
			waitErased(t, l, f.word)
		}
		waitApplied(t, l, set.Store)
		whole("when " + f.word + " is forgotten")
	}
	for _, bank := range []string{"other", "palermo"} {
		p.mustAsk("mem.admin.erase", `{"bank":"`+bank+`"}`)
		whole("while a bank is erased")
		waitErased(t, l, map[string]string{"other": "day 1", "palermo": "Birillo"}[bank])
		waitApplied(t, l, set.Store)
		whole("when a bank is erased")
	}
	s, err := l.Conn.JS.Stream(t.Context(), l.Conn.Naming.Writes())
	if err != nil || s.CachedInfo().State.NumDeleted == 0 && s.CachedInfo().State.FirstSeq == 1 {
		t.Errorf("nothing was erased from the writes: %+v, %v", s.CachedInfo().State, err)
	}
}
