package mcp

import (
	"context"
	"encoding/json"
	"net/http"

	"platen/client"
)

type listTemplatesArguments struct {
	Limit  *int64  `json:"limit"`
	Marker *string `json:"marker"`
}

type templateList struct {
	Templates  []templateEntry `json:"templates"`
	NextMarker *string         `json:"next_marker"`
}

type templateEntry struct {
	ID      string  `json:"template_id"`
	Name    string  `json:"name"`
	Problem *string `json:"problem,omitempty"`
}

// defaultPage is the number of entries on a page unless the model chooses another.
const defaultPage = 50

func listTemplates(ctx context.Context, s *session, a listTemplatesArguments) (*answer, error) {
	response, err := s.ListTemplates(ctx, &client.ListTemplatesParams{Limit: orDefault(a.Limit), Marker: a.Marker})
	if err != nil {
		return nil, err
	}
	if response.JSON200 == nil {
		return nil, unexpected(response.StatusCode())
	}
	list := templateList{Templates: []templateEntry{}, NextMarker: response.JSON200.NextMarker}
	for _, entry := range response.JSON200.Entries {
		list.Templates = append(list.Templates, templateEntry{entry.File.Id, entry.FileName, entry.Problem})
	}
	return &answer{value: list}, nil
}

func orDefault(limit *int64) *int64 {
	if limit == nil {
		return new(int64(defaultPage))
	}
	return limit
}

type templateArguments struct {
	ID string `json:"template_id"`
}

type template struct {
	ID       string                  `json:"template_id"`
	Version  string                  `json:"version_id"`
	Name     string                  `json:"name"`
	Defaults client.TemplateDefaults `json:"defaults"`
	Schema   json.RawMessage         `json:"schema"`
	Failures *failureList            `json:"failures,omitempty"`
}

func getTemplate(ctx context.Context, s *session, a templateArguments) (*answer, error) {
	entry, err := s.GetTemplate(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if entry.JSON200 == nil {
		return nil, unexpected(entry.StatusCode())
	}
	contract, members, err := s.contract(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	return &answer{value: template{
		ID: a.ID, Version: contract.TemplateFileVersion.Id, Name: entry.JSON200.FileName, Defaults: entry.JSON200.Defaults,
		Schema: members["schema"], Failures: failuresOf(&contract.Failures),
	}}, nil
}

// contract returns the contract of a template, and its members as the server sent them.
func (s *session) contract(ctx context.Context, template string) (*client.Contract, members, error) {
	response, err := s.GetTemplateContract(ctx, template, &client.GetTemplateContractParams{})
	if err != nil {
		return nil, nil, err
	}
	if response.JSON200 == nil {
		return nil, nil, s.notReady(response.StatusCode())
	}
	var raw members
	err = json.Unmarshal(response.Body, &raw)
	return response.JSON200, raw, err
}

// members are those of a JSON object, as they are: with all digits of numbers, and the members of objects in order.
type members map[string]json.RawMessage

// notReady returns the error for a response without the expected result. A template that is still being read is no failure.
func (s *session) notReady(status int) error {
	if status == http.StatusAccepted {
		return problemf("The server is still reading the template. Call the tool again in %s seconds.", s.retryAfter)
	}
	return unexpected(status)
}

func unexpected(status int) error {
	return problemf("The server responded with status %d and without the result. Is the URL that of a Platen server of the same version?",
		status)
}

type listTagsArguments struct {
	templateArguments
	listTemplatesArguments
}

type tagList struct {
	Tags       []templateTag `json:"tags"`
	Problem    *string       `json:"problem,omitempty"`
	NextMarker *string       `json:"next_marker"`
}

type templateTag struct {
	Tag   string   `json:"tag"`
	Kind  string   `json:"kind"`
	Paths []string `json:"paths"`
}

func listTags(ctx context.Context, s *session, a listTagsArguments) (*answer, error) {
	response, err := s.ListTags(ctx, a.ID, &client.ListTagsParams{Limit: orDefault(a.Limit), Marker: a.Marker})
	if err != nil {
		return nil, err
	}
	if response.JSON200 == nil {
		return nil, s.notReady(response.StatusCode())
	}
	list := tagList{Tags: []templateTag{}, Problem: response.JSON200.Problem, NextMarker: response.JSON200.NextMarker}
	for _, tag := range response.JSON200.Entries {
		list.Tags = append(list.Tags, templateTag{tag.TagContent, string(tag.TagType), tag.JsonPaths})
	}
	return &answer{value: list}, nil
}

type sampleArguments struct {
	templateArguments
	Name string `json:"name"`
}

type sample struct {
	Name    string                `json:"name,omitempty"`
	Data    json.RawMessage       `json:"data"`
	Options *client.SampleOptions `json:"options,omitempty"`
	Stored  []string              `json:"stored_samples,omitempty"`
}

func getSample(ctx context.Context, s *session, a sampleArguments) (*answer, error) {
	if a.Name == "" {
		return generatedSample(ctx, s, a.ID)
	}
	response, err := s.GetTemplateSample(ctx, a.ID, a.Name)
	if err != nil {
		return nil, err
	}
	if response.JSON200 == nil {
		return nil, unexpected(response.StatusCode())
	}
	var raw members
	if err := json.Unmarshal(response.Body, &raw); err != nil {
		return nil, err
	}
	return &answer{value: sample{Name: response.JSON200.Name, Data: raw["user_input"], Options: &response.JSON200.Options}}, nil
}

// generatedSample returns the data that the server builds from the schema, and the names of the stored samples.
func generatedSample(ctx context.Context, s *session, template string) (*answer, error) {
	contract, raw, err := s.contract(ctx, template)
	if err != nil {
		return nil, err
	}
	if contract.Sample == nil {
		return nil, problemf("The template cannot be read, so there is no data for it. get_template says what is wrong.")
	}
	report, err := s.ListTemplateSamples(ctx, template, &client.ListTemplateSamplesParams{})
	if err != nil {
		return nil, err
	}
	if report.JSON200 == nil {
		return nil, unexpected(report.StatusCode())
	}
	out := sample{Data: raw["sample"]}
	for _, entry := range report.JSON200.Entries {
		out.Stored = append(out.Stored, entry.Name)
	}
	return &answer{value: out}, nil
}

type checkArguments struct {
	templateArguments
	Data json.RawMessage `json:"data"`
	options
}

// options are those of documents that models choose.
type options struct {
	Locale   *string `json:"locale"`
	TimeZone *string `json:"time_zone"`
}

type dataCheck struct {
	Complete bool         `json:"complete"`
	Status   string       `json:"status"`
	Data     *failureList `json:"data_failures,omitempty"`
	Template *failureList `json:"template_failures,omitempty"`
}

func checkData(ctx context.Context, s *session, a checkArguments) (*answer, error) {
	response, err := client.CheckData(ctx, s.Client, client.CheckForm{
		TemplateID: a.ID, Input: a.Data, Options: &client.SampleOptions{Locale: a.Locale, TimeZone: a.TimeZone},
	})
	if err != nil {
		return nil, err
	}
	found := response.JSON200
	if found == nil {
		return nil, unexpected(response.StatusCode())
	}
	out := dataCheck{Status: "failed", Template: failuresOf(&found.Failures)}
	if found.Data != nil {
		out.Status, out.Data = string(found.Data.Status), failuresOf(&found.Data.Failures)
	}
	out.Complete = out.Status == "completed"
	return &answer{value: out}, nil
}
