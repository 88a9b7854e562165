// Command gateway answers HTTP for programs that do not speak NATS, as a process of its own.
package main

import (
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/process"
)

func main() { process.Main(gateway.Stage()) }
