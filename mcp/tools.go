package mcp

import (
	"fmt"
	"strings"
)

// object returns the JSON Schema of an object with properties. required lists the names of those that must be present, separated by spaces.
func object(required string, properties ...string) string {
	names := "[]"
	if required != "" {
		names = `["` + strings.ReplaceAll(required, " ", `", "`) + `"]`
	}
	return fmt.Sprintf(`{"type": "object", "additionalProperties": false, "required": %s, "properties": {%s}}`, names,
		strings.Join(properties, ", "))
}

// property returns a property: its name, the members of its schema, and its description.
func property(name, schema, description string) string {
	return fmt.Sprintf("%q: {%s, \"description\": %q}", name, schema, description)
}

// id is the schema of an id.
const id = `"type": "string", "pattern": "^[0-9]{1,20}$"`

// Properties of several tools.
var (
	templateID = property("template_id", id, "The id of the template, from list_templates.")
	limit      = property("limit", `"type": "integer", "minimum": 1, "maximum": 200, "default": 50`, "The maximum number of entries.")
	marker     = property("marker", `"type": "string", "minLength": 1, "maxLength": 4096`,
		"The next_marker of the previous page. Omit it for the first page.")
	data   = property("data", `"type": "object"`, "The data for the template: an object that is valid against the schema from get_template.")
	locale = property("locale", `"type": "string", "minLength": 2, "maxLength": 64`,
		"The language and region of numbers and dates, such as de-CH (default: that of the template).")
	timeZone = property("time_zone", `"type": "string", "minLength": 1, "maxLength": 64`,
		"The time zone of dates, such as Europe/Paris (default: that of the template).")
)

// tools are the tools, in the order of their use.
var tools = []tool{
	{
		name: "list_templates", title: "List templates",
		description: "List the templates that the user can generate documents from, with their ids and file names. If next_marker is not null, " +
			"there are more: pass it as marker. A template with a problem cannot be used.",
		input: object("", limit, marker),
		call:  with(listTemplates),
	},
	{
		name: "get_template", title: "Get the data schema of a template",
		description: "Get the name of a template and the JSON Schema (2020-12) of the data that it needs. Call it before you build data. " +
			"failures lists mistakes in the template. If it cannot be used, schema is null.",
		input: object("template_id", templateID),
		call:  with(getTemplate),
	},
	{
		name: "list_tags", title: "List the tags of a template",
		description: "List the tags of a template as its author wrote them, such as {{invoice.total :: currency(\"EUR\")}}, with the paths of " +
			"the data that each reads. They show how values are formatted. The schema from get_template is usually enough to build data.",
		input: object("template_id", templateID, limit, marker),
		call:  with(listTags),
	},
	{
		name: "get_sample", title: "Get sample data of a template",
		description: "Get example data for a template, as a starting point for your own. Without name, the data is generated from the schema, " +
			"with invented values, and stored_samples lists the names of samples that the author stored. With name, it is one of these.",
		input: object("template_id", templateID,
			property("name", `"type": "string", "minLength": 1, "maxLength": 100`, "The name of a stored sample.")),
		call: with(getSample),
	},
	{
		name: "check_data", title: "Check data against a template",
		description: "Generate a document with data, discard it, and report what would be missing or wrong. Nothing is stored. complete is " +
			"true if the document would be complete. Otherwise, data_failures has a message for each problem, with the tag, its location in the " +
			"template, the path in the data, and, in did_you_mean, the most similar path that you sent. Correct the data and check it again.",
		input: object("template_id data", templateID, data, locale, timeZone),
		call:  with(checkData),
	},
	{
		name: "render_document", title: "Generate a document", stores: true,
		description: "Generate one document from a template and data. Without folder_id, the result contains the document (docx, pdf) or " +
			"images of its pages (png, to look at the layout), up to 1 MiB, and nothing is stored. With folder_id, the document is stored in that " +
			"folder, and the result has its file_id; calling the tool again stores another document. If something is missing in the document, " +
			"status is completed_with_error, and failures says what. If the document takes more than 30 seconds, the result has a job_id for " +
			"get_job.",
		input: object("template_id data output_type", templateID, data,
			property("output_type", `"type": "string", "enum": ["docx", "pdf", "png"]`, "docx: a Word document. pdf: a PDF. png: images of pages."),
			property("name", `"type": "string", "minLength": 1, "maxLength": 255`, "The file name of the document (default: that of the template)."),
			property("folder_id", id,
				"Store the document in this folder; 0 is the root folder of the user (default: the document is not stored). Not for png."),
			property("missing", `"type": "string", "enum": ["tag", "blank", "error"]`,
				"What to do if a value is missing in the data (default: as the template says, or tag). tag: leave the tag in the document. "+
					"blank: print nothing. error: generate no document."),
			property("pages", `"type": "string", "minLength": 1, "maxLength": 100`, "For png: the pages, such as 1-3,5 or 2- (default 1)."),
			property("dpi", `"type": "integer", "minimum": 24, "maximum": 300`, "For png: dots per inch (default 96)."),
			locale, timeZone),
		call: with(renderDocument),
	},
	{
		name: "get_job", title: "Get the status of a job",
		description: "Get the status of a job that generates a document: pending or submitted while it is not ready, then completed, " +
			"completed_with_error (something is missing in the document; failures says what), or failed. file_id is the id of the document.",
		input: object("job_id", property("job_id", id, "The id of the job, from render_document."),
			property("wait_seconds", `"type": "integer", "minimum": 0, "maximum": 30, "default": 0`, "How long to wait for the end of the job."),
			property("include_document", `"type": "boolean", "default": false`, "Whether the result contains the document, up to 1 MiB.")),
		call: with(getJob),
	},
}
