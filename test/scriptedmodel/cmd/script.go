package main

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// read builds the script that the flags describe.
func (m options) read() (*scriptedmodel.Script, error) {
	s := &scriptedmodel.Script{Obey: m.obey, Latency: m.latency, Dimension: m.dimension, Context: m.context, Model: m.model}
	if m.latency < 0 || m.dimension < 1 || m.context < 0 {
		return nil, usagef("--latency and --context must not be negative, and --dimension must be 1 or more")
	}
	for _, text := range m.faults {
		f, err := scriptedmodel.ParseFault(text)
		if err != nil {
			return nil, usagef("--fault: %w", err)
		}
		s.Inject(f)
	}
	if m.script != "" {
		file, err := os.Open(m.script)
		if err != nil {
			return nil, usagef("--script: %w", err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		if err := s.Load(file); err != nil {
			return nil, usagef("--script %s: %w", m.script, err)
		}
	}
	if m.facts == "" {
		if m.turns != "" {
			return nil, usagef("--turns needs --facts")
		}
		return s, nil
	}
	if m.turns == "" {
		base, ok := strings.CutSuffix(m.facts, "-facts.jsonl")
		if !ok {
			return nil, usagef("--turns: name the dataset of %s", m.facts)
		}
		m.turns = base + ".json"
	}
	facts, err := os.ReadFile(m.facts)
	turns, err2 := os.ReadFile(m.turns)
	if err := errors.Join(err, err2); err != nil {
		return nil, usagef("--facts: %w", err)
	}
	if s.Facts, err = scriptedmodel.ReadFacts(facts, turns); err != nil {
		return nil, usagef("--facts %s: %w", m.facts, err)
	}
	return s, nil
}

// loopback returns a loopback address.
func loopback(listen string) (string, error) {
	if _, err := strconv.ParseUint(listen, 10, 16); err == nil {
		return "127.0.0.1:" + listen, nil
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", usagef("--listen: %q is neither a port nor an address with one", listen)
	}
	if host == "localhost" {
		return net.JoinHostPort("127.0.0.1", port), nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return "", usagef("--listen: %q is not of the loopback; this model knows no keys and is for this machine alone", listen)
	}
	return listen, nil
}
