package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

const authHelp = `Says who may connect. Each user has a key: the public half is kept in a
directory, with what the user may do, and the private half (its seed) goes to a
file that the user is given. ` + "`eunoe up`" + ` reads the directory at start and
again when it changes; auth.conf in it says the same to a NATS server of your own.

The directory is EUNOE_AUTH_DIR, or auth in the data directory.`

func (a *cli) authCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "auth",
		Short:   "Say who may connect, and make their credentials",
		Long:    authHelp,
		Args:    cobra.NoArgs,
		Example: "  eunoe auth init\n  eunoe auth add-operator ann\n  eunoe auth add-bot alice --out alice.nk",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.PersistentFlags().String("dir", "", "directory of the users (EUNOE_AUTH_DIR)")
	cmd.AddCommand(a.authInitCommand(), a.authAddBotCommand(), a.authAddWorkerCommand(), a.authAddOperatorCommand(),
		a.authListCommand(), a.authRemoveCommand())
	return cmd
}

// authPlace gives the directory of the users and the names of the deployment.
func (a *cli) authPlace(cmd *cobra.Command) (string, events.Naming, error) {
	set := a.overrides(cmd)
	if f := cmd.Flags().Lookup("dir"); f.Changed {
		set["AUTH_DIR"] = f.Value.String()
	}
	c, _, err := a.settings(set)
	return c.AuthDirectory(), events.Naming{Prefix: c.Prefix}, err
}

func (a *cli) authInitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Make the directory: from the next start on everybody needs credentials", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, n, err := a.authPlace(cmd)
			if err != nil {
				return err
			}
			made, err := access.Init(dir, n)
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(cmd.OutOrStdout(), map[string]any{"directory": dir, "made": made})
			}
			if !made {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s has users already; nothing was changed.\n", dir)
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Users are kept in %s. An `eunoe up` that runs goes on open to this machine: start it anew.\n"+
				"Next: eunoe auth add-operator NAME, and eunoe auth add-bot BANK for each bot.\n", dir)
			return err
		},
	}
}

func (a *cli) authListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the users and what each may do", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, _, err := a.authPlace(cmd)
			if err != nil {
				return err
			}
			b, err := access.Read(dir)
			if err != nil {
				return initFirst(err)
			}
			if a.json {
				return printJSON(cmd.OutOrStdout(), b.Users)
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
	table(w, []string{"NAME", "ROLE", "MAY", "SINCE", "PUBLIC KEY"}, rows)
}

func (a *cli) authRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Take a user off the list; its connections end", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, n, err := a.authPlace(cmd)
			if err != nil {
				return err
			}
			u, err := access.Remove(dir, n, args[0])
			if err != nil {
				return initFirst(err)
			}
			if a.json {
				return printJSON(cmd.OutOrStdout(), u)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Removed the %s %s. %s\n", u.Role, oneLine(u.Name), takenOver)
			return err
		},
	}
}

// takenOver says when a change holds.
const takenOver = "A running `eunoe up` takes it over within a second; a server of your own when it is reloaded."

// initFirst adds what to do where there are no users at all.
func initFirst(err error) error {
	if errors.Is(err, access.ErrNone) {
		return fmt.Errorf("run `eunoe auth init` first, or name the place with --data or EUNOE_AUTH_DIR: %w", err)
	}
	return err
}
