package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) treeCommand() *cobra.Command {
	var req memory.TreeRequest
	cmd := &cobra.Command{
		Use: "tree [ID]", Short: "Draw the memory tree", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				req.Root = args[0]
			}
			return ask(a, cmd, "tree", req, showTree)
		},
	}
	f := cmd.Flags()
	f.IntVar(&req.Depth, "depth", 0, "at most so many levels (default: the server's)")
	f.IntVar(&req.Limit, "limit", 0, "at most so many roots")
	f.StringVar(&req.Cursor, "cursor", "", "where the page before ended")
	return cmd
}

func showTree(w io.Writer, p memory.Page[memory.TreeNode]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "No tree yet: it grows when facts are alike.")
		return
	}
	for i, root := range p.Items {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, nodeLine(root))
		drawNodes(w, root.Nodes, "")
	}
	more(w, p.Next)
}

// drawNodes draws the children of a node, each below the other.
func drawNodes(w io.Writer, nodes []memory.TreeNode, indent string) {
	for i, n := range nodes {
		branch, below := "├─ ", "│  "
		if i == len(nodes)-1 {
			branch, below = "└─ ", "   "
		}
		fmt.Fprintln(w, indent+branch+nodeLine(n))
		drawNodes(w, n.Nodes, indent+below)
	}
}

func nodeLine(n memory.TreeNode) string {
	line := short(n.Text, textWidth) + "  " + n.ID
	if n.Record == memory.RecordComposite {
		kids := max(len(n.Children), len(n.Nodes))
		line = fmt.Sprintf("[%d] %s", kids, line)
	}
	return line
}
