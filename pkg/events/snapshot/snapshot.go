// Package snapshot copies streams out of the broker and into it, by the broker's own snapshots. A directory that Save
// fills is one that `nats stream restore` reads, and Load reads what `nats stream backup` wrote.
package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The files of a directory that holds a stream.
const (
	metaFile = "backup.json"
	dataFile = "stream.tar.s2"
)

// silence is how long the broker may send nothing before a copy is given up: it may be checking a large stream.
const silence = 30 * time.Second

// chunk is how many bytes are sent at a time; the broker takes at least as large a payload.
const chunk = 128 << 10

// meta describes a stream in its directory.
type meta struct {
	Config jetstream.StreamConfig `json:"config"`
	State  json.RawMessage        `json:"state"` // as the broker writes it
}

// apiError is what a reply of the JetStream API may hold.
type apiError struct {
	Error *jetstream.APIError `json:"error"`
}

func (e apiError) failed() error {
	if e.Error == nil {
		return nil
	}
	return e.Error
}

// Save writes a stream as it is now into a new directory, and returns its last sequence. The broker goes on meanwhile.
// Consumers are left out: the stages make theirs.
func Save(ctx context.Context, c *events.Conn, stream, dir string) (last uint64, err error) {
	defer func() { err = events.Classify(err, "copy stream %s", stream) }()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	file, err := os.OpenFile(filepath.Join(dir, dataFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	inbox := c.NC.NewInbox()
	sub, err := c.NC.SubscribeSync(inbox)
	if err != nil {
		return 0, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	if err := sub.SetPendingLimits(-1, 64<<20); err != nil {
		return 0, err
	}
	var begun struct {
		apiError
		meta
	}
	if err := ask(ctx, c, "$JS.API.STREAM.SNAPSHOT."+stream, map[string]any{"deliver_subject": inbox, "no_consumers": true, "jsck": true}, &begun); err != nil {
		return 0, err
	}
	if err := begun.failed(); err != nil {
		return 0, err
	}
	if err := receive(ctx, c, sub, file); err != nil {
		return 0, err
	}
	if err := file.Sync(); err != nil {
		return 0, err
	}
	var state jetstream.StreamState
	if err := json.Unmarshal(begun.State, &state); err != nil {
		return 0, fmt.Errorf("its state: %w", err)
	}
	return state.LastSeq, writeMeta(filepath.Join(dir, metaFile), begun.meta)
}

// receive writes the chunks that the broker sends, until it says that there are no more.
func receive(ctx context.Context, c *events.Conn, sub *nats.Subscription, w io.Writer) error {
	for {
		m, err := next(ctx, sub)
		if err != nil {
			return fmt.Errorf("the broker sends no more: %w", err)
		}
		if len(m.Data) == 0 {
			if code := m.Header.Get("Status"); code != "" && code != "204" {
				return fmt.Errorf("the broker broke off: %s %s: %w", code, m.Header.Get("Description"), memory.ErrUnavailable)
			}
			return nil
		}
		if _, err := w.Write(m.Data); err != nil {
			return err
		}
		if m.Reply != "" {
			if err := c.NC.Publish(m.Reply, nil); err != nil {
				return err
			}
		}
	}
}

func next(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

func writeMeta(path string, m meta) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

func readMeta(dir string) (m meta, err error) {
	b, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	return m, err
}

// Load makes the stream of a directory with a number of replicas; 0 = as many as it had. The error is memory.ErrConflict
// where a stream of that name exists.
func Load(ctx context.Context, c *events.Conn, dir string, replicas int) (err error) {
	m, err := readMeta(dir)
	if err != nil {
		return fmt.Errorf("read the backup in %s: %w", dir, err)
	}
	name := m.Config.Name
	defer func() { err = events.Classify(err, "restore stream %s", name) }()
	if _, err := c.JS.Stream(ctx, name); err == nil {
		return fmt.Errorf("it exists; restore into a broker without it: %w", memory.ErrConflict)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	if replicas > 0 {
		m.Config.Replicas = replicas
	}
	file, err := os.Open(filepath.Join(dir, dataFile))
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was read
	var begun struct {
		apiError
		To string `json:"deliver_subject"`
	}
	if err := ask(ctx, c, "$JS.API.STREAM.RESTORE."+name, m, &begun); err != nil {
		return err
	}
	if err := begun.failed(); err != nil {
		return err
	}
	buffer := make([]byte, chunk)
	for {
		n, err := io.ReadFull(file, buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if err := send(ctx, c, begun.To, buffer[:n]); err != nil {
			return err
		}
	}
	return send(ctx, c, begun.To, nil) // the end; it is answered when the stream is there
}

// send sends a chunk and waits until the broker has taken it.
func send(ctx context.Context, c *events.Conn, to string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	answer, err := c.NC.RequestWithContext(ctx, to, data)
	if err != nil {
		return err
	}
	var said apiError
	if len(answer.Data) > 0 {
		if err := json.Unmarshal(answer.Data, &said); err != nil {
			return fmt.Errorf("the broker's answer: %w", err)
		}
	}
	return said.failed()
}

// ask sends a request to the broker's API. The broker reports a subject that the credentials may not use to the
// connection, and does not answer: the error is then memory.ErrForbidden.
func ask(ctx context.Context, c *events.Conn, subject string, request, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if last := c.NC.LastError(); errors.Is(last, nats.ErrPermissionViolation) && strings.Contains(last.Error(), strconv.Quote(subject)) {
				refuse(fmt.Errorf("these credentials may not; an operator's may (`eunoe auth list` shows who is one): %w", memory.ErrForbidden))
			}
		}
	}()
	m, err := c.NC.RequestWithContext(ctx, subject, body)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, memory.ErrForbidden) {
			return cause
		}
		return err
	}
	return json.Unmarshal(m.Data, reply)
}
