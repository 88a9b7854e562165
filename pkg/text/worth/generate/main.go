// The command generate fits the weights of package worth to the labelled talk of its corpus and prints how well they do on
// talk that they were not fitted to.
//
//	go run ./generate                  # in pkg/text/worth: writes weights.bin
//	go run ./generate -check           # leaves out a fifth of the conversations, and each language, in turn
package main

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/worth"
)

// corpus has a line a message, and {"new":1} between conversations.
//
//go:embed corpus/*.jsonl
var corpus embed.FS

// codes are the classes by the codes of the corpus.
var codes = map[string]worth.Class{
	"wf": worth.State, "wl": worth.Liking, "we": worth.Event, "wp": worth.Plan, "wc": worth.Constraint, "wd": worth.Decision,
	"wi": worth.Instruction, "wo": worth.Outcome, "f": worth.Continuation, "g": worth.SmallTalk, "q": worth.Question, "j": worth.Joke,
	"c": worth.Condition, "x": worth.Worked, "a": worth.Advice, "s": worth.Process, "r": worth.Rumour,
}

// message is a line of the corpus.
type message struct {
	New      int         `json:"new"`
	Language string      `json:"l"`
	Speaker  string      `json:"s"`
	Role     string      `json:"r"`
	Parts    [][2]string `json:"p"` // sentence and code
}

// example is a labelled sentence.
type example struct {
	worth.Example
	language     string
	conversation int
}

func main() {
	check := flag.Bool("check", false, "print what is right of talk that was left out, and write nothing")
	flag.Parse()
	all, err := read()
	if err != nil {
		log.Fatal(err)
	}
	if *check {
		crossCheck(all)
		return
	}
	if err := os.WriteFile("weights.bin", fit(all).Encode(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func fit(list []example) *worth.Model {
	examples := make([]worth.Example, len(list))
	for i, e := range list {
		examples[i] = e.Example
	}
	return worth.Fit(examples)
}

// read returns the sentences of the corpus.
func read() ([]example, error) {
	files, err := corpus.ReadDir("corpus")
	if err != nil {
		return nil, err
	}
	var out []example
	conversation := 0
	for _, f := range files {
		body, err := corpus.ReadFile("corpus/" + f.Name())
		if err != nil {
			return nil, err
		}
		var before message
		conversation++
		lines := bufio.NewScanner(bytes.NewReader(body))
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, err)
			}
			if m.New > 0 {
				conversation++
				before = message{}
				continue
			}
			for i := range m.Parts {
				e, err := m.example(i, before)
				if err != nil {
					return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, err)
				}
				e.conversation = conversation
				out = append(out, e)
			}
			before = m
		}
	}
	return out, nil
}

// said is when all messages of the corpus are taken to be said.
var said = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// example returns the labelled sentence i of a message.
func (m message) example(i int, before message) (example, error) {
	class, ok := codes[m.Parts[i][1]]
	if !ok {
		return example{}, fmt.Errorf("%q is no code", m.Parts[i][1])
	}
	s := worth.Sentence{
		Text: m.Parts[i][0], Assistant: m.Role == "assistant", Index: i, Count: len(m.Parts), Dated: len(date.Find(m.Parts[i][0], said, "")) > 0,
		AfterQuestion: i > 0 && worth.Asks(m.Parts[i-1][0]),
	}
	if n := len(before.Parts); i == 0 && n > 0 {
		s.Answers = before.Speaker != m.Speaker && worth.Asks(before.Parts[n-1][0])
	}
	return example{Example: worth.Example{Sentence: s, Class: class}, language: m.Language}, nil
}

// crossCheck leaves out a fifth of the conversations, and each language, in turn.
func crossCheck(all []example) {
	for _, by := range []struct {
		name  string
		group func(example) string
	}{
		{"conversations", func(e example) string { return strconv.Itoa(e.conversation % 5) }},
		{"a language", func(e example) string { return e.language }},
	} {
		var groups []string
		for _, e := range all {
			if g := by.group(e); !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
		var sum tally
		for _, g := range groups {
			var rest, left []example
			for _, e := range all {
				if by.group(e) == g {
					left = append(left, e)
				} else {
					rest = append(rest, e)
				}
			}
			m := fit(rest)
			var own tally
			for _, e := range left {
				own.add(e.Class, m.Judge(e.Sentence))
				sum.add(e.Class, m.Judge(e.Sentence))
			}
			if len(groups) > 5 {
				fmt.Printf("%-30s %s\n", "without "+g, own)
			}
		}
		fmt.Printf("%-30s %s\n", "without "+by.name, sum)
	}
}

// tally counts verdicts; a continuation is counted neither way.
type tally struct{ all, right, kept, keptRight, worth int }

func (t *tally) add(class worth.Class, v worth.Verdict) {
	if class == worth.Continuation {
		return
	}
	is := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	kept := v.Worth > .5
	t.all++
	t.right += is(kept == class.Worth())
	t.kept += is(kept)
	t.keptRight += is(kept && class.Worth())
	t.worth += is(class.Worth())
}

func (t tally) String() string {
	share := func(a, b int) string {
		return strings.TrimPrefix(fmt.Sprintf("%.3f", float64(a)/float64(max(b, 1))), "0")
	}
	return fmt.Sprintf("%5d sentences, right %s, precision %s, recall %s", t.all, share(t.right, t.all), share(t.keptRight, t.kept), share(t.keptRight, t.worth))
}
