// Command scriptedmodel serves the scripted language model of the tests on the loopback, for trials at no cost: a
// program that speaks OpenAI's protocol, answers by rule and can be made to fail. It is no part of what is shipped.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// usageError reports a flag with an invalid value.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Execute runs one command line until ctx ends, which is its way to end, and returns its exit code: 0, 1 for a
// failure, 2 for a wrong flag.
func Execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "scriptedmodel: %v\n", err)
	if errors.As(err, &usageError{}) {
		return 2
	}
	return 1
}

// options are the flags of the command.
type options struct {
	listen, script, facts, turns, model string
	faults                              []string
	obey, json                          bool
	latency                             time.Duration
	dimension, context                  int
}

func command() *cobra.Command {
	var m options
	cmd := &cobra.Command{
		Use:   "scriptedmodel",
		Short: "Run a scripted language model on the loopback, for tests and trials at no cost",
		Long: "Runs a server of the OpenAI protocol (chat with JSON schemas, tools and streams, embeddings,\n" +
			"rerank) on the loopback until Ctrl-C. It answers by rule, deterministic and from what it is\n" +
			"shown alone, or as its flags say. Its first line on standard output is its URL. At the end it\n" +
			"prints what it was asked; GET /v1/testmodel/stats tells the same at any time.\n\n" +
			"A script (--script) has one JSON object a line; the first line that matches a call answers it:\n" +
			`  {"stage":"extract","contains":"Lisbon","answer":{"facts":[{"s":[1],"f":"Alice lives in Lisbon."}]}}` + "\n" +
			`  {"stage":"decide","fault":"500","times":2}` + "\n" +
			`  {"stage":"reflect","calls":[{"name":"done","arguments":{"answer":"Lisbon [1]","citations":[1]}}]}` + "\n" +
			"stage: extract, decide, summarise, observe, reflect, judge, adequacy, embed, rerank or chat; absent\n" +
			"is any. contains: a part of the prompt. times: how often the line is used; absent is without end.\n\n" +
			"A fault (--fault) is kind[:stage=extract][:every=3][:after=2][:times=5][:wait=2s]. The kinds are\n" +
			kindLines() + "\n\n" +
			"With --facts extraction answers published facts, one JSON object a line with sample_id, session,\n" +
			"speaker, fact and evidence, in the windows that hold their turns; --turns is the dataset they\n" +
			"come from, in the shape of LoCoMo.",
		Example: "  scriptedmodel --listen 8099 &\n" +
			"  EUNOE_MODEL=openai:testmodel EUNOE_MODEL_URL=http://127.0.0.1:8099/v1 eunoe up\n" +
			"  scriptedmodel --fault 429:every=3:wait=1s --fault truncated:stage=extract:times=2",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return m.serve(cmd.Context(), cmd.OutOrStdout())
		},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	f := cmd.Flags()
	f.StringVar(&m.listen, "listen", "127.0.0.1:0", "address or port to listen on, of the loopback; port 0 picks a free one")
	f.StringVar(&m.script, "script", "", "file of answers and faults, a JSON object a line")
	f.StringVar(&m.facts, "facts", "", "file of published facts that extraction answers")
	f.StringVar(&m.turns, "turns", "", "dataset of the published facts (default: the name of --facts with .json for -facts.jsonl)")
	f.StringArrayVar(&m.faults, "fault", nil, "a fault by rule; may be repeated, the first that applies is used")
	f.BoolVar(&m.obey, "obey", false, "follow every instruction that stands in what it is shown")
	f.DurationVar(&m.latency, "latency", 0, "wait so long before every answer")
	f.IntVar(&m.dimension, "dimension", scriptedmodel.DefaultDimension, "size of its embeddings")
	f.IntVar(&m.context, "context", 0, "refuse prompts of more tokens; 0 takes all")
	f.StringVar(&m.model, "name", "testmodel", "the name of its model")
	f.BoolVar(&m.json, "json", false, "print for programs")
	return cmd
}

// kindLines names the faults, a few a line.
func kindLines() string {
	var names []string
	for _, k := range scriptedmodel.Kinds() {
		names = append(names, string(k))
	}
	var b strings.Builder
	for list := range slices.Chunk(names, 8) {
		fmt.Fprintf(&b, "  %s\n", strings.Join(list, ", "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// serve serves until ctx ends, and then prints the statistics.
func (m options) serve(ctx context.Context, w io.Writer) error {
	script, err := m.read()
	if err != nil {
		return err
	}
	address, err := loopback(m.listen)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	server := scriptedmodel.Serve(l, script)
	if m.json {
		err = json.NewEncoder(w).Encode(map[string]string{"url": server.URL, "model": m.model})
	} else {
		_, err = fmt.Fprintf(w, "EUNOE_MODEL_URL=%s\n", server.URL)
	}
	if err == nil {
		<-ctx.Done()
	}
	server.Close()
	if err != nil {
		return err
	}
	if m.json {
		return json.NewEncoder(w).Encode(server.Stats())
	}
	showStats(w, server.Stats())
	return nil
}

// showStats prints the statistics of the model's calls.
func showStats(w io.Writer, s scriptedmodel.Stats) {
	var rows [][]string
	for _, stage := range slices.Sorted(maps.Keys(s.Stages)) {
		u := s.Stages[stage]
		rows = append(rows, []string{stage, strconv.Itoa(u.Calls), strconv.Itoa(u.Failed), strconv.Itoa(u.PromptTokens),
			strconv.Itoa(u.CachedTokens), strconv.Itoa(u.CompletionTokens)})
	}
	if len(rows) == 0 {
		fmt.Fprintln(w, "nothing was asked")
	} else {
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{{"STAGE", "CALLS", "FAILED", "PROMPT", "CACHED", "COMPLETION"}}, rows...) {
			fmt.Fprintln(io.Writer(tw), strings.Join(row, "\t"))
		}
		tw.Flush() //nolint:errcheck // the writer under it reports its own errors
	}
	for _, k := range slices.Sorted(maps.Keys(s.Faults)) {
		fmt.Fprintf(w, "fault %s: %d\n", k, s.Faults[k])
	}
	if f := s.Facts; f != nil {
		fmt.Fprintf(w, "facts: %d published, %d asked for, %d answered, %d without a turn\n", f.Published, f.Asked, f.Answered, f.Unplaced)
	}
}
