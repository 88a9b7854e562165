package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// sentence is a labelled sentence, or two that are said a month apart.
type sentence struct {
	Kind     string      `json:"kind"`
	Text     string      `json:"text"`
	First    string      `json:"first"`
	Second   string      `json:"second"`
	Speaker  string      `json:"speaker"`
	Now      time.Time   `json:"now"`
	Spans    [][2]string `json:"spans"` // date: the days, first and last, of which one pair is right
	Must     string      `json:"must"`
	Question string      `json:"question"`
	Old      string      `json:"old"`
	New      string      `json:"new"` // a regular expression, in any case
}

// When sentences are said that do not say so, the second ones, and when questions are asked.
var (
	firstSaid  = time.Date(2026, 4, 14, 10, 0, 0, 0, time.UTC)
	secondSaid = time.Date(2026, 5, 14, 10, 0, 0, 0, time.UTC)
	askedAt    = time.Date(2026, 5, 15, 10, 0, 0, 0, time.UTC)
)

// sentenceFigures is what sentences prints with --json.
type sentenceFigures struct {
	Kinds  []changeKind `json:"kinds"`
	Misses []string     `json:"misses"`
}

func (a *cli) sentencesCommand() *cobra.Command {
	var file string
	var misses bool
	cmd := &cobra.Command{
		Use:   "sentences",
		Short: "Measure what becomes of labelled sentences",
		Long: "Publishes each sentence of a file to a bank of its own and looks at its facts. Kinds: date (a fact\n" +
			"names a labelled span), nodate (none names a day), verbatim (facts hold the whole sentence), keep (a\n" +
			"fact holds a string), noise (no fact), change (the newer statement stands first, the older one ended or\n" +
			"is in an open conflict), stay (both facts hold), who (the first item holds a string).",
		Example: "  eunoe-bench sentences --dataset facts.json --misses",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			body, err := os.ReadFile(file)
			if err != nil {
				return console.Usagef("--dataset: %v", err)
			}
			var list []sentence
			if err := json.Unmarshal(body, &list); err != nil {
				return console.Usagef("--dataset %s: %v", file, err)
			}
			o := runOptions{}
			var out sentenceFigures
			err = a.withPipeline(cmd, retrievalFlags{}, &o, func(c *client.Client) error {
				out, err = runSentences(cmd.Context(), c, list)
				return err
			})
			if err != nil {
				return err
			}
			if a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), out)
			}
			out.show(cmd.OutOrStdout(), misses)
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "dataset", "", "the file with the sentences")
	cmd.Flags().BoolVar(&misses, "misses", false, "list what is wrong")
	return cmd
}

func (f sentenceFigures) show(w io.Writer, misses bool) {
	for _, k := range f.Kinds {
		fmt.Fprintf(w, "%-9s %3d of %3d  %5.1f %%\n", k.Kind, k.Right, k.Asked, 100*float64(k.Right)/float64(k.Asked))
	}
	if misses {
		for _, m := range f.Misses {
			fmt.Fprintln(w, m)
		}
	}
}

// runSentences publishes all sentences, and judges each bank when it is settled.
func runSentences(ctx context.Context, c *client.Client, list []sentence) (sentenceFigures, error) {
	out := sentenceFigures{Misses: []string{}}
	bank := func(i int) memory.BankID { return memory.BankID(fmt.Sprintf("bench-sentence-%04d", i)) }
	for i, s := range list {
		for _, m := range s.messages() {
			if _, err := c.Publish(ctx, bank(i), "s", m); err != nil {
				return out, err
			}
			if _, err := c.Flush(ctx, bank(i), "s"); err != nil {
				return out, err
			}
		}
	}
	for i, s := range list {
		if err := waitSettled(ctx, c, bank(i), time.Minute); err != nil {
			return out, err
		}
		right, got, err := s.judge(ctx, c, bank(i))
		if err != nil {
			return out, err
		}
		k := slices.IndexFunc(out.Kinds, func(k changeKind) bool { return k.Kind == s.Kind })
		if k < 0 {
			k = len(out.Kinds)
			out.Kinds = append(out.Kinds, changeKind{Kind: s.Kind})
		}
		out.Kinds[k].Asked++
		if right {
			out.Kinds[k].Right++
		} else {
			out.Misses = append(out.Misses, fmt.Sprintf("%s: %s%s %s: %s", s.Kind, s.Text, s.First, s.Second, strings.Join(got, " | ")))
		}
	}
	return out, nil
}

// messages returns what is published for a sentence.
func (s sentence) messages() []memory.Message {
	m := memory.Message{Role: memory.RoleUser, Speaker: "Ana", Content: s.Text + s.First, Time: firstSaid}
	if s.Speaker != "" {
		m.Speaker = s.Speaker
	}
	if !s.Now.IsZero() {
		m.Time = s.Now
	}
	if s.Second == "" {
		return []memory.Message{m}
	}
	return []memory.Message{m, {Role: memory.RoleUser, Speaker: "Ana", Content: s.Second, Time: secondSaid}}
}

// judge compares a settled bank with the label of its sentence; got is what it holds.
func (s sentence) judge(ctx context.Context, c *client.Client, bank memory.BankID) (right bool, got []string, err error) {
	page, err := c.List(ctx, bank, wire.ListRequest{Record: memory.RecordFact, Limit: 200})
	if err != nil {
		return false, nil, err
	}
	facts := page.Items
	for _, f := range facts {
		got = append(got, f.Text)
	}
	said := s.messages()[0]
	ofSaying := [2]string{said.Time.Format(time.DateOnly), said.Time.Format(time.DateOnly)}
	all := func(test func(memory.Item) bool) bool {
		return !slices.ContainsFunc(facts, func(f memory.Item) bool { return !test(f) })
	}
	switch s.Kind {
	case "date":
		right = slices.ContainsFunc(facts, func(f memory.Item) bool { d, ok := daysOf(f); return ok && slices.Contains(s.Spans, d) })
	case "nodate":
		right = all(func(f memory.Item) bool { d, ok := daysOf(f); return !ok || d == ofSaying })
	case "verbatim":
		right = all(func(f memory.Item) bool { return strings.Contains(wordsOf(f.Text), wordsOf(s.Text)) })
	case "keep":
		right = slices.ContainsFunc(facts, func(f memory.Item) bool { return strings.Contains(f.Text, s.Must) })
	case "noise":
		right = len(facts) == 0
	case "stay":
		right = len(slices.DeleteFunc(slices.Clone(facts), func(f memory.Item) bool { return !holds(f) })) >= 2
	case "change":
		return s.judgeChange(ctx, c, bank, facts, got)
	case "who":
		r, err := c.Recall(ctx, bank, wire.RecallRequest{Query: s.Question, Now: &askedAt})
		if err != nil {
			return false, got, err
		}
		right = len(r.Items) > 0 && strings.Contains(r.Items[0].Text, s.Must)
	default:
		return false, got, memory.Invalid("kind", "is %q; expected date, nodate, verbatim, keep, noise, stay, change or who", s.Kind)
	}
	return right, got, nil
}

// judgeChange reports whether the newer statement is found first and the older one does not simply hold on.
func (s sentence) judgeChange(ctx context.Context, c *client.Client, bank memory.BankID, facts []memory.Item, got []string) (bool, []string, error) {
	newer, err := regexp.Compile("(?i)" + s.New)
	if err != nil {
		return false, got, memory.Invalid("new", "%v", err)
	}
	isOld := func(f memory.Item) bool {
		return strings.Contains(strings.ToLower(f.Text), strings.ToLower(s.Old)) && !newer.MatchString(f.Text)
	}
	r, err := c.Recall(ctx, bank, wire.RecallRequest{Query: s.Question, Filter: memory.Filter{Records: []memory.Record{memory.RecordFact}}, Now: &askedAt})
	if err != nil {
		return false, got, err
	}
	conflicts, err := c.Conflicts(ctx, bank, wire.ConflictRequest{State: memory.ConflictOpen})
	if err != nil {
		return false, got, err
	}
	first := slices.IndexFunc(r.Items, func(f memory.Item) bool { return newer.MatchString(f.Text) })
	old := slices.IndexFunc(r.Items, isOld)
	ended := !slices.ContainsFunc(facts, func(f memory.Item) bool { return isOld(f) && holds(f) })
	return first >= 0 && (old < 0 || first < old) && (ended || len(conflicts.Items) > 0), got, nil
}

// holds reports whether a fact is valid with an open end, or for ever.
func holds(f memory.Item) bool {
	return len(f.Valid) == 0 || slices.ContainsFunc(f.Valid, func(i memory.Interval) bool { return i.To == nil })
}

// daysOf returns the first and the last day that a fact names.
func daysOf(f memory.Item) (days [2]string, ok bool) {
	if f.Occurred == nil || f.Occurred.From == nil {
		return days, false
	}
	from, to := f.Occurred.From, f.Occurred.To
	if to == nil {
		to = from
	}
	return [2]string{from.Format(time.DateOnly), to.Format(time.DateOnly)}, true
}

var (
	yearInBrackets = regexp.MustCompile(`\([^)]*\d{4}\)`)
	betweenWords   = regexp.MustCompile(`[^\pL\pN\pM]+`)
)

// wordsOf returns the words of a text in lower case, without dates in brackets.
func wordsOf(s string) string {
	return strings.ToLower(strings.TrimSpace(betweenWords.ReplaceAllString(yearInBrackets.ReplaceAllString(s, ""), " ")))
}
