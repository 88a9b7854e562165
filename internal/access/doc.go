// Package access is who may what, as data: the users of a deployment with
// their public keys, kept in a directory, and the permissions that each role
// has. The embedded server reads them through Policy, a server of one's own
// through the configuration that Conf writes; both say the same.
//
// Every bank that has a bot is an account of the broker, in which its bots
// live. It reaches the streams and stages through the bank's own requests,
// messages, flushes and changes, and has nothing else in it. Workers and
// operators live in the account of the streams.
package access
