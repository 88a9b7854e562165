// Package consolidate is stage 3: it folds the writes of the log into the
// store. Plan decides, purely, what one write changes; the store applies it;
// a Consolidator feeds it from the log.
//
// What Plan does with a fact, in this order:
//
//   - Same: an id that is there takes the new sources in.
//   - Duplicate: the nearest live fact of the same type at DEDUP or nearer whose
//     words pass the guard (equal numbers, dates, negation, names and small
//     words, one side's content words in order within the other's) is merged.
//     The wording said later stays; the other keeps a pointer to it.
//   - Correction: a neighbour that a cue plainly takes back is superseded.
//   - Conflict: a neighbour that says the opposite opens a conflict; both stay.
//   - State: where a fact gives an attribute of a subject a value, the validity
//     of all facts on that attribute is computed anew from their sources.
//     Each source gives its value from its start on; of two that speak of one
//     time the one said later is believed, then the higher sequence.
//   - Tree: it joins its nearest neighbours, alone or in their composites,
//     where any two members stay within the diameter of each other. Composites
//     are clustered in the same way, level by level, until nothing changes.
//
// When a fact says again what is held, the confidence c of the held one rises
// by that of the new one, d: c' = 1 - (1-c)(1-d/2).
package consolidate
