package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/freeport"
)

// Instance is a whole Eunoe in one process, watched while it works.
type Instance struct {
	Dir  string
	p    *process
	url  string
	http string
}

// NewInstance starts it in dir and returns when its endpoints answer. It syncs before it acknowledges.
func NewInstance(ctx context.Context, bin, dir string) (*Instance, error) {
	ports, err := freeport.Take(ctx, 2)
	if err != nil {
		return nil, err
	}
	s := &Instance{Dir: dir, url: fmt.Sprintf("nats://127.0.0.1:%d", ports[0]), http: fmt.Sprintf("127.0.0.1:%d", ports[1])}
	s.p = &process{name: "eunoe", bin: bin, args: []string{"up", "--data", dir, "--port", strconv.Itoa(ports[0])},
		env: []string{"EUNOE_HEALTH=" + s.http, "EUNOE_HTTP=off", "EUNOE_LOG=warn"}, log: filepath.Join(dir, "eunoe.log")}
	if err := s.p.start(); err != nil {
		return nil, err
	}
	for {
		c, err := s.Client(ctx)
		if err == nil {
			_, err = client.Call(ctx, c, wire.Banks, "", wire.BanksRequest{})
			err = errors.Join(err, c.Close())
		}
		if err == nil {
			return s, nil
		}
		if waited := pass(ctx, 100*time.Millisecond); waited != nil {
			return nil, errors.Join(fmt.Errorf("the endpoints do not answer: %w", err), s.Close())
		}
	}
}

// Client connects as a bot does.
func (s *Instance) Client(ctx context.Context) (*client.Client, error) {
	cfg := client.DefaultConfig()
	cfg.URL, cfg.Name, cfg.Timeout = s.url, "soak", time.Minute
	return client.Connect(ctx, cfg)
}

// Close stops it gracefully.
func (s *Instance) Close() error { return s.p.end() }

// Sample is what a process takes, and its progress, at one time.
type Sample struct {
	At         time.Duration // since the watch began
	Resident   float64       // bytes of memory
	Heap       float64       // bytes of it that Go uses; the rest is SQLite's, and what is free
	Goroutines float64
	WAL        int64   // bytes of the store's write-ahead log
	Messages   float64 // events in MEM_MESSAGES
	Behind     float64 // of them, those that are not in the store
	Windows    float64 // that wait to be extracted
}

// Watch takes a sample each period until ctx ends.
func (s *Instance) Watch(ctx context.Context, period time.Duration) ([]Sample, error) {
	began := time.Now()
	tick := time.NewTicker(period)
	defer tick.Stop()
	var out []Sample
	for {
		select {
		case <-ctx.Done():
			return out, nil
		case <-tick.C:
		}
		m, err := s.metrics(ctx)
		if ctx.Err() != nil {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		x := Sample{At: time.Since(began), Resident: m["process_resident_memory_bytes"], Heap: m["go_memstats_heap_inuse_bytes"], Goroutines: m["go_goroutines"],
			Messages: m[`eunoe_stream_messages{stream="messages"}`], Windows: m[`eunoe_stream_messages{stream="windows"}`]}
		x.Behind = max(0, x.Messages-m[`eunoe_applied_sequence{stream="messages"}`])
		if info, err := os.Stat(filepath.Join(s.Dir, "eunoe.db-wal")); err == nil {
			x.WAL = info.Size()
		}
		if x.Resident == 0 || x.Goroutines == 0 {
			return out, fmt.Errorf("the metrics lack the memory or the goroutines of the process: %v", m)
		}
		out = append(out, x)
	}
}

// metrics reads the metrics, by name and labels.
func (s *Instance) metrics(ctx context.Context) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.http+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	out := map[string]float64{}
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 16<<20))
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), " ")
		if f, err := strconv.ParseFloat(value, 64); found && err == nil && !strings.HasPrefix(name, "#") {
			out[name] = f
		}
	}
	return out, lines.Err()
}

// Growth returns by how much a line fitted to a figure rises over the second half of the samples, and the mean of that
// half. The slope is the Theil-Sen estimate, the median of the slopes between every two samples, which short peaks do
// not move. The first half is left out: caches fill in it, and the broker's table of recent ids grows.
func Growth(list []Sample, figure func(Sample) float64) (rise, mean float64) {
	half := list[len(list)/2:]
	if len(half) < 2 {
		return 0, 0
	}
	var slopes []float64
	for i, b := range half {
		mean += figure(b) / float64(len(half))
		for _, a := range half[:i] {
			if d := (b.At - a.At).Seconds(); d > 0 {
				slopes = append(slopes, (figure(b)-figure(a))/d)
			}
		}
	}
	slices.Sort(slopes)
	return slopes[len(slopes)/2] * (half[len(half)-1].At - half[0].At).Seconds(), mean
}
