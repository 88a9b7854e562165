package projection

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Move is what a store notes when another one is made to take its place. The zero value: none is.
type Move struct {
	// To is the data source name of the other store.
	To   string   `json:"to,omitempty"`
	Step MoveStep `json:"step,omitempty"`
}

// MoveStep is how far a move has come; "" where there is none.
type MoveStep string

const (
	// MoveFilling: the other store is being filled and has not its name yet.
	MoveFilling MoveStep = "filling"
	// MovePlacing: the other store is complete and about to get its name. It is in force once it has it.
	MovePlacing MoveStep = "placing"
	// MoveDone: the other store is in force. Nothing may be applied to this one any more.
	MoveDone MoveStep = "done"
)

// moveKey is where a store notes its Move.
const moveKey = "move"

// Move returns what NoteMove noted last.
func (db *DB) Move(ctx context.Context) (m Move, err error) {
	err = db.database.Read(ctx, func(tx *engine.Tx) error {
		_, err := tx.Setting(moveKey, &m)
		return err
	})
	if err != nil {
		return Move{}, fmt.Errorf("read where the store was moved: %w", err)
	}
	return m, nil
}

// NoteMove notes a move. It is no part of the content of the store.
func (db *DB) NoteMove(ctx context.Context, m Move) error {
	err := db.database.Write(ctx, func(tx *engine.Tx) error { return tx.PutSetting(moveKey, m) })
	if err != nil {
		return fmt.Errorf("note where the store is moved: %w", err)
	}
	return nil
}
