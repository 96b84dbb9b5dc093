package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

var docGetContract = doc{
	id: "get_template_contract", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Get the contract of a template",
	description: "The data that a version of a template needs: its JSON Schema, a sample, and what is wrong with the version. Compared " +
		"with the previous version, it also lists paths that are newly required or no longer read, and the caller's recent batches " +
		"whose data would now be incomplete. While the server reads the version, the response is 202 with Retry-After: right after a " +
		"file was marked or got a new version, and after a file that it includes has changed. If the caller may not download all " +
		"files that the template includes, the contract is that of an unreadable template. A Platen extension.",
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example: exampleContract(),
	also: func(a *api, op *huma.Operation) {
		op.Responses["200"].Content[jsonType].Schema = a.schemaOf(contract{})
		op.Responses["202"] = a.jsonResponse("The server is still reading the template. Retry.", processing{Message: tagsProcessing})
		op.Responses["202"].Headers = map[string]*huma.Param{"Retry-After": {
			Description: "Seconds to wait before you retry.", Schema: &huma.Schema{Type: huma.TypeInteger},
		}}
	},
}

type contract struct {
	TemplateFile        fileRef             `json:"template_file"`
	TemplateFileVersion fileVersionRef      `json:"template_file_version"`
	Schema              optional[anyObject] `json:"schema" doc:"JSON Schema (2020-12) of a user_input; null if the version cannot be read."`
	Sample              optional[anyObject] `json:"sample" doc:"A user_input that is valid against the schema; null if the version cannot be read."`
	Failures            failures            `json:"failures" doc:"Errors that make the version unreadable, and warnings."`
	Changes             optional[changes]   `json:"changes" doc:"Changes since the previous version; null if there is none that was a template."`
}

type changes struct {
	Since  fileVersionRef `json:"since" doc:"The previous version."`
	Needs  []string       `json:"needs" doc:"Paths that are required now and were not before."`
	Takes  []string       `json:"takes" doc:"Optional paths that are read now and were not before."`
	Drops  []string       `json:"drops" doc:"Paths that are no longer read."`
	Kinds  []kindChange   `json:"kinds" doc:"Paths whose values must now be of another kind."`
	Breaks []brokenBatch  `json:"breaks" doc:"The caller's recent batches whose data would now be incomplete."`
}

type kindChange struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

type brokenBatch struct {
	Batch     batchRef  `json:"batch"`
	CreatedAt timestamp `json:"created_at"`
	Lacks     []string  `json:"lacks" doc:"Paths that were missing in at least one of its documents."`
}

func contractOf(c *docgen.Contract) *contract {
	out := &contract{
		TemplateFile:        fileRef{ID: ID(c.TemplateID), Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: ID(c.VersionID), Type: typeFileVersion},
		Failures:            failuresOf(docgen.Failures{Errors: c.Errors, Warnings: c.Warnings, Details: c.Details}),
	}
	if c.Schema != nil {
		schema, sample := anyObject(c.Schema), anyObject(c.Sample)
		out.Schema.value, out.Sample.value = &schema, &sample
	}
	if d := c.Changes; d != nil {
		out.Changes.value = &changes{
			Since: fileVersionRef{ID: ID(d.Since), Type: typeFileVersion},
			Needs: append([]string{}, d.Needs...), Takes: append([]string{}, d.Takes...), Drops: append([]string{}, d.Drops...),
			Kinds: each(d.Kinds, func(k *docgen.KindChange) kindChange { return kindChange(*k) }),
			Breaks: each(d.Breaks, func(b *docgen.BrokenBatch) brokenBatch {
				return brokenBatch{Batch: batchRef{ID: b.ID, Type: typeBatch}, CreatedAt: timestamp{b.CreatedAt}, Lacks: b.Lacks}
			}),
		}
	}
	return out
}

// ContractQuery holds the parameters of a request for a contract.
type ContractQuery struct {
	TemplatePath
	VersionID string `query:"template_version_id" doc:"The id of a version of the template (default: the version in use)." example:"87654321"`
}

// A contractReply holds a contract, or says that the server is still reading the template.
type contractReply struct {
	Status     int
	RetryAfter string `header:"Retry-After" hidden:"true"`
	Body       either[contract, processing]
}

func (a *api) getContract(ctx context.Context, c *call, in *ContractQuery) (*contractReply, error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	version, err := versionParam("template_version_id", in.VersionID)
	if err != nil {
		return nil, err
	}
	found, ready, err := a.service.Contract(ctx, c.caller, id, version)
	if err != nil {
		return nil, err
	}
	if !ready {
		answer := &contractReply{Status: http.StatusAccepted, RetryAfter: tagsRetryAfter}
		answer.Body.second = &processing{Message: tagsProcessing}
		return answer, nil
	}
	answer := &contractReply{Status: http.StatusOK}
	answer.Body.first = contractOf(&found)
	return answer, nil
}

// dryRun is the response to a batch with options.dry_run.
type dryRun struct {
	Type       string          `json:"type" enum:"docgen_dry_run"`
	Documents  int             `json:"documents" doc:"The number of documents of the batch."`
	Incomplete int             `json:"incomplete" doc:"The number of documents that would be incomplete."`
	Findings   []documentLacks `json:"findings" doc:"What these documents lack, for the first 1000 of them."`
}

type documentLacks struct {
	Position   int        `json:"position" doc:"The position of the document in the batch, starting with 0."`
	Line       int        `json:"line,omitempty" doc:"The line of streamed data on which the document begins, starting with 1."`
	Name       string     `json:"generated_file_name"`
	Mismatches []mismatch `json:"mismatches"`
}

type mismatch struct {
	Path       string  `json:"path" doc:"The path in the user_input, such as items[2].price."`
	Message    string  `json:"message"`
	DidYouMean *string `json:"did_you_mean" doc:"The most similar path that exists; null if none is similar."`
}

func dryRunOf(run *docgen.DryRun) *dryRun {
	return &dryRun{
		Type: "docgen_dry_run", Documents: run.Documents, Incomplete: run.Incomplete,
		Findings: each(run.Findings, func(d *docgen.DocumentMismatches) documentLacks {
			return documentLacks{Position: d.Position, Line: d.Line, Name: d.Name, Mismatches: each(d.Mismatches, mismatchOf)}
		}),
	}
}

func mismatchOf(m *docgen.DataMismatch) mismatch {
	return mismatch{Path: m.Path, Message: m.Message, DidYouMean: orNull(m.Nearest)}
}
