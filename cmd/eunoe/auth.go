package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const authHelp = `Says who may connect. Each user has a key: the public half is kept in a
directory, with what the user may do, and the private half (its seed) goes to a
file that the user is given. ` + "`eunoe up`" + ` reads the directory at start and
again when it changes; auth.conf in it says the same to a NATS server of your own.

The directory is EUNOE_AUTH_DIR, or auth in the data directory.`

func (a *cli) authCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "auth",
		Short:   "Manage who may connect, and create credentials",
		Long:    authHelp,
		Args:    cobra.NoArgs,
		Example: "  eunoe auth init\n  eunoe auth add-operator ann\n  eunoe auth add-bot alice --out alice.nk",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.PersistentFlags().String("dir", "", "directory of the users' public keys (EUNOE_AUTH_DIR)")
	cmd.AddCommand(a.authInitCommand(), a.authAddBotCommand(), a.authAddWorkerCommand(), a.authAddOperatorCommand(),
		a.authListCommand(), a.authRemoveCommand())
	return cmd
}

// accessDir returns the directory of the users and the subject names of the deployment.
func (a *cli) accessDir(cmd *cobra.Command) (string, events.Naming, error) {
	set := a.overrides(cmd)
	if f := cmd.Flags().Lookup("dir"); f.Changed {
		set["AUTH_DIR"] = f.Value.String()
	}
	c, _, err := a.Settings(set)
	return c.AuthDirectory(), events.Naming{Prefix: c.Prefix}, err
}

func (a *cli) authInitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Create the users' directory; from the next start on, credentials are required", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, n, err := a.accessDir(cmd)
			if err != nil {
				return err
			}
			made, err := access.Init(dir, n)
			if err != nil {
				return err
			}
			text := dir + " has users already; nothing was changed."
			if made {
				text = "Users are kept in " + dir + ". An `eunoe up` that runs goes on open to this machine: start it anew.\n" +
					"Next: eunoe auth add-operator NAME, and eunoe auth add-bot BANK for each bot."
			}
			return a.print(cmd, map[string]any{"directory": dir, "made": made}, text)
		},
	}
}

func (a *cli) authListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the users and their permissions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, _, err := a.accessDir(cmd)
			if err != nil {
				return err
			}
			b, err := access.Read(dir)
			if err != nil {
				return initFirst(err)
			}
			if a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), b.Users)
			}
			showUsers(cmd.OutOrStdout(), b.Users)
			return nil
		},
	}
}

func showUsers(w io.Writer, users []access.User) {
	if len(users) == 0 {
		fmt.Fprintln(w, "No users: nobody can connect yet. `eunoe auth add-bot BANK` makes one.")
		return
	}
	rows := make([][]string, 0, len(users))
	for _, u := range users {
		may := map[access.Role]string{
			access.RoleBot: "speak for the bank " + string(u.Bank), access.RoleWorker: "run stages",
			access.RoleOperator: "ask and administer every bank, read the streams",
			access.RoleRestorer: "what an operator may, and publish for every bank",
		}[u.Role]
		rows = append(rows, []string{u.Name, string(u.Role), may, u.Created.Format(time.DateOnly), u.Key})
	}
	console.Table(w, []string{"NAME", "ROLE", "MAY", "SINCE", "PUBLIC KEY"}, rows)
}

func (a *cli) authRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a user and close its connections", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, n, err := a.accessDir(cmd)
			if err != nil {
				return err
			}
			u, err := access.Remove(dir, n, args[0])
			if err != nil {
				return initFirst(err)
			}
			return a.print(cmd, u, fmt.Sprintf("Removed the %s %s. %s", u.Role, console.OneLine(u.Name), takenOver))
		},
	}
}

// takenOver says when a change takes effect.
const takenOver = "A running `eunoe up` takes it over within a second; a server of your own when it is reloaded."

// initFirst adds what to do where there are no users at all.
func initFirst(err error) error {
	if errors.Is(err, access.ErrNone) {
		return fmt.Errorf("run `eunoe auth init` first, or name the place with --data or EUNOE_AUTH_DIR: %w", err)
	}
	return err
}

// delivery is where a new seed goes.
type delivery struct {
	out   string
	print bool
}

func (d *delivery) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.out, "out", "", "write the seed to this new file (default: NAME.nk in the users' directory)")
	cmd.Flags().BoolVar(&d.print, "print", false, "print the seed and write no file")
}

func (a *cli) authAddBotCommand() *cobra.Command {
	var d delivery
	var name string
	cmd := &cobra.Command{
		Use: "add-bot BANK", Short: "Create credentials for a bot, which reach one bank only", Args: cobra.ExactArgs(1),
		Long: "Makes credentials that reach one bank: publish, ask, hear of changes. A bank may have\n" +
			"several, each with a --name of its own; so a key is changed without a pause.",
		RunE: func(cmd *cobra.Command, args []string) error {
			bank, err := memory.ParseBankID(args[0])
			if err != nil {
				return err
			}
			name = cmp.Or(name, string(bank))
			return a.addUser(cmd, access.User{Name: name, Role: access.RoleBot, Bank: bank}, d)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the user (default: the name of its bank)")
	d.flags(cmd)
	return cmd
}

func (a *cli) authAddWorkerCommand() *cobra.Command {
	var d delivery
	cmd := &cobra.Command{
		Use: "add-worker [NAME]", Short: "Create credentials for stages that run as separate processes", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.addUser(cmd, access.User{Name: append(args, "worker")[0], Role: access.RoleWorker}, d)
		},
	}
	d.flags(cmd)
	return cmd
}

func (a *cli) authAddOperatorCommand() *cobra.Command {
	var d delivery
	var restore bool
	cmd := &cobra.Command{
		Use: "add-operator NAME", Short: "Create credentials for an operator: all banks, dead letters, erasure, the streams", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u := access.User{Name: args[0], Role: access.RoleOperator}
			if restore {
				u.Role = access.RoleRestorer
			}
			return a.addUser(cmd, u, d)
		},
	}
	cmd.Flags().BoolVar(&restore, "restore", false, "also allow publishing for every bank, which `eunoe import` of an export needs")
	d.flags(cmd)
	return cmd
}

func (a *cli) addUser(cmd *cobra.Command, u access.User, d delivery) error {
	dir, n, err := a.accessDir(cmd)
	if err != nil {
		return err
	}
	if d.out != "" && d.print {
		return console.Usagef("--out and --print do not go together: a seed is written or printed")
	}
	path, printed := cmp.Or(d.out, access.SeedPath(dir, u.Name)), ""
	deliver := access.ToFile(path)
	if d.print {
		path = ""
		deliver = func(seed []byte) error { printed = string(seed); return nil }
	}
	u, err = access.Add(dir, n, u, time.Now(), deliver)
	if err != nil {
		return initFirst(err)
	}
	w := cmd.OutOrStdout()
	switch {
	case a.JSON:
		return console.PrintJSON(w, struct {
			access.User
			File string `json:"file,omitempty"`
			Seed string `json:"seed,omitempty"`
		}{u, path, printed})
	case d.print:
		_, err = fmt.Fprintln(w, printed)
		return err
	}
	_, err = fmt.Fprintf(w, "Made the %s %s. Its credentials are in %s: whoever has the file is this user.\n%s\n", u.Role, console.OneLine(u.Name), path, takenOver)
	return err
}
