package transfer_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// child is what the tests kill: an import of EUNOE_TEST_FILE, or a file that is written until a line comes in.
func child(what string) int {
	path := os.Getenv("EUNOE_TEST_FILE")
	var err error
	switch what {
	case "import":
		err = importAlone(path, os.Getenv("EUNOE_TEST_URL"))
	case "write":
		err = transfer.WriteFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, "half of a bank\n")
			fmt.Println("begun")
			bufio.NewScanner(os.Stdin).Scan()
			return err
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func importAlone(path, url string) error {
	ctx := context.Background()
	file, remove, err := transfer.Open(ctx, path, os.Stdin, chatexport.Options{Name: "familie"})
	defer remove()
	if err != nil {
		return err
	}
	cfg := client.DefaultConfig()
	cfg.URL = url
	c, err := client.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	return transfer.NewImporter(transfer.Config{Bank: "ines", Flush: true, Progress: io.Discard, Checkpoint: path + transfer.ProgressSuffix, Target: "here"}, c, file).Run(ctx)
}

// start starts a child process of the test. Its input and output are the caller's.
func start(t *testing.T, what, path string, environ ...string) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), append(environ, "EUNOE_TEST_CHILD="+what, "EUNOE_TEST_FILE="+path)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReader(stdout)
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.Exited() {
		t.Error("it ended before it was killed")
	}
}

// familyChat writes the export of a WhatsApp chat.
func familyChat(t *testing.T, messages int) string {
	t.Helper()
	var b strings.Builder
	for i := range messages {
		fmt.Fprintf(&b, "%d.3.24, %02d:%02d - Tante Grete: Heute habe ich %d Gläser Gelee eingekocht.\n", 13+i%10, i/60%24, i%60, i)
	}
	path := filepath.Join(t.TempDir(), "WhatsApp Chat mit Grete.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAnImportThatIsKilled kills imports at any moment: the one that ends has sent all, each kill has doubled one message
// at most, and no file is left.
func TestAnImportThatIsKilled(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]func(*testing.T, int) string{"lines": diary, "a chat of another program": familyChat} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const messages, kills = 3000, 8
			conn, path, temp := natstest.Start(t), file(t, messages), t.TempDir()
			url := conn.NC.ConnectedUrl()
			for n := range uint64(kills) {
				cmd, _, _ := start(t, "import", path, "EUNOE_TEST_URL="+url, "TMPDIR="+temp)
				upto := n*100 + rand.Uint64N(100) + 1
				natstest.Eventually(t, "a part of the file is in", func() bool {
					last, err := conn.LastSeq(t.Context(), conn.Naming.Messages())
					return err == nil && last >= upto
				})
				kill(t, cmd)
			}
			cmd, _, _ := start(t, "import", path, "EUNOE_TEST_URL="+url, "TMPDIR="+temp)
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			found, _ := stored(t, conn)
			all := 0
			for _, n := range found {
				all += n
			}
			if len(found) != messages || all > messages+kills {
				t.Errorf("the log has %d of %d messages, and %d with the doubled ones after %d kills", len(found), messages, all, kills)
			}
			for _, dir := range []string{temp, filepath.Dir(path)} {
				left, err := os.ReadDir(dir)
				left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return e.Name() == filepath.Base(path) })
				if err != nil || len(left) > 0 {
					t.Errorf("the killed ones left %v, %v", left, err)
				}
			}
		})
	}
}

// TestWhatAKilledExportLeftIsRemoved kills processes while they write a file: what stood there stays, and the next one
// removes what they left, but not what somebody is still writing.
func TestWhatAKilledExportLeftIsRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bank.jsonl")
	parts := func() []string {
		found, err := filepath.Glob(path + ".*")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	content := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	write := func(text string) {
		t.Helper()
		if err := transfer.WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	begun := func() (*exec.Cmd, io.WriteCloser) {
		cmd, in, out := start(t, "write", path)
		if line, err := out.ReadString('\n'); err != nil || line != "begun\n" {
			t.Fatalf("%q, %v", line, err)
		}
		return cmd, in
	}
	write("the first\n")
	alive, in := begun()
	dead := []*exec.Cmd{}
	for range 3 {
		cmd, _ := begun()
		dead = append(dead, cmd)
	}
	for _, cmd := range dead {
		kill(t, cmd)
	}
	notes := path + ".notes.part" // somebody else's
	if err := os.WriteFile(notes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if left := parts(); len(left) != 5 || content() != "the first\n" {
		t.Fatalf("there are %v, and the file is %q", left, content())
	}
	write("the second\n")
	own := fmt.Sprintf("%s.%d.part", path, alive.Process.Pid)
	if left := parts(); content() != "the second\n" || len(left) != 2 || !slices.Contains(left, own) || !slices.Contains(left, notes) {
		t.Errorf("there are %v, and the file is %q", left, content())
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := alive.Wait(); err != nil || content() != "half of a bank\n" {
		t.Errorf("who was writing wrote %q, %v", content(), err)
	}
}
