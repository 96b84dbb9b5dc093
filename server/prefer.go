package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxPreferredWait is the maximum time that a client can ask to wait for a result.
const maxPreferredWait = time.Minute

// A preference says how long a client waits for a result (RFC 7240).
type preference struct {
	async bool          // respond-async: the client takes a job instead of the result
	wait  time.Duration // 0 for none
}

// preferenceOf returns the preference in the Prefer headers of a request. Unknown preferences are ignored, as RFC 7240 requires.
func preferenceOf(h http.Header) (preference, error) {
	var p preference
	for _, header := range h.Values("Prefer") {
		for entry := range strings.SplitSeq(header, ",") {
			entry, _, _ = strings.Cut(entry, ";")
			name, value, _ := strings.Cut(entry, "=")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "respond-async":
				p.async = true
			case "wait":
				seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 32)
				if err != nil {
					return p, invalidParam("Prefer", "the header Prefer must have wait as a number of seconds, such as wait=20")
				}
				p.wait = min(time.Duration(seconds)*time.Second, maxPreferredWait)
				p.async = p.async || p.wait == 0
			}
		}
	}
	return p, nil
}

// apply sets the header of the response that says which preferences were followed.
func (p preference) apply(h http.Header) {
	var applied []string
	if p.async {
		applied = append(applied, "respond-async")
	}
	if p.wait > 0 {
		applied = append(applied, "wait="+strconv.Itoa(int(p.wait.Seconds())))
	}
	if len(applied) > 0 {
		h.Set("Preference-Applied", strings.Join(applied, ", "))
	}
}
