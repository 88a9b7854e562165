package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// volume is what one part of the pipeline kept: events of a stream, or rows of the store.
type volume struct {
	name  string
	count int
	bytes int64
}

// volumes returns what every stream was given so far, the store last.
func volumes(ctx context.Context, conn *events.Conn, store string) ([]volume, error) {
	var out []volume
	for _, name := range []string{conn.Naming.Messages(), conn.Naming.Windows(), conn.Naming.Writes(), conn.Naming.Changes()} {
		s, err := conn.JS.Stream(ctx, name)
		if err != nil {
			return nil, err
		}
		st := s.CachedInfo().State
		v := volume{name: name, count: int(st.LastSeq), bytes: int64(st.Bytes)}
		if name == conn.Naming.Windows() {
			v.bytes = 400 * int64(st.LastSeq) // a work queue: its events are gone once they are done
		}
		out = append(out, v)
	}
	v := volume{name: "store"}
	for _, path := range []string{store, store + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			v.bytes += info.Size()
		}
	}
	return append(out, v), nil
}

// moved is how long a bare JetStream and a bare SQLite took for the same.
type moved struct {
	Streams float64 `json:"streams_seconds"`
	Store   float64 `json:"store_seconds"`
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
	Events  int     `json:"events"`
}

func (m moved) String() string {
	return fmt.Sprintf("%.2f s: JetStream %.2f s for %d events, SQLite %.2f s, %.1f MB in all", m.Seconds, m.Streams, m.Events, m.Store, float64(m.Bytes)/1e6)
}

// moveBare moves as many events and rows of the same sizes through a bare JetStream and a bare SQLite, synced, one after
// the other: into one stream, what bots publish one by one with 400 unacknowledged, the rest in batches of 100; and into
// one table, 200 rows a transaction.
func moveBare(ctx context.Context, traffic []volume) (out moved, err error) {
	dir, remove, err := console.TempDir()
	if err != nil {
		return out, err
	}
	defer remove()
	streams, store := traffic[:len(traffic)-1], traffic[len(traffic)-1]
	for _, v := range traffic {
		out.Bytes += v.bytes
	}
	began := time.Now()
	if err := bareStream(ctx, filepath.Join(dir, "streams"), streams, &out.Events); err != nil {
		return out, err
	}
	out.Streams = time.Since(began).Seconds()
	began = time.Now()
	if err := bareTable(ctx, filepath.Join(dir, "bare.db"), store); err != nil {
		return out, err
	}
	out.Store = time.Since(began).Seconds()
	out.Seconds = out.Streams + out.Store
	return out, nil
}

func bareStream(ctx context.Context, dir string, streams []volume, sent *int) error {
	srv, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, SyncAlways: true, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer srv.Shutdown()
	nc, err := nats.Connect(srv.ClientURL())
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(400))
	if err != nil {
		return err
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare"}, Storage: jetstream.FileStorage, AllowAtomicPublish: true}); err != nil {
		return err
	}
	for i, v := range streams {
		body := make([]byte, max(0, v.bytes)/int64(max(1, v.count)))
		*sent += v.count
		if i > 0 {
			if err := bareBatches(ctx, nc, body, v.count); err != nil {
				return err
			}
			continue
		}
		for range v.count {
			if _, err := js.PublishAsync("bare", body, jetstream.WithStallWait(30*time.Second)); err != nil {
				return err
			}
		}
		select {
		case <-js.PublishAsyncComplete():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// bareBatches publishes n events in batches that the broker stores atomically.
func bareBatches(ctx context.Context, nc *nats.Conn, body []byte, n int) error {
	for from := 0; from < n; from += 100 {
		id, last := nats.NewInbox(), min(100, n-from)
		for i := 1; i <= last; i++ {
			m := &nats.Msg{Subject: "bare", Data: body, Header: nats.Header{"Nats-Batch-Id": {id[len(id)-22:]}, "Nats-Batch-Sequence": {strconv.Itoa(i)}}}
			if i < last {
				if err := nc.PublishMsg(m); err != nil {
					return err
				}
				continue
			}
			m.Header.Set("Nats-Batch-Commit", "1")
			answer, err := nc.RequestMsgWithContext(ctx, m)
			if err != nil {
				return err
			}
			if strings.Contains(string(answer.Data), `"error"`) {
				return fmt.Errorf("the bare broker did not take a batch: %s", answer.Data)
			}
		}
	}
	return nil
}

func bareTable(ctx context.Context, path string, v volume) error {
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it is thrown away
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE bare (no INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		return err
	}
	body := make([]byte, max(0, v.bytes)/int64(max(1, v.count)))
	for done := 0; done < v.count; {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for n := 0; n < 200 && done < v.count; n, done = n+1, done+1 {
			if _, err := tx.ExecContext(ctx, "INSERT INTO bare (body) VALUES (?)", body); err != nil {
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}
