package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// clusterFindings checks what a cluster promises beyond a single server: that every replica of every stream is there, and
// that the servers sync before they acknowledge. Streams of one replica give none.
func clusterFindings(ctx context.Context, conn *events.Conn, monitors []string) []finding {
	servers, replicas := map[string]bool{}, 0
	var behind []string
	for _, name := range conn.Naming.AllStreams() {
		s, err := conn.JS.Stream(ctx, name)
		if err != nil || s.CachedInfo().Cluster == nil {
			continue // another check says so
		}
		replicas = max(replicas, s.CachedInfo().Config.Replicas)
		group := s.CachedInfo().Cluster
		servers[group.Leader] = true
		for _, p := range group.Replicas {
			servers[p.Name] = true
			if state := peerState(p); state != "" {
				behind = append(behind, name+" on "+p.Name+" "+state)
			}
		}
	}
	if replicas <= 1 {
		return nil
	}
	f := finding{Check: "replicas", OK: true, Found: fmt.Sprintf("%d of every event, all of them current", replicas)}
	if len(behind) > 0 {
		f = finding{Check: "replicas", Found: strings.Join(behind, "; "), Mend: "start the server that is away, or wait until it has caught up; one more loss may stop everything"}
	}
	return []finding{f, syncFinding(ctx, servers, monitors)}
}

// peerState says what is wrong with a replica, "" if nothing is.
func peerState(p *jetstream.PeerInfo) string {
	switch {
	case p.Offline:
		return "is offline"
	case !p.Current:
		return fmt.Sprintf("is %d behind", p.Lag)
	}
	return ""
}

// syncFinding asks the monitoring of the servers whether they sync before they acknowledge. Replicas do not replace that:
// a server that restarts without the end of its log can be the majority that elects a leader without it.
func syncFinding(ctx context.Context, servers map[string]bool, monitors []string) finding {
	var lazy []string
	for _, at := range monitors {
		name, every, err := syncOf(ctx, at)
		if err != nil {
			return finding{Check: "sync", Found: errorText(err), Mend: "name the monitoring address of each server (`http: …` of its configuration), as in --monitor http://127.0.0.1:8222"}
		}
		delete(servers, name)
		if every != "" {
			lazy = append(lazy, name+" syncs every "+every)
		}
	}
	if len(lazy) > 0 {
		return finding{Check: "sync",
			Found: strings.Join(lazy, ", ") + ": it acknowledges what is not on its disk. Where power fails, replicas lose acknowledged messages all the same: " +
				"servers that come back without the end of their log elect a leader without it (of 2.12.1 Jepsen saw 14 % of the writes lost)",
			Mend: "set `sync_interval: always` in the jetstream block of every server, and restart one after the other"}
	}
	if len(servers) > 0 {
		var left []string
		for name := range servers {
			left = append(left, name)
		}
		slices.Sort(left)
		return finding{Check: "sync", OK: true, Found: "not checked: whether " + strings.Join(left, ", ") + " sync before they acknowledge; --monitor with their monitoring addresses finds out"}
	}
	return finding{Check: "sync", OK: true, Found: "every server syncs before it acknowledges"}
}

// syncOf asks a server's monitoring for its name and how often it syncs, "" where it does before it acknowledges.
func syncOf(ctx context.Context, address string) (name, every string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/varz", nil)
	if err != nil {
		return "", "", fmt.Errorf("monitoring at %s: %w", address, err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", "", fmt.Errorf("monitoring at %s: %w", address, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	var v struct {
		Name      string `json:"server_name"`
		JetStream struct {
			Config *struct {
				Interval time.Duration `json:"sync_interval"`
				Always   bool          `json:"sync_always"`
			} `json:"config"`
		} `json:"jetstream"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil || v.JetStream.Config == nil {
		return "", "", fmt.Errorf("monitoring at %s: it tells nothing of JetStream (status %s)", address, answer.Status)
	}
	if !v.JetStream.Config.Always {
		every = v.JetStream.Config.Interval.String()
	}
	return v.Name, every, nil
}
