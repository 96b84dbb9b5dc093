package mcp

import "platen/client"

// A failureList is what is wrong with a document or a template, without what the API repeats for people.
type failureList struct {
	Problems []failed `json:"problems"`
	Omitted  int64    `json:"omitted,omitempty"` // the number of further problems
}

// failed is one problem.
type failed struct {
	Severity   string `json:"severity"`
	Message    string `json:"message"`
	Tag        string `json:"tag,omitempty"`
	File       string `json:"file,omitempty"` // the included file with the tag
	Place      string `json:"place,omitempty"`
	Path       string `json:"path,omitempty"`      // what the tag reads
	DataPath   string `json:"data_path,omitempty"` // the value in the data
	DidYouMean string `json:"did_you_mean,omitempty"`
	Hint       string `json:"hint,omitempty"`
}

// failuresOf returns the failures of the API, or nil if there are none. Problems with a location come first.
func failuresOf(f *client.Failures) *failureList {
	if f == nil || f.Count == 0 {
		return nil
	}
	list, located := &failureList{Problems: []failed{}, Omitted: f.Omitted}, map[string]bool{}
	for i := range f.Details {
		d := &f.Details[i]
		located[d.Message] = true
		list.Problems = append(list.Problems, failed{
			Severity: string(d.Severity), Message: d.Message, Tag: d.Tag, File: text(d.File), Place: d.Place, Path: text(d.Path),
			DataPath: text(d.DataPath), DidYouMean: text(d.DidYouMean), Hint: d.Hint,
		})
	}
	list.add("error", f.Errors, located)
	list.add("warning", f.Warnings, located)
	return list
}

// add adds the messages that are not among those with a location.
func (l *failureList) add(severity string, messages []string, located map[string]bool) {
	for _, message := range messages {
		if !located[message] {
			l.Problems = append(l.Problems, failed{Severity: severity, Message: message})
		}
	}
}

// text returns the text that a pointer refers to, or "" for nil.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
