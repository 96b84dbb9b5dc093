package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

var docGetContract = doc{
	id: "get_template_contract", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Get what a template needs of data",
	description: "The JSON Schema of the data that a version of the template reads, and data that suits it; what is wrong with " +
		"the version; and what it changes for those who send data, against the version before: paths that it newly needs or no " +
		"longer reads, and which of the caller's recent batches would lack data now. While the version is being read, the answer is 202 " +
		"with a Retry-After: right after a file was marked or got a new version, and after a file that it includes has changed. If the caller may not " +
		"download all files that the template includes, the contract is that of a template that cannot be read. An extension of the interface.",
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example: exampleContract(),
	also: func(a *api, op *huma.Operation) {
		op.Responses["200"].Content[jsonType].Schema = a.schemaOf(contract{})
		op.Responses["202"] = a.jsonResponse("The template is still being read: ask again.", processing{Message: tagsProcessing})
		op.Responses["202"].Headers = map[string]*huma.Param{"Retry-After": {
			Description: "Seconds until it is worth asking again.", Schema: &huma.Schema{Type: huma.TypeInteger},
		}}
	},
}

type contract struct {
	TemplateFile        fileRef             `json:"template_file"`
	TemplateFileVersion fileVersionRef      `json:"template_file_version"`
	Schema              optional[anyObject] `json:"schema" doc:"JSON Schema (2020-12) of a user_input; null if the version cannot be read."`
	Sample              optional[anyObject] `json:"sample" doc:"A user_input that suits the schema; likewise."`
	Failures            failures            `json:"failures" doc:"Why the version cannot be read, and what is odd about it."`
	Changes             optional[changes]   `json:"changes" doc:"Against the version before; null if there is none that was a template."`
}

type changes struct {
	Since  fileVersionRef `json:"since" doc:"The version before."`
	Needs  []string       `json:"needs" doc:"Paths that must be there now, and needed not before."`
	Takes  []string       `json:"takes" doc:"Paths that are read now if they are there."`
	Drops  []string       `json:"drops" doc:"Paths that are no longer read."`
	Kinds  []kindChange   `json:"kinds" doc:"Paths that must be of another kind now."`
	Breaks []brokenBatch  `json:"breaks" doc:"Of the caller's recent batches, those whose data would lack something now."`
}

type kindChange struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

type brokenBatch struct {
	Batch     batchRef  `json:"batch"`
	CreatedAt timestamp `json:"created_at"`
	Lacks     []string  `json:"lacks" doc:"Paths that not all of its documents had."`
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

// ContractQuery asks for what a template needs.
type ContractQuery struct {
	TemplatePath
	VersionID string `query:"template_version_id" doc:"The id of a version of the template; the current one when left out." example:"87654321"`
}

// A contractReply holds a contract, or says that it is not ready yet.
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

// dryRun is the answer to a batch that is only tried.
type dryRun struct {
	Type       string          `json:"type" enum:"docgen_dry_run"`
	Documents  int             `json:"documents" doc:"The documents of the batch."`
	Incomplete int             `json:"incomplete" doc:"Those that would lack something."`
	Findings   []documentLacks `json:"findings" doc:"What the first 1000 of these would lack."`
}

type documentLacks struct {
	Position   int        `json:"position" doc:"Of the document in the batch, from 0."`
	Name       string     `json:"generated_file_name"`
	Mismatches []mismatch `json:"mismatches"`
}

type mismatch struct {
	Path       string  `json:"path" doc:"In the user_input, such as items[2].price."`
	Message    string  `json:"message"`
	DidYouMean *string `json:"did_you_mean" doc:"A path that is there and was probably meant; null if none comes near."`
}

func dryRunOf(run *docgen.DryRun) *dryRun {
	return &dryRun{
		Type: "docgen_dry_run", Documents: run.Documents, Incomplete: run.Incomplete,
		Findings: each(run.Findings, func(d *docgen.DocumentMismatches) documentLacks {
			return documentLacks{Position: d.Position, Name: d.Name, Mismatches: each(d.Mismatches, func(m *docgen.DataMismatch) mismatch {
				return mismatch{Path: m.Path, Message: m.Message, DidYouMean: orNull(m.Nearest)}
			})}
		}),
	}
}
