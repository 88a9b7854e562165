package provider

import (
	"context"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
)

// traced is attempt in a span of its own, where the caller's is recorded.
func (l *line) traced(ctx context.Context, r request, attempt int) error {
	ctx, span := telemetry.Call(ctx, "model call")
	usage, err := l.attempt(ctx, r)
	if span.On() {
		span.Text(telemetry.Stage, r.stage).Text(telemetry.Model, l.model).Number(telemetry.Attempt, attempt).Text(telemetry.Outcome, outcomeOf(err)).
			Number(telemetry.Prompt, usage.PromptTokens).Number(telemetry.Cached, usage.CachedTokens).Number(telemetry.Complete, usage.CompletionTokens).End(err)
	}
	return err
}
