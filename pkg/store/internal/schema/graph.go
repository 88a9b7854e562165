package schema

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// entities describes entities and their spellings.
func entities() Kind {
	return Kind{
		Rules: entityRules,
		Tables: []Table{
			{Name: "entities", OfBank: true, Dump: `SELECT b.id, e.id, e.type, e.name, e.redirect FROM entities e JOIN banks b ON b.no = e.bank ORDER BY b.id, e.id`},
			{Name: "entity_names", OfBank: true, Dump: `SELECT b.id, n.name, n.entity, n.spelling FROM entity_names n JOIN banks b ON b.no = n.bank ORDER BY b.id, n.name, n.entity, n.spelling`},
		},
	}
}

// relations describes relations between records and entities.
func relations() Kind {
	return Kind{
		Rules:  []Rule{{"a relation rests on facts of its bank", `SELECT DISTINCT j.value FROM relations r CROSS JOIN json_each(r.facts) j LEFT JOIN facts f ON f.id = j.value AND f.bank = r.bank WHERE f.no IS NULL`}},
		Tables: []Table{{Name: "relations", OfBank: true, Dump: `SELECT b.id, r.source, r.target, r.type, r.strength, r.facts FROM relations r JOIN banks b ON b.no = r.bank ORDER BY b.id, r.source, r.target, r.type`}},
	}
}

// ConflictColumns are the columns of "conflicts x" that ScanConflict reads.
const ConflictColumns = `x.id, x.a, x.b, x.reason, x.state, coalesce(x.winner, ''), x.version`

// ScanConflict reads a row of ConflictColumns.
func ScanConflict(rows *sql.Rows) (x memory.Conflict, err error) {
	err = rows.Scan(&x.ID, &x.A, &x.B, &x.Reason, &x.State, &x.Winner, &x.Version)
	return x, err
}

// conflicts describes conflicts between facts.
func conflicts() Kind {
	return Kind{
		Rules: []Rule{{"a conflict is between two facts of its bank, and won by one of them", `SELECT x.id FROM conflicts x LEFT JOIN facts a ON a.id = x.a AND a.bank = x.bank
LEFT JOIN facts b ON b.id = x.b AND b.bank = x.bank WHERE a.no IS NULL OR b.no IS NULL OR x.a = x.b OR x.winner NOT IN (x.a, x.b)`}},
		Tables: []Table{{Name: "conflicts", OfBank: true, Dump: `SELECT x.id, b.id, x.a, x.b, x.reason, x.state, x.winner, x.version FROM conflicts x JOIN banks b ON b.no = x.bank ORDER BY x.id`}},
	}
}

// uses describes what feedback reported of records.
func uses() Kind {
	return Kind{Tables: []Table{{Name: "uses", OfBank: true, Dump: `SELECT b.id, u.record, u.retrieved, u.used, u.success, u.failure, u.at FROM uses u JOIN banks b ON b.no = u.bank ORDER BY b.id, u.record`}}}
}

// RemoveUses deletes what feedback reported of a record that is removed.
func RemoveUses(tx *engine.Tx, bank int64, record string) error {
	return tx.Exec("remove the uses of "+record, `DELETE FROM uses WHERE bank = ? AND record = ?`, bank, engine.Text(record))
}
