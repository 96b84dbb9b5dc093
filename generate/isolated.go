package generate

import (
	"context"
	"io"

	"platen/docgen"
	"platen/docx"
	"platen/generate/internal/isolate"
)

// Worker runs the generation of one document in isolation if the arguments of this process ask for it, and then does not return. A
// program that is a [Config].Program must call it first in main.
func Worker(args []string) { isolate.Worker(args) }

// isIsolated reports whether the documents of a slice are generated in processes of their own, because servers crashed while they were in
// progress.
func (s *slice) isIsolated() bool {
	return s.program != "" && s.claim.Lane == docgen.LaneIsolated && s.claim.Jobs[0].Crashes > 0
}

// renderIsolated starts to generate a document in a process of its own, including the compilation of its template. It calls done when the
// process has ended.
func (s *slice) renderIsolated(ctx context.Context, input []byte, options docx.Options, done func()) (*rendering, error) {
	version := s.claim.TemplateVersionID
	content, err := s.service.TemplateContent(ctx, version)
	if err != nil {
		done()
		return nil, err
	}
	template, err := s.read(ctx, content)
	if err != nil {
		done()
		return nil, err
	}
	wanted := s.claim.Options
	order := isolate.Order{
		Template: template, Data: input, Limits: s.limits, TemplateTime: s.templateTime, Memory: s.isolated, Now: options.Now,
		ForPDF:   options.ForPDF,
		Settings: docx.Settings{Locale: wanted.Locale, TimeZone: wanted.TimeZone, Missing: wanted.Missing, Strict: wanted.Strict},
		Images:   options.Picture != nil, WordML: options.WordML,
	}
	sources := isolate.Sources{Picture: options.Picture, Include: func(name string) ([]byte, error) {
		data, _, err := s.include(ctx, templateUse{versionID: version, requester: s.claim.Requester}, name)
		if isIncludeFault(err) {
			err = &isolate.ServerError{Err: err}
		}
		return data, err
	}}
	ctx, cancel := context.WithCancelCause(ctx)
	rendered := &rendering{cancel: cancel}
	rendered.piped = pipe(func(w io.Writer) (err error) {
		defer done()
		rendered.report, err = isolate.Run(ctx, s.program, order, sources, w)
		return err
	})
	return rendered, nil
}
