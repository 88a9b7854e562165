// Command ingest runs the ingest stage of Eunoe as a process of its own.
package main

import (
	"github.com/eunoe-memory/eunoe/internal/app/ingest"
	"github.com/eunoe-memory/eunoe/internal/app/process"
)

func main() { process.Main(ingest.Stage()) }
