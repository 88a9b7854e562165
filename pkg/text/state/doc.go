// Package state is the grammar of states: of sentences that state the value of an attribute of a subject, as "Alice
// lives in Lisbon" states her residence, and of questions that ask for it. An attribute has one value at a time.
//
// Statements reads any sentence that a client states as a fact. Its forms find their subject anywhere in the sentence,
// so they are few and careful, and read that something holds no longer. DraftForms are for sentences in the third
// person that the rules of extraction wrote themselves: those begin with their subject, so more forms are safe. The two
// tables stay apart because each reads sentences that the other must not.
//
// Asked selects the attributes that a question asks for. Attribute is the one spelling of an attribute's name.
package state
