// Command query runs the query stage of Eunoe as a process of its own.
package main

import (
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/query"
)

func main() { process.Main(query.Stage()) }
