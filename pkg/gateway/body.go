package gateway

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	maxBody     = 1 << 20          // bytes of a request: what a broker takes unless configured otherwise
	maxBatch    = 16 << 20         // bytes of an array of messages
	bodyWithin  = 30 * time.Second // longest time to receive a body
	leaveWithin = 2 * time.Second  // what a request may still send once it is answered

	roomOfKey = 64 << 20  // bytes of the bodies that one key has in memory
	roomOfAll = 512 << 20 // and all keys together
	pieceSize = 64 << 10  // bytes that are taken at a time; every request has the first
)

// body reads the body of a request, up to limit bytes once it is unpacked.
func body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	from := http.MaxBytesReader(w, r.Body, limit)
	var unpacked io.Reader = from
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, badBody(err)
		}
		unpacked = z
	default:
		return nil, &refusal{status: http.StatusUnsupportedMediaType, field: "Content-Encoding", message: "expected gzip, or a body that is not packed"}
	}
	a, _ := w.(*answer)
	var data bytes.Buffer
	for more := true; more; {
		if !a.take(pieceSize) {
			return nil, &refusal{status: http.StatusTooManyRequests, message: "too many large bodies are being received; send this one again when others are in"}
		}
		n, err := io.CopyN(&data, unpacked, pieceSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, badBody(err)
		}
		if int64(data.Len()) > limit {
			return nil, &http.MaxBytesError{Limit: limit}
		}
		more = n == pieceSize
	}
	return data.Bytes(), nil
}

// badBody classifies an error of reading a body.
func badBody(err error) error {
	var tooLarge *http.MaxBytesError
	var timeout interface{ Timeout() bool }
	if errors.As(err, &tooLarge) || errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return memory.Invalid("", "the body could not be read: %v", err)
}

// incoming is the body of a request. It has bodyWithin to arrive, and leaveWithin once the request is answered: net/http
// waits for the rest of a body before it answers, and without a limit for as long as the sender likes.
type incoming struct {
	io.ReadCloser
	rc   *http.ResponseController
	read bool // to its end
}

// receive sets the limits of a request's body.
func receive(w http.ResponseWriter, r *http.Request) *incoming {
	in := &incoming{ReadCloser: r.Body, rc: http.NewResponseController(w), read: r.Body == nil || r.Body == http.NoBody}
	if !in.read {
		_ = in.rc.SetReadDeadline(time.Now().Add(bodyWithin)) //nolint:errcheck // a recorder has none
		r.Body = in
	}
	return in
}

// Read implements io.Reader. A body that has arrived has no limit any more: net/http goes on reading, to notice that the
// caller is gone.
func (in *incoming) Read(b []byte) (int, error) {
	n, err := in.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) && !in.read {
		in.read = true
		_ = in.rc.SetReadDeadline(time.Time{}) //nolint:errcheck // a recorder has none
	}
	return n, err
}

// leave limits what still arrives of the body of a request that is answered.
func (in *incoming) leave() {
	if !in.read {
		_ = in.rc.SetReadDeadline(time.Now().Add(leaveWithin)) //nolint:errcheck // a recorder has none
	}
}

// room counts the bytes of the bodies in memory.
type room struct {
	mu  sync.Mutex
	all int64
	of  map[string]int64 // by public key
}

// take reserves bytes for a key; first says that the request has none yet. It returns false if the key has too many, or
// all keys together have.
func (m *room) take(key string, n int64, first bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[key]+n > roomOfKey || !first && m.all+n > roomOfAll {
		return false
	}
	m.all += n
	m.of[key] += n
	return true
}

func (m *room) release(key string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all -= n
	if m.of[key] -= n; m.of[key] <= 0 {
		delete(m.of, key)
	}
}

// owned says whose request an answer is for.
func owned(w http.ResponseWriter, key string) {
	if a, ok := w.(*answer); ok {
		a.key = key
	}
}

// take reserves memory for the body of the request until it is answered.
func (a *answer) take(n int64) bool {
	if a == nil || a.room == nil {
		return true
	}
	if !a.room.take(a.key, n, a.taken == 0) {
		return false
	}
	a.taken += n
	return true
}

// release gives back the memory of the body.
func (a *answer) release() {
	if a.taken > 0 {
		a.room.release(a.key, a.taken)
	}
}
