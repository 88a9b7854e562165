// Package faults runs the real programs under faults and accounts for every acknowledged message.
//
// A Cluster is a broker and two of each stage, every one a process. While Traffic is published to it and Acks records
// what is acknowledged, a Schedule of faults, drawn from a seed, kills, pauses, doubles and starves the processes.
// Audit then compares the acknowledgements with the log and the log with the store; the Outcome is compared with that
// of a run of the same traffic without faults, and the store with one rebuilt from the log. A Replicated is
// the same with three brokers, which suffer Outages: they are killed, frozen and parted. An Instance is a whole
// Eunoe in one process, whose memory is watched under a steady rate.
package faults
