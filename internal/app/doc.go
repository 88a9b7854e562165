// Package app is the place where the parts of Eunoe are put together.
//
// Each stage has a package of its own (ingest, extractor, consolidator, query) that builds it from the settings,
// so that a program links only the stages it runs. settings reads the variables, process runs stages with health
// checks, metrics and traces around them, storage opens the store they share, local runs everything in one process
// with an embedded NATS server, and offline works on a stopped deployment.
package app
