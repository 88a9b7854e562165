package settings

import (
	"errors"
	"fmt"
)

// withdrawnSettings are the variables that earlier versions read, with what applies in their place. One that is still
// set is an error at start: a deployment that relied on it would otherwise behave differently without a word.
var withdrawnSettings = []struct{ name, now string }{
	{"WINDOW_SIZE", "a window has 6 messages with its context; a bank's profile sets another number (windows.window_size)"},
	{"DEDUP", "the embedder's own threshold applies; a bank's profile sets another (thresholds.dedup)"},
	{"CLUSTER", "the embedder's own threshold applies; a bank's profile sets another (thresholds.cluster)"},
	{"DIAMETER", "the embedder's own threshold applies; a bank's profile sets another (thresholds.diameter)"},
	{"MODEL_RETRIES", "a failed request to a model is repeated twice, within EUNOE_MODEL_TIMEOUT"},
	{"REFLECT_TIMEOUT", "reflect takes at most 1m; a request sets less (deadline)"},
	{"CHAT_TOKENS", "the chat proxy adds about 1000 tokens of memory"},
	{"RERANK_SHAPE", "the protocol follows EUNOE_RERANK_URL and EUNOE_RERANK_MODEL"},
	{"TRACE_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT names the collector"},
	{"GRACE", "a stage that is told to stop has 10s to finish what it began"},
	{"BATCH", "the consolidator commits up to 200 events in one transaction"},
	{"SLOTS", "a query process adapts how many requests it answers at a time"},
	{"MODEL_PATIENCE", "a window waits 24h for a model that is away before its attempts count"},
	{"CONSOLIDATE_BATCH", "up to 32 facts of a bank are put to a model together"},
	{"CONSOLIDATE_AFTER", "a fact waits 5m at most for others to be put to a model with it"},
	{"SUMMARISE_MIN", "a model words composites of 4 facts and more"},
}

// withdrawn joins an error for each withdrawn setting that is given.
func withdrawn(given map[string]string) error {
	var errs []error
	for _, s := range withdrawnSettings {
		if given[Prefix+s.name] != "" {
			errs = append(errs, fmt.Errorf("%s%s is no longer a setting: %s; unset it", Prefix, s.name, s.now))
		}
	}
	return errors.Join(errs...)
}
