package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) getCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show one record", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(a, cmd, wire.Get, wire.GetRequest{ID: args[0]}, showItem)
		},
	}
}

func showItem(w io.Writer, it memory.Item) {
	fmt.Fprintln(w, wrap(it.Text, cmp.Or(console.Columns(w), 2*textWidth), ""))
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
	console.Table(w, nil, rows)
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
	var req wire.ListRequest
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
			return ask(a, cmd, wire.List, req, showPage)
		},
	}
	f.add(cmd, false)
	fl := cmd.Flags()
	fl.StringVar((*string)(&req.Record), "record", "", "fact, composite, observation or message (default fact)")
	fl.StringVar(&req.Order, "order", "", "newest or oldest (default newest)")
	fl.IntVar(&req.Limit, "limit", 0, "maximum number of results (default 50)")
	fl.StringVar(&req.Cursor, "cursor", "", "cursor of the next page, from the previous reply")
	return cmd
}

func showPage(w io.Writer, p wire.Page[memory.Item]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "Nothing here.")
		return
	}
	console.Table(w, []string{"ID", "SAID", "TYPE", "TEXT"}, rowsOf(p.Items, func(it memory.Item) []string {
		return []string{it.ID, day(it.Said), dash(it.Type), spoken(it)}
	}))
	more(w, p.Next)
}

// more prints the flag that asks for the next page.
func more(w io.Writer, next string) {
	if next != "" {
		fmt.Fprintf(w, "\nmore: --cursor %s\n", next)
	}
}

func (a *cli) entitiesCommand() *cobra.Command {
	var req wire.EntitiesRequest
	cmd := &cobra.Command{
		Use: "entities", Short: "List the people, places and things that facts name", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, wire.Entities, req, func(w io.Writer, p wire.Page[memory.Entity]) {
				if len(p.Items) == 0 {
					fmt.Fprintln(w, "No entities.")
					return
				}
				console.Table(w, []string{"ID", "NAME", "FACTS", "ALIASES"}, rowsOf(p.Items, func(e memory.Entity) []string {
					return []string{string(e.ID), e.Name, strconv.Itoa(e.Facts), strings.Join(e.Aliases, ", ")}
				}))
				more(w, p.Next)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&req.Type), "type", "", "person, place, organization, project, tool, concept, file or other")
	f.StringVar(&req.Match, "match", "", "part of the name or of an alias")
	f.IntVar(&req.Limit, "limit", 0, "maximum number of results")
	f.StringVar(&req.Cursor, "cursor", "", "cursor of the next page, from the previous reply")
	return cmd
}

func (a *cli) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history ID", Short: "Show the history of a fact", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(a, cmd, wire.History, wire.HistoryRequest{ID: args[0]}, showHistory)
		},
	}
}

func showHistory(w io.Writer, p wire.HistoryReply) {
	rows := make([][]string, 0, len(p.Items))
	for _, it := range p.Items {
		state := "holds"
		switch {
		case it.Superseded != "":
			state = "superseded by " + string(it.Superseded)
		case it.Merged != "":
			state = "merged into " + string(it.Merged)
		}
		rows = append(rows, []string{it.ID, dash(validity(it.Valid)), state, it.Text})
	}
	console.Table(w, []string{"ID", "VALID", "STATE", "TEXT"}, rows)
}

func (a *cli) treeCommand() *cobra.Command {
	var req wire.TreeRequest
	cmd := &cobra.Command{
		Use: "tree [ID]", Short: "Draw the memory tree", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				req.Root = args[0]
			}
			return ask(a, cmd, wire.Tree, req, showTree)
		},
	}
	f := cmd.Flags()
	f.IntVar(&req.Depth, "depth", 0, "maximum number of levels (default: the server's)")
	f.IntVar(&req.Limit, "limit", 0, "maximum number of roots")
	f.StringVar(&req.Cursor, "cursor", "", "cursor of the next page, from the previous reply")
	return cmd
}

func showTree(w io.Writer, p wire.Page[wire.TreeNode]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "No tree yet: it grows when facts are alike.")
		return
	}
	for i, root := range p.Items {
		if i > 0 {
			fmt.Fprintln(w)
		}
		drawNode(w, root, "")
		drawNodes(w, root.Nodes, "")
	}
	more(w, p.Next)
}

// drawNodes draws the children of a node, each below the other.
func drawNodes(w io.Writer, nodes []wire.TreeNode, indent string) {
	for i, n := range nodes {
		branch, below := "├─ ", "│  "
		if i == len(nodes)-1 {
			branch, below = "└─ ", "   "
		}
		drawNode(w, n, indent+branch)
		drawNodes(w, n.Nodes, indent+below)
	}
}

// drawNode prints a node on a line: the number of its children, its text, and its id. On a terminal the text is cut.
func drawNode(w io.Writer, n wire.TreeNode, before string) {
	if n.Record == memory.RecordComposite {
		before += fmt.Sprintf("[%d] ", max(len(n.Children), len(n.Nodes)))
	}
	text := console.OneLine(n.Text)
	if columns := console.Columns(w); columns > 0 {
		text = console.Short(text, max(textWidth/4, columns-utf8.RuneCountInString(before)-len(n.ID)-2))
	}
	fmt.Fprintf(w, "%s%s  %s\n", before, text, n.ID)
}
