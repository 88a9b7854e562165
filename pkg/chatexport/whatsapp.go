package chatexport

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DateOrder is the order of day, month and year in a date of three numbers.
type DateOrder string

// The orders. A date whose first number has four digits is always YMD.
const (
	DMY DateOrder = "dmy"
	MDY DateOrder = "mdy"
	YMD DateOrder = "ymd"
)

// whatsAppLine begins a message: "[31.12.21, 23:59:01] Ana: …" on phones of one maker, "31/12/21, 23:59 - Ana: …" on
// the others. What does not begin so continues the message before.
var whatsAppLine = regexp.MustCompile(`^\x{200e}?(?:\[(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4}),?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?[\s\x{202f}\x{a0}]*((?i:[ap])\.?[\s\x{202f}\x{a0}]?(?i:m)\.?)?\]\s?` +
	`|(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4}),?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?[\s\x{202f}\x{a0}]*((?i:[ap])\.?[\s\x{202f}\x{a0}]?(?i:m)\.?)?\s-\s)(.*)$`)

func whatsAppBegins(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return whatsAppLine.MatchString(strings.TrimRight(first, "\r"))
}

// moment is the beginning of a line: three numbers of a date in an unknown order, and the time of the day.
type moment struct {
	first, second, third int
	dots, long           bool // separated by dots; the first has four digits
	hour, minute, sec    int
}

// whatsApp reads one chat.
type whatsApp struct {
	r      *reading
	chat   string
	order  DateOrder
	at     moment
	text   strings.Builder
	open   bool           // a message has begun
	number int            // of the line on which it begins
	same   map[string]int // how often a message with the same time, speaker and text was read
}

// readWhatsApp reads the text of a chat: _chat.txt in an archive, or the file alone.
func readWhatsApp(r *reading, src *source) error {
	found := src.like("*.txt")
	if len(found) == 0 {
		return memory.Invalid("file", "holds no text of a chat")
	}
	for _, p := range found {
		order := r.opt.Dates
		if order == "" {
			var err error
			if order, err = dateOrder(p); err != nil {
				return err
			}
		}
		name := strings.TrimSuffix(path.Base(p.name), ".txt")
		if !src.zip || strings.HasPrefix(name, "_") {
			name = r.opt.Name
		}
		w := &whatsApp{r: r, chat: name, order: order, same: map[string]int{}}
		r.report.Conversations++
		if err := lines(p, w.line); err != nil {
			return err
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

// lines calls fn with each line of a text, numbered from 1. A line ends with LF, CR LF or CR.
func lines(p part, fn func(number int, line string) error) error {
	return p.read(func(in *limited) error {
		in.text = true
		sc := bufio.NewScanner(in)
		sc.Buffer(make([]byte, 0, 64<<10), MaxContent)
		number := 0
		for sc.Scan() {
			for line := range strings.SplitSeq(strings.TrimRight(sc.Text(), "\r"), "\r") {
				number++
				if err := fn(number, line); err != nil {
					return err
				}
			}
		}
		if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
			return memory.Invalid("file", "has a line of more than %d bytes", MaxContent)
		} else if err != nil {
			return err
		}
		return nil
	})
}

// begins reads the beginning of a line; ok is false where the line continues the one before.
func begins(line string) (at moment, rest string, ok bool) {
	m := whatsAppLine.FindStringSubmatch(line)
	if m == nil {
		return at, line, false
	}
	f := m[1:9]
	if f[0] == "" {
		f = m[9:17]
	}
	n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v } //nolint:errcheck // the pattern has digits there, or nothing
	at = moment{first: n(0), second: n(2), third: n(3), dots: f[1] == ".", long: len(f[0]) == 4, hour: n(4), minute: n(5), sec: n(6)}
	if half := strings.ToLower(f[7]); half != "" {
		at.hour %= 12
		if half[0] == 'p' {
			at.hour += 12
		}
	}
	return at, m[17], true
}

// The years of a chat: another one is that of a damaged line. Phones in Thailand write the Buddhist year.
const (
	firstYear, lastYear = 2000, 2099
	buddhist            = 543
)

// in returns the time in an order of dates; ok is false where there is no such day.
func (m moment) in(order DateOrder, zone *time.Location) (t time.Time, ok bool) {
	year, month, day := m.third, m.second, m.first
	switch {
	case m.long || order == YMD:
		year, month, day = m.first, m.second, m.third
	case order == MDY:
		month, day = m.first, m.second
	}
	switch {
	case year < 100:
		year += 2000
	case year > lastYear && year <= lastYear+buddhist:
		year -= buddhist
	}
	t = time.Date(year, time.Month(month), day, m.hour, m.minute, m.sec, 0, zone)
	return t.UTC(), t.Day() == day && int(t.Month()) == month && year >= firstYear && year <= lastYear && m.hour < 24 && m.minute < 60 && m.sec < 60
}

// wrong returns the error of a message with no such time in an order of dates.
func (m moment) wrong(line int, order DateOrder) error {
	return memory.Invalid("dates", "line %d begins with the date %d %d %d and the time %d:%02d, which there is not in the order %s: the line is damaged, or the chat has another order",
		line, m.first, m.second, m.third, m.hour, m.minute, order)
}

// dateOrder infers the order of dates from all of them: from numbers that are no month, from dots, which no
// month stands before, else from the order in which the messages stand. It is an error where both orders are possible.
func dateOrder(p part) (DateOrder, error) {
	possible := map[DateOrder]bool{DMY: true, MDY: true}
	sorted := map[DateOrder]bool{DMY: true, MDY: true}
	last := map[DateOrder]time.Time{}
	dates, dots := 0, false
	err := lines(p, func(number int, line string) error {
		at, _, ok := begins(line)
		if !ok || at.long {
			return nil
		}
		dates++
		dots = dots || at.dots
		_, dmy := at.in(DMY, time.UTC)
		if _, mdy := at.in(MDY, time.UTC); !dmy && !mdy {
			return at.wrong(number, DMY+" or "+MDY)
		}
		for order := range possible {
			t, ok := at.in(order, time.UTC)
			possible[order] = possible[order] && ok
			sorted[order] = sorted[order] && !t.Before(last[order].Add(-time.Hour)) // messages may overtake each other
			last[order] = t
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case dates == 0:
		return YMD, nil
	case possible[DMY] && !possible[MDY], dots && possible[DMY]:
		return DMY, nil
	case possible[MDY] && !possible[DMY]:
		return MDY, nil
	case !possible[DMY] && !possible[MDY]:
		return "", memory.Invalid("dates", "are in no order that fits the whole file")
	case sorted[DMY] != sorted[MDY]:
		if sorted[DMY] {
			return DMY, nil
		}
		return MDY, nil
	}
	return "", memory.Invalid("dates", "may have the day first or the month first; say which: dmy or mdy")
}

// line adds a line to the message that is open, or ends that and begins the next.
func (w *whatsApp) line(number int, line string) error {
	at, rest, ok := begins(line)
	switch {
	case !ok && w.open:
		w.text.WriteString("\n" + line)
		return nil
	case !ok && strings.TrimSpace(line) != "":
		w.r.skip("lines before the first message")
		return nil
	case !ok:
		return nil
	}
	if err := w.end(); err != nil {
		return err
	}
	w.open, w.at, w.number = true, at, number
	w.text.WriteString(rest)
	return nil
}

// end emits the message that is open.
func (w *whatsApp) end() error {
	if !w.open {
		return nil
	}
	text := w.text.String()
	w.open = false
	w.text.Reset()
	at, ok := w.at.in(w.order, w.r.opt.Zone)
	if !ok {
		return w.at.wrong(w.number, w.order)
	}
	speaker, said, named := strings.Cut(text, ": ")
	switch {
	case !named || len(speaker) > memory.MaxName:
		w.r.skip("notices of the chat")
		return nil
	case strings.HasPrefix(said, "\u200e"), strings.HasPrefix(said, "<") && strings.HasSuffix(said, ">"):
		w.r.skip("media and notices") // the program marks what it wrote itself
		return nil
	}
	key := fmt.Sprintf("%d\x00%s\x00%s", at.Unix(), speaker, said)
	w.same[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, w.same[key]))
	return w.r.message(w.chat, hex.EncodeToString(sum[:10]), memory.Message{
		Role: memory.RoleUser, Speaker: strings.TrimLeft(speaker, "~\u200e\u202f\u00a0 "), Content: strings.ReplaceAll(said, "\u200e", ""), Time: at,
	})
}
