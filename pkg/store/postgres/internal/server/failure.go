package server

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// mendable are the classes of SQLSTATE that waiting or an operator can mend: connections, authorization, a database that
// is not there, resources, intervention, and errors of the system; and a lock that was not had in time, a transaction
// that waited too long, a deadlock, a conflict, and a server that only reads.
var mendable = []string{"08", "28", "3D", "53", "57", "58", "55P03", "25P03", "40001", "40P01", "25006"}

// uniqueViolation is the SQLSTATE of a row with a value that another row has and only one may have.
const uniqueViolation = "23505"

// Failure implements engine.Engine.
func (s *Server) Failure(err error) error {
	if err == nil || errors.Is(err, memory.ErrUnavailable) {
		return err
	}
	if s.replaced(err) {
		return fmt.Errorf("%w: %w", engine.ErrReplaced, err)
	}
	var told *pgconn.PgError
	if errors.As(err, &told) {
		if told.Code == uniqueViolation {
			return fmt.Errorf("%w: %w", engine.ErrExists, err)
		}
		for _, class := range mendable {
			if strings.HasPrefix(told.Code, class) {
				return fmt.Errorf("%w: %w", err, memory.ErrUnavailable)
			}
		}
		return err
	}
	var network net.Error
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) {
		return fmt.Errorf("%w: %w", err, memory.ErrUnavailable)
	}
	return err
}
