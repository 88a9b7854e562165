package gateway

import (
	"log"
	"strings"

	"github.com/rs/zerolog"
)

// failures takes what net/http says of connections into the log of the process. What strangers can make it say, a line for
// each connection that is no TLS, is at debug, so that they do not fill the log.
func failures(to zerolog.Logger) *log.Logger { return log.New(failureLog{to}, "", 0) }

type failureLog struct{ to zerolog.Logger }

func (f failureLog) Write(line []byte) (int, error) {
	said := strings.TrimSpace(string(line))
	level := zerolog.WarnLevel
	switch {
	case strings.HasPrefix(said, "http: TLS handshake error"), strings.HasPrefix(said, "http: superfluous"), strings.HasPrefix(said, "http: URL query"):
		level = zerolog.DebugLevel
	case strings.HasPrefix(said, "http: panic serving"):
		level = zerolog.ErrorLevel
	}
	f.to.WithLevel(level).Str("stage", "gateway").Msg(said)
	return len(line), nil
}
