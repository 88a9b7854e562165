package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/client"
)

// withLocal runs everything in this process on a data directory while fn runs;
// more are settings beside those of the environment.
func (a *cli) withLocal(cmd *cobra.Command, dir string, more map[string]string, fn func(*app.Local, *client.Client) error) (err error) {
	cfg, err := a.tempSettings(dir, more)
	if err != nil {
		return err
	}
	l, err := app.StartLocal(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 20*time.Second)
		defer cancel()
		err = errors.Join(err, l.Close(ctx))
	}()
	c, err := client.New(a.config(), client.Deps{Conn: l.Conn})
	if err != nil {
		return err
	}
	return fn(l, c)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
