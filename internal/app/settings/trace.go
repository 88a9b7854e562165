package settings

import (
	"net/url"
	"strings"
)

// TraceSettings say where traces go.
type TraceSettings struct {
	Trace         string  `env:"TRACE" doc:"where traces go: otlp, stdout or file:PATH; empty traces nothing"`
	TraceEndpoint string  `env:"TRACE_ENDPOINT" doc:"base URL of the OTLP collector; default OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318"`
	TraceSample   float64 `env:"TRACE_SAMPLE" envDefault:"1" doc:"share of the traces begun here that is kept; one begun elsewhere is kept if it was there"`
}

// The destinations that EUNOE_TRACE names.
const (
	TraceOTLP   = "otlp"
	TraceStdout = "stdout"
	TraceFile   = "file:"
)

func (s TraceSettings) check(wrong func(name, format string, args ...any)) {
	path, file := strings.CutPrefix(s.Trace, TraceFile)
	switch {
	case file && path == "":
		wrong("TRACE", "file: names no file; expected file:PATH")
	case s.Trace != "" && s.Trace != TraceOTLP && s.Trace != TraceStdout && !file:
		wrong("TRACE", "%q is no place for traces; expected otlp, stdout, file:PATH or nothing", s.Trace)
	}
	if s.TraceEndpoint != "" {
		u, err := url.Parse(s.TraceEndpoint)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			wrong("TRACE_ENDPOINT", "is no address; expected one like http://localhost:4318")
		case u.User != nil:
			wrong("TRACE_ENDPOINT", "holds credentials; give them in OTEL_EXPORTER_OTLP_HEADERS")
		case s.Trace != TraceOTLP:
			wrong("TRACE_ENDPOINT", "is set, and EUNOE_TRACE is %q; expected otlp", s.Trace)
		}
	}
	if !(s.TraceSample >= 0 && s.TraceSample <= 1) {
		wrong("TRACE_SAMPLE", "%v is no share; expected 0 to 1", s.TraceSample)
	}
}

// Collector returns the URL that spans are sent to; "" leaves the choice to the exporter.
func (s TraceSettings) Collector() string {
	if s.TraceEndpoint == "" {
		return ""
	}
	const path = "/v1/traces"
	return strings.TrimSuffix(strings.TrimSuffix(s.TraceEndpoint, "/"), path) + path
}
