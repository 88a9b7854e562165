package natsd

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/highwayhash"
	"github.com/rs/zerolog"
)

// The form of a block file of the server's streams: records one after the other. A record is its length in bytes (4, whose
// first bit says that there are headers), its sequence (8, whose first two bits say that it was erased, or that it says which
// other event was deleted), its time (8), the length of its subject (2), subject and content, and a checksum (8).
const (
	recordHead  = 22
	recordSum   = 8
	withHeaders = 1 << 31
	erasedBit   = 1 << 63
	deletedBit  = 1 << 62
	maxRecord   = 32 << 20
)

// checkedDeletions is how many of the latest deletions of a stream are looked at when the server starts. It carries them out
// one after the other, so that a kill interrupts one.
const checkedDeletions = 64

// block is a block file and its number.
type block struct {
	path   string
	number int
}

// record is where a record stands in its block.
type record struct {
	at, size int
	seq      uint64 // with its bits
}

// finishErasures overwrites the events of a stream that the server had begun to erase when it was killed: it first notes
// that an event is deleted, and knows nothing of it any more when it starts, but its bytes are there. What else it left of
// that work is removed.
func (f streamFiles) finishErasures(log zerolog.Logger) error {
	if f.copy == "" { // a consumer
		return nil
	}
	blocks, err := f.blocks()
	if err != nil || len(blocks) == 0 {
		return err
	}
	last, err := os.ReadFile(blocks[len(blocks)-1].path)
	if err != nil {
		return fmt.Errorf("nats: events of %s: %w", f.key, err)
	}
	var deleted []uint64
	for _, r := range records(last) {
		if r.seq&deletedBit != 0 {
			deleted = append(deleted, r.seq&^deletedBit)
		}
	}
	for i, seqs := range f.places(blocks, deleted[max(0, len(deleted)-checkedDeletions):]) {
		n, err := f.overwrite(blocks[i], seqs)
		if err != nil {
			return fmt.Errorf("nats: events of %s: %w", f.key, err)
		}
		if n > 0 {
			log.Info().Str("stage", "nats").Str("stream", f.key).Int("events", n).Msg("deleted events are overwritten")
		}
	}
	return nil
}

// blocks returns the block files of a stream in their order, and removes copies that the server had begun to make of them.
func (f streamFiles) blocks() ([]block, error) {
	dir := filepath.Join(f.dir, "msgs")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("nats: events of %s: %w", f.key, err)
	}
	var out []block
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), ".blk"+copySuffix) {
			if err := os.Remove(path); err != nil {
				return nil, fmt.Errorf("nats: events of %s: %w", f.key, err)
			}
		}
		if name, ok := strings.CutSuffix(e.Name(), ".blk"); ok {
			if n, err := strconv.Atoi(name); err == nil {
				out = append(out, block{path, n})
			}
		}
	}
	slices.SortFunc(out, func(a, b block) int { return a.number - b.number })
	return out, nil
}

// copySuffix is what the name of the copy of a block ends with until it takes the block's place.
const copySuffix = ".tmp"

// places returns which of the events stand in which block, by its index.
func (f streamFiles) places(blocks []block, seqs []uint64) map[int][]uint64 {
	out := map[int][]uint64{}
	left := slices.Clone(seqs)
	for i := len(blocks) - 1; i >= 0 && len(left) > 0; i-- {
		first, ok := firstSequence(blocks[i].path)
		if !ok {
			continue
		}
		left = slices.DeleteFunc(left, func(seq uint64) bool {
			if seq >= first {
				out[i] = append(out[i], seq)
			}
			return seq >= first
		})
	}
	return out
}

// firstSequence returns the sequence of the first event in a block, erased or not.
func firstSequence(path string) (seq uint64, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer file.Close() //nolint:errcheck // it was only read
	head := make([]byte, recordHead)
	for at := int64(0); ; {
		if _, err := file.ReadAt(head, at); err != nil {
			return 0, false
		}
		size := binary.LittleEndian.Uint32(head) &^ withHeaders
		if size < recordHead+recordSum || size > maxRecord {
			return 0, false
		}
		if seq = binary.LittleEndian.Uint64(head[4:]); seq&deletedBit == 0 {
			return seq &^ erasedBit, true
		}
		at += int64(size)
	}
}

// records returns the records of a block up to the first that is none. Of a compressed one there are none.
func records(raw []byte) (out []record) {
	for at := 0; at+recordHead <= len(raw); {
		size := int(binary.LittleEndian.Uint32(raw[at:]) &^ withHeaders)
		if size < recordHead+recordSum || size > maxRecord || at+size > len(raw) {
			break
		}
		out = append(out, record{at, size, binary.LittleEndian.Uint64(raw[at+4:])})
		at += size
	}
	return out
}

// overwrite replaces the content of events in a block by random bytes, as the server does, and returns of how many.
func (f streamFiles) overwrite(b block, seqs []uint64) (n int, err error) {
	raw, err := os.ReadFile(b.path)
	if err != nil {
		return 0, err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", filepath.Base(f.dir), b.number))
	for _, r := range records(raw) {
		if !slices.Contains(seqs, r.seq) { // an erased one has another bit
			continue
		}
		whole := raw[r.at : r.at+r.size]
		if !bytes.Equal(sumOf(whole, key[:]), whole[r.size-recordSum:]) {
			continue // damaged, or not what it seems to be
		}
		binary.LittleEndian.PutUint32(whole, uint32(r.size)) //nolint:gosec // it was read from 32 bits
		binary.LittleEndian.PutUint64(whole[4:], r.seq|erasedBit)
		clear(whole[12:recordHead])
		if _, err := rand.Read(whole[recordHead : r.size-recordSum]); err != nil {
			return 0, err
		}
		copy(whole[r.size-recordSum:], sumOf(whole, key[:]))
		n++
	}
	if n == 0 {
		return 0, nil
	}
	return n, replaceFile(b.path, copySuffix, raw, true)
}

// sumOf returns the checksum of a record: over sequence and time, subject, and content without the length of headers.
func sumOf(whole, key []byte) []byte {
	subject := int(binary.LittleEndian.Uint16(whole[20:]))
	body := whole[recordHead : len(whole)-recordSum]
	rest := body[min(subject, len(body)):]
	if binary.LittleEndian.Uint32(whole)&withHeaders != 0 {
		rest = rest[min(4, len(rest)):]
	}
	sum := highwayhash.Sum64(slices.Concat(whole[4:20], body[:min(subject, len(body))], rest), key)
	return binary.LittleEndian.AppendUint64(nil, sum)
}
