package gateway_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	pkggateway "github.com/eunoe-memory/eunoe/pkg/gateway"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// openFor starts a deployment with a bot for each bank, and returns their seeds in the same order.
func openFor(t *testing.T, overrides map[string]string, banks ...string) (d *door, seeds []string) {
	t.Helper()
	set := map[string]string{"HTTP": "127.0.0.1:0", "LOG": "fatal"}
	for k, v := range overrides {
		set[k] = v
	}
	c := apptest.Settings(t, set)
	naming := events.Naming{Prefix: c.Prefix}
	if _, err := access.Init(c.AuthDirectory(), naming); err != nil {
		t.Fatal(err)
	}
	for _, bank := range banks {
		keep := func(seed []byte) error { seeds = append(seeds, strings.TrimSpace(string(seed))); return nil }
		if _, err := access.Add(c.AuthDirectory(), naming, access.User{Name: bank, Role: access.RoleBot, Bank: memory.BankID(bank)}, time.Now(), keep); err != nil {
			t.Fatal(err)
		}
	}
	return doorOf(t, apptest.Start(t, c, gateway.Stage())), seeds
}

// as gives a request a key.
func as(seed string, r *http.Request) *http.Request {
	r.Header.Set("Authorization", "Bearer "+seed)
	return r
}

// packed gives a request a body that is packed with gzip.
func packed(t *testing.T, r *http.Request, body string) *http.Request {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(second(io.WriteString(z, body)), z.Close()); err != nil {
		t.Fatal(err)
	}
	r.Body, r.ContentLength = io.NopCloser(&b), int64(b.Len())
	r.Header.Set("Content-Encoding", "gzip")
	return r
}

func second(_ int, err error) error { return err }

func TestWhoIsRefusedKeepsNoConnection(t *testing.T) {
	t.Parallel()
	d, seeds := openFor(t, nil, "bruna")
	host := strings.TrimPrefix(d.Gateway, "http://")
	head := func(path, more string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\n" + more + "Content-Length: 900\r\n\r\n"
	}
	key := "Authorization: Bearer " + seeds[0] + "\r\n"
	var all sync.WaitGroup
	for name, sent := range map[string]string{
		"no key":                 head("/v1/banks/bruna/recall", ""),
		"no such path":           head("/v1/nowhere", key),
		"a foreign page":         head("/v1/banks/bruna/recall", key+"Origin: https://shop.example\r\n"),
		"another media type":     strings.Replace(head("/v1/banks/bruna/recall", key), "application/json", "text/csv", 1),
		"a read with a body":     strings.Replace(head("/docs", ""), "POST", "GET", 1),
		"a body without an end":  "POST /v1/banks/bruna/recall HTTP/1.1\r\nHost: " + host + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
		"the chat proxy, no key": head("/v1/chat/completions", ""),
	} {
		all.Go(func() {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if err := errors.Join(conn.SetDeadline(time.Now().Add(natstest.Patience)), second(io.WriteString(conn, sent))); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if answer, err := io.ReadAll(conn); err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 ")) {
				t.Errorf("%s: the gateway keeps the connection: %.30q, %v", name, answer, err)
			}
		})
	}
	all.Wait()
}

func TestABodyOfManyElementsTakesLittleMemory(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	d := open(t, nil)
	r := packed(t, d.request(http.MethodPost, "/v1/banks/bruna/sessions/s/messages", ""), "["+strings.Repeat("7,", 8<<20-2)+"7]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d.refused(r, 400, "", "more than 1000")
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 128<<20 {
		t.Errorf("a body of %d bytes took %d MiB", r.ContentLength, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
	d.refused(d.request(http.MethodPost, "/v1/banks/bruna/sessions/s/messages", "[]"), 400, "", "no messages")
	d.refused(d.request(http.MethodPost, "/v1/banks/bruna/sessions/s/messages", `[{"content":"Olá."},null]`), 400, "1", "")
}

// TestOneKeyDoesNotFillTheMemory has one key begin bodies as large as are allowed and end none. It is not parallel, because
// they have to arrive within the time of a body; where the machine is too busy for that, others are begun.
func TestOneKeyDoesNotFillTheMemory(t *testing.T) { //nolint:paralleltest // see above
	d, seeds := openFor(t, map[string]string{"CHAT_UPSTREAM": startUpstream(t).URL}, "bruna", "iwo")
	var writers []*io.PipeWriter
	ended := make(chan int, 16)
	begin := func(seed, path string) {
		r := as(seed, d.request(http.MethodPost, path, ""))
		body, writer := io.Pipe()
		r.Body, r.ContentLength = body, -1
		writers = append(writers, writer)
		go func() {
			resp, err := d.http.Do(r)
			if err != nil {
				ended <- 0
				return
			}
			ended <- resp.StatusCode
			_ = resp.Body.Close()
		}()
		go func() { _, _ = io.WriteString(writer, `["`+strings.Repeat("z", 12<<20)) }()
	}
	status, running := http.StatusRequestTimeout, 0
	for began := time.Now(); status == http.StatusRequestTimeout && time.Since(began) < natstest.Patience; {
		for ; running < 8; running++ {
			begin(seeds[0], []string{"/v1/banks/bruna/sessions/s/messages", "/v1/chat/completions"}[running%4/3]) // six and two
		}
		status = <-ended
		running--
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("the first that is refused has status %d", status)
	}
	if status, _, text := d.do(as(seeds[1], d.request(http.MethodPost, "/v1/banks/iwo/sessions/s/messages", `{"content":"Dzień dobry."}`))); status != 200 {
		t.Errorf("another key: %d %s", status, text)
	}
	for _, w := range writers {
		_ = w.CloseWithError(io.ErrUnexpectedEOF)
	}
	for range running {
		<-ended
	}
	natstest.Eventually(t, "the memory is free again", func() bool {
		big := `[{"content":"` + strings.Repeat("z", 700<<10) + `"}]`
		status, _, _ := d.do(as(seeds[0], d.request(http.MethodPost, "/v1/banks/bruna/sessions/s/messages", big)))
		return status == 200
	})
}

func TestABatchOfCallsCountsAsSoManyRequests(t *testing.T) {
	t.Parallel()
	d := open(t, map[string]string{"HTTP_RATE": "40"})
	batch := func(n int) *http.Request {
		one := `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
		calls := make([]string, n)
		for i := range calls {
			calls[i] = fmt.Sprintf(one, i)
		}
		r := d.request(http.MethodPost, "/mcp/bruna", "["+strings.Join(calls, ",")+"]")
		r.Header.Set("Accept", "application/json, text/event-stream")
		return r
	}
	if status, _, text := d.do(batch(20)); status != 200 {
		t.Errorf("20 calls: %d %.200s", status, text)
	}
	d.refused(batch(41), 400, "", "40 calls") // come again would be no advice
	natstest.Eventually(t, "batches that follow each other are refused", func() bool {
		status, _, _ := d.do(batch(40))
		return status == 429
	})
	many := open(t, nil)
	r := batch(101)
	r.URL.Host = many.request(http.MethodGet, "/", "").URL.Host
	many.refused(r, 400, "", "100 calls")
}

func TestStrangersDoNotKeepUsersOut(t *testing.T) {
	t.Parallel()
	d, seeds := openFor(t, nil, "bruna")
	c := pkggateway.DefaultConfig()
	c.Broker.URL, c.Broker.Prefix, c.Open = d.URL, d.Conn.Naming.Prefix, false
	g, err := pkggateway.New(c, pkggateway.Deps{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer g.CloseIdle()
	self := func(seed string) int {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, as(seed, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/v1/self", nil)))
		return w.Code
	}
	if status := self(seeds[0]); status != 200 {
		t.Fatalf("the key of a user: %d", status)
	}
	g.CloseIdle() // the next request of the user connects again
	var strangers []string
	for range 200 {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, err := pair.Seed()
		if err != nil {
			t.Fatal(err)
		}
		strangers = append(strangers, string(seed))
	}
	var waits atomic.Int64
	var all sync.WaitGroup
	for _, seed := range strangers {
		all.Go(func() {
			if self(seed) == http.StatusTooManyRequests {
				waits.Add(1)
			}
		})
	}
	all.Wait()
	if status := self(seeds[0]); status != 200 || waits.Load() == 0 {
		t.Errorf("after 200 strangers, of whom %d were told to wait, the user is refused with %d", waits.Load(), status)
	}
}

func TestOneKeyDoesNotTakeEveryPlaceOfImports(t *testing.T) {
	t.Parallel()
	d, seeds := openFor(t, nil, "bruna", "iwo")
	upload := func(seed, bank string) *http.Request {
		r := as(seed, d.request(http.MethodPost, "/v1/banks/"+bank+"/import", claudeExport))
		r.Header.Set("Content-Type", "application/octet-stream")
		return r
	}
	ended := make(chan int, 4)
	var writers []*io.PipeWriter
	for range 4 {
		r := upload(seeds[0], "bruna")
		body, writer := io.Pipe()
		r.Body, r.ContentLength = body, -1
		writers = append(writers, writer)
		go func() {
			status := 0
			if resp, err := d.http.Do(r); err == nil {
				status = resp.StatusCode
				_ = resp.Body.Close()
			}
			ended <- status
		}()
		go func() { _, _ = io.WriteString(writer, "[") }()
	}
	if status := <-ended; status != http.StatusTooManyRequests {
		t.Errorf("the fourth file of a key: %d", status)
	}
	if status, _, text := d.do(upload(seeds[1], "iwo")); status != 200 {
		t.Errorf("a file of another key: %d %s", status, text)
	}
	for _, w := range writers {
		_ = w.CloseWithError(io.ErrUnexpectedEOF)
	}
	for range 3 {
		<-ended
	}
}
