//go:build !race

package query_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// conversation is a conversation of the benchmark's data with labelled evidence.
type conversation struct {
	id        memory.BankID
	messages  []memory.Message
	questions []labelled
	now       time.Time
}

type labelled struct {
	text     string
	category int
	evidence map[string]bool
}

var (
	turnID   = regexp.MustCompile(`D\s*:?\s*(\d+)\s*:\s*(\d+)`)
	turnSpan = regexp.MustCompile(`D\s*:?\s*(\d+)\s*:\s*(\d+)\s*-\s*D\s*:?\s*(\d+)\s*:\s*(\d+)`)
)

func evidenceOf(raw []string, known map[string]bool) map[string]bool {
	out := map[string]bool{}
	add := func(s, n int) {
		if id := fmt.Sprintf("D%d:%d", s, n); known[id] {
			out[id] = true
		}
	}
	num := func(s string) int { n, _ := strconv.Atoi(s); return n }
	for _, r := range raw {
		for _, m := range turnSpan.FindAllStringSubmatch(r, -1) {
			for n := num(m[2]); m[1] == m[3] && n <= num(m[4]); n++ {
				add(num(m[1]), n)
			}
		}
		for _, m := range turnID.FindAllStringSubmatch(turnSpan.ReplaceAllString(r, ""), -1) {
			add(num(m[1]), num(m[2]))
		}
	}
	return out
}

func readConversations(tb testing.TB, path string) []conversation {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var list []struct {
		ID           string                     `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []struct {
			Question string   `json:"question"`
			Evidence []string `json:"evidence"`
			Category int      `json:"category"`
		} `json:"qa"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		tb.Fatal(err)
	}
	var out []conversation
	for _, l := range list {
		c := conversation{id: memory.BankID(l.ID)}
		known := map[string]bool{}
		var sessions []int
		for k := range l.Conversation {
			if n, err := strconv.Atoi(strings.TrimPrefix(k, "session_")); err == nil {
				sessions = append(sessions, n)
			}
		}
		sort.Ints(sessions)
		for _, n := range sessions {
			var turns []struct {
				Speaker string `json:"speaker"`
				ID      string `json:"dia_id"`
				Text    string `json:"text"`
				Caption string `json:"blip_caption"`
			}
			key := fmt.Sprintf("session_%d", n)
			if err := json.Unmarshal(l.Conversation[key], &turns); err != nil {
				tb.Fatal(err)
			}
			var when string
			_ = json.Unmarshal(l.Conversation[key+"_date_time"], &when)
			at := parseWhen(when)
			for i, t := range turns {
				m := memory.Message{Bank: c.id, Session: memory.SessionID(key), ID: memory.MessageID(t.ID), Speaker: t.Speaker, Content: t.Text, Time: at.Add(time.Duration(i) * time.Second)}
				if t.Caption != "" {
					m.Images = []memory.Image{{Caption: t.Caption}}
				}
				known[t.ID] = true
				c.messages = append(c.messages, m)
				c.now = m.Time
			}
		}
		for _, q := range l.QA {
			if e := evidenceOf(q.Evidence, known); len(e) > 0 {
				c.questions = append(c.questions, labelled{q.Question, q.Category, e})
			}
		}
		out = append(out, c)
	}
	return out
}

func parseWhen(s string) time.Time {
	for _, layout := range []string{"3:04 pm on 2 January, 2006", "3:04 pm on January 2, 2006", "2006-01-02 15:04:05", "02.01.2006, 15:04:05", "3:04 pm, 2 January 2006"} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t.UTC()
		}
	}
	return time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
}

// scores are macro averages over questions.
type scores struct {
	recall, brecall, hit, mrr float64
	n                         int
	took                      []time.Duration
}

func (s *scores) add(q labelled, items []memory.Item, took time.Duration) {
	seen := map[string]bool{}
	got, hit, first := 0, 0.0, 0
	budget, earned := 10.0, 0.0
	for k, item := range items {
		fresh, good := 0, 0
		for _, src := range item.Sources {
			if !seen[string(src)] {
				seen[string(src)] = true
				fresh++
				if q.evidence[string(src)] {
					good++
				}
			}
			if q.evidence[string(src)] && first == 0 {
				first = k + 1
			}
		}
		if k < 10 {
			got += good
			if good > 0 {
				hit = 1
			}
		}
		if budget > 0 && fresh > 0 {
			share := min(1, budget/float64(fresh))
			earned += share * float64(good)
			budget -= float64(fresh)
		}
	}
	s.recall += float64(got) / float64(len(q.evidence))
	s.brecall += earned / float64(len(q.evidence))
	s.hit += hit
	if first > 0 {
		s.mrr += 1 / float64(first)
	}
	s.n++
	s.took = append(s.took, took)
}

func (s *scores) String() string {
	n := float64(s.n)
	slices.Sort(s.took)
	return fmt.Sprintf("R@10 %.1f  brecall %.1f  hit@10 %.1f  MRR %.3f  p50 %s p99 %s (n=%d)", 100*s.recall/n, 100*s.brecall/n, 100*s.hit/n, s.mrr/n,
		s.took[len(s.took)/2].Round(10*time.Microsecond), s.took[len(s.took)*99/100].Round(10*time.Microsecond), s.n)
}

// modelFacts reads the facts that a model extracted from the conversations.
func modelFacts(tb testing.TB, path string) map[memory.BankID][][2]string {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	out := map[memory.BankID][][2]string{}
	sc := bufio.NewScanner(file)
	for sc.Scan() {
		var f struct {
			Sample   memory.BankID `json:"sample_id"`
			Fact     string        `json:"fact"`
			Evidence any           `json:"evidence"`
		}
		if json.Unmarshal(sc.Bytes(), &f) != nil {
			continue
		}
		out[f.Sample] = append(out[f.Sample], [2]string{f.Fact, fmt.Sprint(f.Evidence)})
	}
	return out
}

func benchDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("EUNOE_BENCH_DIR")
	if dir == "" {
		tb.Skip("EUNOE_BENCH_DIR is not set; .ci/run sets it where the data are")
	}
	return dir
}

// TestRecallOnStoredConversations measures recall on the labelled questions of real and generated conversations.
func TestRecallOnStoredConversations(t *testing.T) {
	t.Parallel()
	dir := benchDir(t)
	for _, set := range []string{"locomo-dev", "realtalk-dev"} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			list := readConversations(t, filepath.Join(dir, set+".json"))
			facts := modelFacts(t, filepath.Join(dir, "locomo-dev-facts.jsonl"))
			for _, c := range list {
				w.say(c.messages...)
				known := map[string]bool{}
				for _, m := range c.messages {
					known[string(m.ID)] = true
				}
				var made []memory.Fact
				have := map[memory.FactID]bool{}
				for _, f := range facts[c.id] {
					var ids []string
					for id := range evidenceOf([]string{f[1]}, known) {
						ids = append(ids, id)
					}
					sort.Strings(ids)
					fact := memory.Fact{Text: f[0], ID: memory.NewFactID(c.id, f[0], memory.KindWorld), Sources: w.from(c.id, ids...), Said: c.now}
					if len(ids) > 0 && !have[fact.ID] {
						have[fact.ID] = true
						made = append(made, fact)
					}
				}
				if len(made) > 0 {
					w.know(c.id, made...)
				}
			}
			measured := map[string]scores{}
			for name, records := range map[string][]memory.Record{"messages": {memory.RecordMessage}, "everything": nil} {
				var s scores
				for _, c := range list {
					for _, q := range c.questions {
						start := time.Now()
						reply := w.recall(c.id, wire.RecallRequest{Query: q.text, Filter: memory.Filter{Records: records}, MaxFacts: ptr(50), MaxTokens: ptr(100000), Now: &c.now})
						s.add(q, reply.Items, time.Since(start))
					}
				}
				t.Logf("%s, %s: %s", set, name, s.String())
				measured[name] = s
			}
			alone, all := measured["messages"], measured["everything"]
			if got := 100 * alone.recall / float64(alone.n); got < floors[set] {
				t.Errorf("messages alone reach a recall@10 of %.1f, the floor is %.1f", got, floors[set])
			}
			// Facts support their source messages and never displace them.
			if all.recall < alone.recall || all.brecall < alone.brecall {
				t.Errorf("everything: %s\nmessages alone: %s", all.String(), alone.String())
			}
		})
	}
}

// floors are the minimum recall@10 of messages alone, one point below the measured value.
var floors = map[string]float64{"locomo-dev": 82, "realtalk-dev": 61.5}
