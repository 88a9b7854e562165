package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// delivery is where a new seed goes.
type delivery struct {
	out   string
	print bool
}

func (d *delivery) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.out, "out", "", "write the seed to this new file (default: NAME.nk in the directory of the users)")
	cmd.Flags().BoolVar(&d.print, "print", false, "print the seed and write no file")
}

func (a *cli) authAddBotCommand() *cobra.Command {
	var d delivery
	var name string
	cmd := &cobra.Command{
		Use: "add-bot BANK", Short: "Make a bot's credentials: it reaches its own bank alone", Args: cobra.ExactArgs(1),
		Long: "Makes credentials that reach one bank: publish, ask, hear of changes. A bank may have\n" +
			"several, each with a --name of its own; so a key is changed without a pause.",
		RunE: func(cmd *cobra.Command, args []string) error {
			bank, err := memory.ParseBankID(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				name = string(bank)
			}
			return a.addUser(cmd, access.User{Name: name, Role: access.RoleBot, Bank: bank}, d)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the user is called (default: like its bank)")
	d.flags(cmd)
	return cmd
}

func (a *cli) authAddWorkerCommand() *cobra.Command {
	var d delivery
	cmd := &cobra.Command{
		Use: "add-worker [NAME]", Short: "Make the credentials of stages that run as processes of their own", Args: cobra.MaximumNArgs(1),
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
		Use: "add-operator NAME", Short: "Make an operator's credentials: every bank, dead letters, erasing, the streams", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u := access.User{Name: args[0], Role: access.RoleOperator}
			if restore {
				u.Role = access.RoleRestorer
			}
			return a.addUser(cmd, u, d)
		},
	}
	cmd.Flags().BoolVar(&restore, "restore", false, "may publish for every bank, too: `eunoe import` of an export needs it")
	d.flags(cmd)
	return cmd
}

func (a *cli) addUser(cmd *cobra.Command, u access.User, d delivery) error {
	dir, n, err := a.authPlace(cmd)
	if err != nil {
		return err
	}
	if d.out != "" && d.print {
		return usagef("--out and --print do not go together: a seed is written or printed")
	}
	path, printed := d.out, ""
	if path == "" {
		path = access.SeedPath(dir, u.Name)
	}
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
	case a.json:
		return printJSON(w, struct {
			access.User
			File string `json:"file,omitempty"`
			Seed string `json:"seed,omitempty"`
		}{u, path, printed})
	case d.print:
		_, err = fmt.Fprintln(w, printed)
		return err
	}
	_, err = fmt.Fprintf(w, "Made the %s %s. Its credentials are in %s: whoever has the file is this user.\n%s\n", u.Role, oneLine(u.Name), path, takenOver)
	return err
}
