package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) getCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show one record", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(a, cmd, "get", memory.GetRequest{ID: args[0]}, showItem)
		},
	}
}

func showItem(w io.Writer, it memory.Item) {
	fmt.Fprintln(w, wrap(it.Text, 2*textWidth, ""))
	rows := [][]string{{"id", it.ID}, {"record", string(it.Record)}}
	add := func(name, value string) {
		if value != "" && value != "-" {
			rows = append(rows, []string{name, value})
		}
	}
	add("kind", string(it.Kind))
	add("type", it.Type)
	add("reasoning", it.Reasoning)
	add("entities", join(it.Entities))
	add("tags", strings.Join(it.Tags, " "))
	add("topic", it.Topic)
	add("speaker", it.Speaker)
	add("session", string(it.Session))
	if it.Said != nil {
		add("said", minute(*it.Said))
	}
	if o := it.Occurred; o != nil && !o.IsZero() {
		add("occurred", day(o.From)+" to "+day(o.To))
	}
	add("valid", validity(it.Valid))
	if it.Confidence > 0 {
		add("confidence", fmt.Sprintf("%.2f", it.Confidence))
	}
	add("superseded by", string(it.Superseded))
	add("merged into", string(it.Merged))
	add("key", it.Key)
	add("children", strings.Join(it.Children, " "))
	add("sources", join(it.Sources))
	if it.Version > 0 {
		add("version", strconv.FormatUint(it.Version, 10))
	}
	table(w, nil, rows)
}

func validity(intervals []memory.Interval) string {
	var parts []string
	for _, v := range intervals {
		if v.To == nil {
			parts = append(parts, "from "+day(&v.From))
		} else {
			parts = append(parts, day(&v.From)+" to "+day(v.To))
		}
	}
	return strings.Join(parts, ", ")
}

func (a *cli) listCommand() *cobra.Command {
	var f filterFlags
	var req memory.ListRequest
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Page through records",
		Example: "  eunoe list --record message --session chat-1 --order oldest",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			req.Filter = filter
			return ask(a, cmd, "list", req, showPage)
		},
	}
	f.add(cmd, false)
	fl := cmd.Flags()
	fl.StringVar((*string)(&req.Record), "record", "", "fact, composite, observation or message (default fact)")
	fl.StringVar(&req.Order, "order", "", "newest or oldest (default newest)")
	fl.IntVar(&req.Limit, "limit", 0, "at most so many (default 50)")
	fl.StringVar(&req.Cursor, "cursor", "", "where the page before ended")
	return cmd
}

func showPage(w io.Writer, p memory.Page[memory.Item]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "Nothing here.")
		return
	}
	rows := make([][]string, 0, len(p.Items))
	for _, it := range p.Items {
		rows = append(rows, []string{it.ID, day(it.Said), dash(it.Type), short(spoken(it), textWidth)})
	}
	table(w, []string{"ID", "SAID", "TYPE", "TEXT"}, rows)
	more(w, p.Next)
}

// more says how the next page is had.
func more(w io.Writer, next string) {
	if next != "" {
		fmt.Fprintf(w, "\nmore: --cursor %s\n", next)
	}
}

func (a *cli) entitiesCommand() *cobra.Command {
	var req memory.EntitiesRequest
	cmd := &cobra.Command{
		Use: "entities", Short: "List the people, places and things facts name", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, "entities", req, func(w io.Writer, p memory.Page[memory.Entity]) {
				if len(p.Items) == 0 {
					fmt.Fprintln(w, "No entities.")
					return
				}
				rows := make([][]string, 0, len(p.Items))
				for _, e := range p.Items {
					rows = append(rows, []string{string(e.ID), e.Name, strconv.Itoa(e.Facts), short(strings.Join(e.Aliases, ", "), 60)})
				}
				table(w, []string{"ID", "NAME", "FACTS", "ALIASES"}, rows)
				more(w, p.Next)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&req.Type), "type", "", "person, place, organization, project, tool, concept, file or other")
	f.StringVar(&req.Match, "match", "", "a part of the name or an alias")
	f.IntVar(&req.Limit, "limit", 0, "at most so many")
	f.StringVar(&req.Cursor, "cursor", "", "where the page before ended")
	return cmd
}

func (a *cli) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history ID", Short: "Show how a fact came to be as it is", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(a, cmd, "history", memory.HistoryRequest{ID: args[0]}, showHistory)
		},
	}
}

func showHistory(w io.Writer, p memory.Page[memory.Item]) {
	rows := make([][]string, 0, len(p.Items))
	for _, it := range p.Items {
		state := "holds"
		switch {
		case it.Superseded != "":
			state = "superseded by " + string(it.Superseded)
		case it.Merged != "":
			state = "merged into " + string(it.Merged)
		}
		rows = append(rows, []string{it.ID, dash(validity(it.Valid)), state, short(it.Text, textWidth)})
	}
	table(w, []string{"ID", "VALID", "STATE", "TEXT"}, rows)
}
