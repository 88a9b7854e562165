package consolidate

import "fmt"

// refuse says that the write was refused when it was applied; it changes nothing then.
func (ws *workspace) refuse(code int, field, format string, args ...any) {
	ws.out.Outcome.Code, ws.out.Outcome.Field, ws.out.Outcome.Message = code, field, fmt.Sprintf(format, args...)
}
