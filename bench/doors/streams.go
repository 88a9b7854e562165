package doors

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Streams are what open event streams take and how soon they deliver.
type Streams struct {
	Memory    int64 // bytes that the process of Eunoe grew by
	Changes   int
	Late      int             // deliveries that did not come within ten seconds of the last change
	Delivered []time.Duration // from before the publish until a stream has the change
}

// streamsHold is how long changes come.
const streamsHold = 10 * time.Second

// openStreams holds event streams open and publishes messages; each makes a change of its bank.
func (e running) openStreams(ctx context.Context, cfg Config) (out Streams, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		sent  = map[string]time.Time{} // by message id
		times []time.Duration
	)
	run := time.Now().UnixNano() // a directory that is used again has the messages of the run before
	seen := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		if at, ok := sent[id]; ok {
			times = append(times, time.Since(at))
		}
	}
	bankOf := func(i int) memory.BankID { return memory.BankID(fmt.Sprintf("streams-%d", (i+cfg.Banks)%cfg.Banks)) }
	publish := func(i int) (uint64, error) {
		id := fmt.Sprintf("change-%d-%d", run, i)
		if i < 0 {
			id = fmt.Sprintf("made-%d%d", run, i)
		}
		mu.Lock()
		sent[id] = time.Now()
		mu.Unlock()
		return e.client.Publish(ctx, bankOf(i), "s", memory.Message{ID: memory.MessageID(id), Role: memory.RoleSystem, Content: "A change."})
	}
	wait := memory.Duration(10 * time.Second)
	for i := range cfg.Banks { // which makes the bank
		seq, err := publish(-cfg.Banks + i)
		if err != nil {
			return out, err
		}
		if _, err := e.client.Recall(ctx, bankOf(i), wire.RecallRequest{Query: "change", After: seq, Wait: &wait}); err != nil {
			return out, err
		}
	}
	before, err := residentOf(e.pid)
	if err != nil {
		return out, err
	}
	opened := make(chan error, cfg.Streams)
	tr := &http.Transport{MaxConnsPerHost: 0}
	defer tr.CloseIdleConnections()
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	for i := range cfg.Streams {
		readers.Add(1)
		go func() {
			defer readers.Done()
			e.follow(ctx, tr, bankOf(i), opened, seen)
		}()
	}
	for range cfg.Streams {
		if err := <-opened; err != nil {
			return out, err
		}
	}
	tick := time.NewTicker(time.Second / time.Duration(cfg.Changes))
	defer tick.Stop()
	for began, i := time.Now(), 0; time.Since(began) < streamsHold; i++ {
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-tick.C:
		}
		if _, err := publish(i); err != nil {
			return out, err
		}
		out.Changes++
	}
	after, err := residentOf(e.pid)
	if err != nil {
		return out, err
	}
	want := out.Changes * (cfg.Streams / cfg.Banks)
	for began := time.Now(); time.Since(began) < 10*time.Second; {
		mu.Lock()
		n := len(times)
		mu.Unlock()
		if n >= want {
			break
		}
		<-tick.C
	}
	mu.Lock()
	defer mu.Unlock()
	if len(times) == 0 {
		return out, fmt.Errorf("the streams delivered none of %d changes", want)
	}
	out.Late = max(0, want-len(times))
	out.Memory, out.Delivered = after-before, times
	return out, nil
}

// follow reads the events of a bank until ctx ends, and calls seen with the messages that they are about.
func (e running) follow(ctx context.Context, tr *http.Transport, bank memory.BankID, opened chan<- error, seen func(id string)) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.http+"/v1/banks/"+string(bank)+"/events", nil)
	if err != nil {
		opened <- err
		return
	}
	resp, err := tr.RoundTrip(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", req.URL, resp.Status)
	}
	opened <- err
	if err != nil {
		return
	}
	defer resp.Body.Close()  //nolint:errcheck // the measurement is over
	had := map[string]bool{} // a message makes another change when its window ends
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), `"change-`); ok {
			n, _, _ := strings.Cut(rest, `"`)
			if !had[n] {
				seen("change-" + n)
			}
			had[n] = true
		}
	}
}

// residentOf returns the bytes of memory that a process holds.
func residentOf(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(rest + " ")[0], 10, 64)
	return kib << 10, err
}
