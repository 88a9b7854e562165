package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The exit codes, as `eunoe help exit-codes` tells them.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
	exitDeadline    = 6
	exitQuota       = 7
	exitTooLarge    = 8
	exitInterrupted = 130
)

func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.Is(err, memory.ErrInvalid):
		return exitUsage
	case errors.Is(err, memory.ErrNotFound):
		return exitNotFound
	case errors.Is(err, memory.ErrConflict):
		return exitConflict
	case errors.Is(err, memory.ErrDeadline):
		return exitDeadline
	case errors.Is(err, memory.ErrUnavailable):
		return exitUnavailable
	case errors.Is(err, memory.ErrQuota):
		return exitQuota
	case errors.Is(err, memory.ErrTooLarge):
		return exitTooLarge
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailure
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Every command ends with one of these codes:

    0  done
    1  failed in a way that has no code of its own
    2  usage: a wrong flag, argument, setting or field; the error names it
    3  no such bank or record
    4  conflict: it exists already, or moved on to another version
    5  unavailable: no broker, or a needed part is down; trying again may help
    6  the deadline passed before the outcome was known
    7  over quota
    8  too large
  130  interrupted

With --json an error is printed to standard error as the wire has it:
{"error":{"code":404,"message":"…"}}.`,
	}
}

// complain says what went wrong, to people or to programs.
func (a *cli) complain(w io.Writer, err error) {
	if a.json {
		f := memory.FaultOf(err)
		f.Error.Message = said(err)
		if exitCode(err) == exitUsage {
			f.Error.Code = 400
		}
		line, _ := json.Marshal(f) //nolint:errcheck // strings and numbers always encode
		fmt.Fprintf(w, "%s\n", line)
		return
	}
	if exitCode(err) == exitInterrupted {
		fmt.Fprintln(w, "eunoe: interrupted")
		return
	}
	fmt.Fprintf(w, "eunoe: %s\n", clean(said(err)))
	if errors.Is(err, memory.ErrNotFound) && strings.HasPrefix(err.Error(), "bank ") {
		fmt.Fprintln(w, "The first message makes a bank. Letter case counts; `eunoe banks` lists those there are (operators).")
	}
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintln(w, "Run `eunoe help` or add --help for how it is used.")
	}
}

// said is an error's text without what its meaning repeats: a reply that says
// "not found" is not said to be not found, and what is unavailable says why.
func said(err error) string {
	text := err.Error()
	for _, meaning := range []error{memory.ErrNotFound, memory.ErrConflict, memory.ErrDeadline, memory.ErrQuota, memory.ErrTooLarge} {
		tail := ": " + meaning.Error()
		if short, cut := strings.CutSuffix(text, tail); cut && strings.HasSuffix(short, tail) {
			return short
		}
	}
	return strings.TrimSuffix(text, ": "+memory.ErrUnavailable.Error())
}
