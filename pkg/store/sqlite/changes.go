package sqlite

import "github.com/eunoe-memory/eunoe/pkg/memory"

// changes applies what a plan returned, in the order of its fields; what is
// forgotten goes last but for the entities that nothing names after it.
func (a *applier) changes(bank int64, w memory.Write, c memory.Changes) error {
	holding, err := a.beforeForget(bank, c.Forgotten)
	if err != nil {
		return err
	}
	a.renewed = c.Renewed
	a.erased = a.erased || c.Forgotten != nil || len(c.RemovedFacts)+len(c.RemovedObservations)+len(c.RemovedEntities) > 0
	for _, step := range []func() error{
		func() error { return a.putProfile(bank, w.Bank, c.Bank) },
		func() error { return a.removeComposites(bank, c.RemovedComposites) },
		func() error { return each(bank, c.Facts, a.putFact) },
		func() error { return a.removeFacts(bank, c.RemovedFacts) },
		func() error { return each(bank, c.Composites, a.putComposite) },
		// A child may be a composite of the same changes: all are there by now.
		func() error { return each(bank, c.Composites, a.adopt) },
		func() error { return each(bank, c.Entities, a.putEntity) },
		func() error { return each(bank, c.Relations, a.putRelation) },
		func() error { return each(bank, c.Conflicts, a.putConflict) },
		func() error { return each(bank, c.Observations, a.putObservation) },
		func() error { return each(bank, c.RemovedObservations, a.removeObservation) },
		func() error { return each(bank, c.RemovedConflicts, a.removeConflict) },
		func() error { return each(bank, c.Replacements, a.putReplacement) },
		func() error { return each(bank, c.Ended, a.endMessage) },
		func() error { return each(bank, c.MessageVectors, a.putMessageVector) },
		func() error { return a.endWindow(bank, w.Seq, c.Window) },
		func() error { return each(bank, c.Uses, a.addUse) },
		func() error { return a.forget(bank, w, c.Forgotten, holding) },
		func() error { return a.dropUnnamed(bank, c.RemovedEntities) },
		func() error { return a.putModels(bank, w, c) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if c.Forgotten != nil {
		a.memo.forget()
	}
	return nil
}

// each does one thing in a bank for every item, up to the first error.
func each[T any](bank int64, list []T, do func(bank int64, item T) error) error {
	for _, v := range list {
		if err := do(bank, v); err != nil {
			return err
		}
	}
	return nil
}
