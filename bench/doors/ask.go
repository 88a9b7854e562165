package doors

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// ask asks each question by every door, in turns that begin with another one each time.
func (r *Figures) ask(ctx context.Context, e running, model string, cfg Config, asked func()) error {
	stdio := exec.CommandContext(ctx, cfg.Eunoe, "mcp", "--bank", string(synthetic.Bank), "--url", e.nats) //nolint:gosec // the caller names it
	session, err := sdk.NewClient(&sdk.Implementation{Name: "eunoe-bench", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: stdio}, nil)
	if err != nil {
		return fmt.Errorf("eunoe mcp: %w", err)
	}
	defer session.Close() //nolint:errcheck // it only asked
	const warm = 20
	limit, tokens := 10, 1500
	times := make([][]time.Duration, 5)
	doors := []func(string) error{
		func(q string) error {
			_, err := e.client.Recall(ctx, synthetic.Bank, wire.RecallRequest{Query: q, MaxFacts: &limit, MaxTokens: &tokens})
			return err
		},
		func(q string) error {
			_, err := e.post(ctx, "/v1/banks/"+string(synthetic.Bank)+"/recall", wire.RecallRequest{Query: q, MaxFacts: &limit, MaxTokens: &tokens})
			return err
		},
		func(q string) error {
			said, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "memory_recall", Arguments: map[string]any{"query": q}})
			if err == nil && said.IsError {
				err = errors.New("memory_recall refused a question")
			}
			return err
		},
		func(q string) error { return e.firstToken(ctx, model+"/chat/completions", q) },
		func(q string) error {
			return e.firstToken(ctx, e.http+"/v1/banks/"+string(synthetic.Bank)+"/chat/completions", q)
		},
	}
	// The proxy stores what it passes on: it is asked after the doors that only read.
	for _, turn := range [][]int{{0, 1, 2}, {3, 4}} {
		for i, q := range cfg.Questions {
			for k := range turn {
				door := turn[(i+k)%len(turn)]
				began := time.Now()
				if err := doors[door](q); err != nil {
					return err
				}
				if i >= warm || len(cfg.Questions) <= warm {
					times[door] = append(times[door], time.Since(began))
				}
			}
			asked()
		}
	}
	r.NATS, r.HTTP, r.MCP, r.Direct, r.Proxy = times[0], times[1], times[2], times[3], times[4]
	return nil
}

// firstToken asks a model for a streamed answer and reads its first event.
func (e running) firstToken(ctx context.Context, url, question string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := e.open(ctx, url, map[string]any{"model": "none", "stream": true, "messages": []map[string]string{{"role": "user", "content": question}}})
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "data:") {
		err = fmt.Errorf("%s answers with %.80q", url, line)
	}
	return errors.Join(err, drain(resp.Body))
}

func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// publishers is how many batches are under way at a time.
const publishers = 4

// published is the bank that batches go to.
const published = memory.BankID("doors")

// publish publishes messages in batches of 100.
func (r *Figures) publish(ctx context.Context, e running, cfg Config) error {
	const batch = 100
	var mu sync.Mutex
	var times []time.Duration
	work := make(chan []any)
	errs := make(chan error, publishers)
	began := time.Now()
	for p := range publishers {
		go func() {
			for messages := range work {
				at := time.Now()
				if _, err := e.post(ctx, fmt.Sprintf("/v1/banks/%s/sessions/batch-%d/messages", published, p), messages); err != nil {
					errs <- err
					return
				}
				mu.Lock()
				times = append(times, time.Since(at))
				mu.Unlock()
			}
			errs <- nil
		}()
	}
	sent := 0
	var failed error
	for ; sent < cfg.Messages && failed == nil; sent += batch {
		messages := make([]any, batch)
		for i := range messages {
			messages[i] = cfg.Message()
		}
		select {
		case work <- messages:
		case failed = <-errs:
		}
	}
	close(work)
	for range publishers {
		if failed == nil {
			failed = <-errs
		}
	}
	r.Published, r.Batches = float64(sent)/time.Since(began).Seconds(), times
	return failed
}
