package ingest

import (
	"errors"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// MaxOpen bounds the messages that wait for a window, carried ones included. A window is cut at that many, whatever the
// settings.
const MaxOpen = 512

// Settings say when a window is cut. They are recorded with a session when it begins and when it continues after a
// flush, so that a replay cuts the same windows.
type Settings struct {
	TriggerEvery int             `json:"trigger_every"` // after so many messages that match RoleFilter; 0 = off
	WindowTokens int             `json:"window_tokens"` // when the new text has so many tokens; 0 = off
	WindowSize   int             `json:"window_size"`   // messages including context; 0 = no context
	IdleAfter    memory.Duration `json:"idle_after"`    // flush a session that was silent for so long; 0 = never
	// RoleFilter lists the roles that are counted, extracted and used as context; empty = all. Messages of other roles
	// are carried.
	RoleFilter []memory.Role `json:"role_filter,omitempty"`
	// TopicTurn cuts before a message whose topic differs from the last one named.
	TopicTurn bool `json:"topic_turn,omitempty"`
}

// Matches reports whether a role passes RoleFilter.
func (s Settings) Matches(r memory.Role) bool {
	return len(s.RoleFilter) == 0 || slices.Contains(s.RoleFilter, r)
}

// Config configures an Ingest. Its Settings apply to banks that have none of their own.
type Config struct {
	Settings
	Owner    string        // name of this process that no other has; "" = random
	MaxBatch int           // events that share one write of the state, 1 to 10000
	IdleTick time.Duration // interval of the search for idle sessions
}

// DefaultConfig suits extraction by rules: a window every 2 messages or 512 tokens, up to 6 messages with context, idle
// after 30 s.
func DefaultConfig() Config {
	return Config{
		Settings: Settings{TriggerEvery: 2, WindowTokens: 512, WindowSize: 6, IdleAfter: memory.Duration(30 * time.Second)},
		MaxBatch: 256, IdleTick: 250 * time.Millisecond,
	}
}

// Validate returns every setting that is out of range, joined.
func (c Config) Validate() error {
	errs := []error{c.Settings.Validate()}
	if c.MaxBatch < 1 || c.MaxBatch > 10000 {
		errs = append(errs, memory.Invalid("max_batch", "is %d; expected 1 to 10000", c.MaxBatch))
	}
	if c.IdleTick <= 0 {
		errs = append(errs, memory.Invalid("idle_tick", "is %s; expected more than nothing", c.IdleTick))
	}
	return errors.Join(errs...)
}

// Validate returns every setting that is out of range, joined.
func (s Settings) Validate() error {
	var errs []error
	within := func(name string, value, limit int) {
		if value < 0 || value > limit {
			errs = append(errs, memory.Invalid(name, "is %d; expected 0 to %d", value, limit))
		}
	}
	within("trigger_every", s.TriggerEvery, MaxOpen)
	within("window_tokens", s.WindowTokens, 1_000_000)
	within("window_size", s.WindowSize, MaxOpen)
	if s.IdleAfter < 0 {
		errs = append(errs, memory.Invalid("idle_after", "is %s; it must not be negative", time.Duration(s.IdleAfter)))
	}
	for _, r := range s.RoleFilter {
		if !r.Valid() {
			errs = append(errs, memory.Invalid("role_filter", "%q is not a role; expected user, assistant, system or tool", string(r)))
		}
	}
	return errors.Join(errs...)
}

// For returns the settings of a bank: its own where they are set and in range, else those of s.
func (s Settings) For(own *memory.WindowSettings) Settings {
	if own == nil {
		return s
	}
	try := func(change func(*Settings)) {
		t := s
		if change(&t); t.Validate() == nil {
			s = t
		}
	}
	if own.TriggerEvery != nil {
		try(func(t *Settings) { t.TriggerEvery = *own.TriggerEvery })
	}
	if own.WindowTokens != nil {
		try(func(t *Settings) { t.WindowTokens = *own.WindowTokens })
	}
	if own.WindowSize != nil {
		try(func(t *Settings) { t.WindowSize = *own.WindowSize })
	}
	if own.IdleAfter != nil {
		try(func(t *Settings) { t.IdleAfter = *own.IdleAfter })
	}
	if own.RoleFilter != nil {
		try(func(t *Settings) { t.RoleFilter = slices.Clone(own.RoleFilter) })
	}
	return s
}
