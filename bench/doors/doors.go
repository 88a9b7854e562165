// Package doors measures what HTTP, the Model Context Protocol and the chat proxy take beyond NATS, on an Eunoe that runs in
// a process of its own.
package doors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/freeport"
)

// Config says what is measured.
type Config struct {
	Eunoe     string     // the program
	Dir       string     // data directory, whose store is filled
	Questions []string   // asked by each door
	Message   func() any // a message to publish
	Messages  int        // published in batches
	Streams   int        // event streams held open
	Banks     int        // that the streams are spread over
	Changes   int        // a second, while streams are open
}

// Figures are times by door, and what event streams take.
type Figures struct {
	NATS, HTTP, MCP, Direct, Proxy []time.Duration
	Batches                        []time.Duration
	Published                      float64 // messages a second
	Streams                        Streams
}

// settled is how long what was published may take until it is worked up.
const settled = 10 * time.Minute

// running is an `eunoe up` in a process of its own.
type running struct {
	nats, http string
	pid        int
	web        *http.Client
	client     *client.Client
}

// Measure runs Eunoe on a filled store, with a model that answers at once behind its chat proxy. It calls asked twice
// for each question.
func Measure(ctx context.Context, cfg Config, asked func()) (out Figures, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	model, err := serveModel(ctx)
	if err != nil {
		return out, err
	}
	ports, err := freeport.Take(ctx, 2)
	if err != nil {
		return out, err
	}
	e := running{nats: fmt.Sprintf("nats://127.0.0.1:%d", ports[0]), http: fmt.Sprintf("http://127.0.0.1:%d", ports[1])}
	args := []string{"up", "--data", cfg.Dir, "--port", fmt.Sprint(ports[0]), "--http", fmt.Sprintf("127.0.0.1:%d", ports[1])}
	up := exec.CommandContext(ctx, cfg.Eunoe, args...) //nolint:gosec // the caller names it
	up.Cancel = func() error { return up.Process.Signal(os.Interrupt) }
	up.WaitDelay = 20 * time.Second
	up.Env = append(os.Environ(), "EUNOE_SYNC=true", "EUNOE_LOG=error", "EUNOE_CHAT_UPSTREAM="+model, "EUNOE_HTTP_RATE=0")
	up.Stderr = os.Stderr
	if err := up.Start(); err != nil {
		return out, fmt.Errorf("start %s: %w", cfg.Eunoe, err)
	}
	defer func() {
		cancel()
		if end := up.Wait(); err == nil && end != nil && !errors.Is(end, context.Canceled) {
			err = fmt.Errorf("%s up: %w", cfg.Eunoe, end)
		}
	}()
	e.pid = up.Process.Pid
	tr := &http.Transport{MaxIdleConnsPerHost: 16}
	defer tr.CloseIdleConnections()
	e.web = &http.Client{Transport: tr}
	if err := e.ready(ctx); err != nil {
		return out, err
	}
	c := client.DefaultConfig()
	c.URL = e.nats
	if e.client, err = client.Connect(ctx, c); err != nil {
		return out, err
	}
	defer e.client.Close() //nolint:errcheck // it only asked
	if err := out.ask(ctx, e, model, cfg, asked); err != nil {
		return out, err
	}
	if err := out.publish(ctx, e, cfg); err != nil {
		return out, err
	}
	settle, stop := context.WithTimeout(ctx, settled)
	defer stop()
	if _, err := e.client.WaitSettled(settle, published, nil); err != nil { // else its windows are what the changes wait for
		return out, fmt.Errorf("what was published does not settle: %w", err)
	}
	out.Streams, err = e.openStreams(ctx, cfg)
	return out, err
}

// ready waits until the gateway answers for the query service.
func (e running) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := e.post(ctx, "/v1/banks/"+string(synthetic.Bank)+"/recall", wire.RecallRequest{Query: "ready"}); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("eunoe up does not answer: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// post sends a request and reads its whole answer, which must be of success.
func (e running) post(ctx context.Context, path string, body any) ([]byte, error) {
	resp, err := e.open(ctx, e.http+path, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	out, err := io.ReadAll(resp.Body)
	return out, err
}

// open sends a request; the answer, which is of success, is not read.
func (e running) open(ctx context.Context, url string, body any) (*http.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.web.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()                                 //nolint:errcheck // it failed already
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) //nolint:errcheck // it explains an error
		return nil, fmt.Errorf("POST %s: %s %s", url, resp.Status, said)
	}
	return resp, nil
}

// serveModel serves chat completions whose first token comes at once, and returns its base URL.
func serveModel(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := drain(r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":"Yes."}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"} {
			fmt.Fprintf(w, "data: %s\n\n", event) //nolint:errcheck // the asker is gone
			http.NewResponseController(w).Flush() //nolint:errcheck // the asker is gone
		}
	})}
	go s.Serve(l)                                //nolint:errcheck // it ends with the measurement
	context.AfterFunc(ctx, func() { s.Close() }) //nolint:errcheck // the measurement is over
	return "http://" + l.Addr().String() + "/v1", nil
}
