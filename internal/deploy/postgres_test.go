package deploy_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

func TestComposeWithPostgreSQLGivesTheStoreToItsTwoStages(t *testing.T) {
	t.Parallel()
	files := []string{filepath.Join(root, "compose.yaml"), filepath.Join(root, "compose.postgres.yaml")}
	options, err := cli.NewProjectOptions(files, cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	p, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Services["postgres"].Ports) > 0 {
		t.Error("the server is published")
	}
	for name, s := range p.Services {
		store := s.Environment["EUNOE_STORE"]
		switch name {
		case "consolidator", "query":
			if store == nil || *store != "postgres://eunoe@postgres/eunoe" || s.Environment["PGPASSWORD"] == nil {
				t.Errorf("%s has the store %v", name, store)
			}
			if s.DependsOn["postgres"].Condition != "service_healthy" {
				t.Errorf("%s does not wait for the server", name)
			}
		default:
			if store != nil {
				t.Errorf("%s has a store", name)
			}
		}
	}
}
