package main

import (
	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/internal/app/extractor"
	"github.com/eunoe-memory/eunoe/internal/app/ingest"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	appquery "github.com/eunoe-memory/eunoe/internal/app/query"
	"github.com/eunoe-memory/eunoe/internal/console"

	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// runExtractors measures each number of extractors on a pipeline of its own.
func (a *cli) runExtractors(ctx context.Context, f extractorFlags, progress io.Writer) (extractorFigures, error) {
	out := extractorFigures{Latency: f.latency.String(), Processes: f.binary != ""}
	bar := console.NewBar(progress, len(f.counts), "extracting")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	for _, n := range f.counts {
		r, err := a.rateOf(ctx, f, n)
		if err != nil {
			return out, fmt.Errorf("%d extractors: %w", n, err)
		}
		r.Ratio = 1
		if len(out.Runs) > 0 {
			r.Ratio = r.PerSecond / out.Runs[0].PerSecond
		}
		out.Runs = append(out.Runs, r)
		bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
	}
	return out, nil
}

// rateOf runs n extractors beside the other stages and measures them.
func (a *cli) rateOf(ctx context.Context, f extractorFlags, n int) (out extractorRate, err error) {
	dir, remove, err := console.TempDir()
	if err != nil {
		return out, err
	}
	defer remove()
	broker, err := natsd.Start(natsd.Config{Dir: dir + "/streams", Port: natsd.RandomPort})
	if err != nil {
		return out, err
	}
	defer broker.Shutdown()
	model, err := serveScript(ctx, &scriptedmodel.Script{Latency: f.latency})
	if err != nil {
		return out, err
	}
	defer model.Close()
	more := scriptedSettings(model.URL)
	more["URL"], more["IDLE_AFTER"] = broker.ClientURL(), "1h"
	cfg, err := a.TempSettings(dir, more)
	if err != nil {
		return out, err
	}
	running, stop := context.WithCancel(ctx)
	group, running := errgroup.WithContext(running)
	defer func() {
		stop()
		// When one of them fails, the others and the measuring are cancelled.
		if ended := group.Wait(); ended != nil && !errors.Is(ended, context.Canceled) && (err == nil || ctx.Err() == nil) {
			err = ended
		}
	}()
	for _, s := range []process.Stage{ingest.Stage(), consolidator.Stage(), appquery.Stage()} {
		group.Go(func() error { return process.Run(running, cfg, s) })
	}
	for range n {
		group.Go(func() error {
			if f.binary == "" {
				return process.Run(running, cfg, extractor.Stage())
			}
			return runBinary(running, f.binary, more)
		})
	}
	settings := a.Config(program)
	settings.URL, settings.Creds, settings.InboxPrefix = cfg.URL, "", ""
	c, err := client.Connect(running, settings)
	if err != nil {
		return out, err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	if err := awaitStages(running, c, map[string]int{"eunoe-ingest": 1, "eunoe-consolidator": 1, query.ServiceName: 1, "eunoe-extractor": n}); err != nil {
		return out, err
	}
	// The first windows make whatever is made at first use.
	if _, err := extractWindows(running, c, "warm", 4*n); err != nil {
		return out, err
	}
	took, err := extractWindows(running, c, "bench", f.windows*n)
	return extractorRate{Extractors: n, Windows: f.windows * n, Took: took.Round(time.Millisecond).String(), PerSecond: float64(f.windows*n) / took.Seconds()}, err
}

// runBinary runs an extractor as a process until ctx ends.
func runBinary(ctx context.Context, path string, settings map[string]string) error {
	cmd := exec.CommandContext(ctx, path)
	for name, value := range settings {
		cmd.Env = append(cmd.Env, "EUNOE_"+name+"="+value)
	}
	cmd.Env = append(cmd.Env, "EUNOE_LOG=error", "PATH="+os.Getenv("PATH"))
	said := &strings.Builder{}
	cmd.Stderr = said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w: %s", path, err, strings.TrimSpace(said.String()))
	}
	return nil
}

// awaitStages waits up to a minute until as many instances of each service answer as are wanted.
func awaitStages(ctx context.Context, c *client.Client, want map[string]int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for name, n := range want {
		for {
			there, err := instances(ctx, c.Conn().NC, name, n)
			if err != nil {
				return err
			}
			if there >= n {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%d of %d %s run: %w", there, n, name, ctx.Err())
			}
		}
	}
	return nil
}

// instances counts the instances of a service that answer within 200 ms, up to n.
func instances(ctx context.Context, nc *nats.Conn, name string, n int) (int, error) {
	inbox := nc.NewInbox()
	replies, err := nc.SubscribeSync(inbox)
	if err != nil {
		return 0, err
	}
	defer replies.Unsubscribe() //nolint:errcheck // the connection ends soon
	if err := nc.PublishRequest("$SRV.PING."+name, inbox, nil); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	found := 0
	for found < n {
		m, err := replies.NextMsgWithContext(ctx)
		if err != nil {
			break
		}
		if len(m.Data) > 0 { // not the broker's reply that nobody listens
			found++
		}
	}
	return found, nil
}

// extractWindows publishes n sessions of one window each to a bank and returns the time from the first flush to the end of
// the last window.
func extractWindows(ctx context.Context, c *client.Client, bank memory.BankID, n int) (time.Duration, error) {
	for i := range n {
		for _, m := range windowTalk(i) {
			if _, err := c.Publish(ctx, bank, sessionOf(i), m); err != nil {
				return 0, err
			}
		}
	}
	began := time.Now()
	for i := range n {
		if _, err := c.Flush(ctx, bank, sessionOf(i)); err != nil {
			return 0, err
		}
	}
	st, err := settledSoon(ctx, c, bank)
	took := time.Since(began)
	if err == nil && (st.Dead > 0 || st.Facts == 0) {
		err = fmt.Errorf("%d windows are dead, and %d facts came of %d", st.Dead, st.Facts, n)
	}
	return took, err
}

// settledSoon waits until a bank is settled. It asks every 40 ms, for the time is measured.
func settledSoon(ctx context.Context, c *client.Client, bank memory.BankID) (wire.Status, error) {
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := c.Status(ctx, bank)
		if err != nil && !errors.Is(err, memory.ErrNotFound) || err == nil && st.Settled {
			return st, err
		}
		select {
		case <-ctx.Done():
			return st, ctx.Err()
		case <-tick.C:
		}
	}
}

func sessionOf(i int) memory.SessionID { return memory.SessionID("s" + strconv.Itoa(i)) }

// windowTalk returns a short conversation from which facts can be extracted, a different one for each i.
func windowTalk(i int) []memory.Message {
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).AddDate(0, 0, i)
	pick := func(of string, step int) string {
		words := strings.Fields(of)
		return words[(i*step+i/len(words))%len(words)]
	}
	plant := pick("tulips oaks beans roses ferns lilies pines leeks vines hops pears", 1)
	tool := pick("shovel ladder barrow kettle anvil bicycle drill", 3)
	animal := pick("goats ducks horses bees llamas rabbits geese sheep mules", 2)
	var out []memory.Message
	for j, said := range []struct{ who, what string }{
		{"Ana", fmt.Sprintf("I planted %d %s behind the school on Saturday.", i+3, plant)},
		{"Ben", "That sounds like work!"},
		{"Ana", fmt.Sprintf("My neighbour lent me a %s for %d days.", tool, i+1)},
		{"Ben", fmt.Sprintf("I keep %d %s near the river.", i+2, animal)},
	} {
		out = append(out, memory.Message{Speaker: said.who, Content: said.what, Time: day.Add(time.Duration(j) * time.Minute)})
	}
	return out
}
