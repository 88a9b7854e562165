package arch_test

import (
	"os/exec"
	"strings"
	"testing"
)

// links lists the packages that bots import, and the programs that need neither a store nor an embedded broker. None of
// them links cgo (which SQLite needs), the embedded NATS server or the driver of PostgreSQL.
var links = []string{
	"./cmd/extractor",
	"./cmd/gateway",
	"./pkg/client",
	"./pkg/events",
	"./pkg/events/deadletter",
	"./pkg/events/kv",
	"./pkg/events/lease",
	"./pkg/events/ordered",
	"./pkg/events/work",
	"./pkg/gateway",
	"./pkg/ingest",
	"./pkg/mcp",
	"./pkg/memory",
}

func TestBotsLinkNeitherCgoNorTheServer(t *testing.T) {
	t.Parallel()
	for _, pkg := range links {
		t.Run(strings.TrimPrefix(pkg, "./"), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{len .CgoFiles}}{{end}}", pkg)
			cmd.Dir = root(t)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("list what %s links: %v", pkg, err)
			}
			for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
				dep, cgo, _ := strings.Cut(line, " ")
				if cgo != "0" {
					t.Errorf("it links %s, which needs cgo", dep)
				}
				if strings.HasPrefix(dep, "github.com/nats-io/nats-server/") || strings.HasPrefix(dep, "github.com/jackc/pgx/") {
					t.Errorf("it links %s", dep)
				}
			}
		})
	}
}
