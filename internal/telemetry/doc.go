// Package telemetry is what the stages trace with: spans of OpenTelemetry that
// cost nothing where nobody traces, and the W3C trace context in the headers of
// events and requests. A span says where and when, how many, and which ids; it
// never holds what was said, asked or answered, nor an error's text.
package telemetry
