package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// openAPI30Page returns the OpenAPI document for generators that only support version 3.0.
func openAPI30Page(a *api) ([]byte, error) {
	text, err := a.huma.OpenAPI().Downgrade()
	if err != nil {
		return nil, fmt.Errorf("downgrade the OpenAPI document: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("read the downgraded document: %w", err)
	}
	document["info"].(map[string]any)["license"] = map[string]any{ // license identifiers are new in 3.1
		"name": a.huma.OpenAPI().Info.License.Name, "url": "https://www.apache.org/licenses/LICENSE-2.0",
	}
	delete(document, "webhooks") // new in 3.1 as well; the notifications remain as schemas
	downgrade(document)
	nameBodies(document["paths"], document["components"].(map[string]any)["schemas"].(map[string]any))
	return json.MarshalIndent(document, "", "  ")
}

// downgrade rewrites what huma leaves in schemas and 3.0 does not support: the type null, and references with siblings.
func downgrade(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			downgrade(item)
		}
	case map[string]any:
		for name, member := range v {
			if name != "example" {
				downgrade(member)
			}
		}
		if choices, ok := v["anyOf"].([]any); ok {
			downgradeChoice(v, choices)
		}
		if v["type"] == "null" { // a field that clients expect and that this server never sets
			v["type"], v["nullable"] = "string", true
		}
		if ref, ok := v["$ref"]; ok && len(v) > 1 {
			delete(v, "$ref")
			v["allOf"] = []any{map[string]any{"$ref": ref}}
		}
	}
}

// downgradeChoice turns a choice between an object and null into a nullable object.
func downgradeChoice(schema map[string]any, choices []any) {
	some := slices.DeleteFunc(slices.Clone(choices), func(choice any) bool {
		c, ok := choice.(map[string]any)
		return ok && c["nullable"] == true && c["type"] == "string"
	})
	if len(some) == len(choices) {
		return
	}
	delete(schema, "anyOf")
	schema["allOf"], schema["nullable"], schema["type"] = some, true, "object"
}

// nameBodies gives names to the schemas of bodies that are one of several types. For unnamed ones, generators write unreadable types.
func nameBodies(v any, schemas map[string]any) {
	object, _ := v.(map[string]any)
	for name, member := range object {
		if name != "example" {
			nameBodies(member, schemas)
		}
	}
	body, _ := object["schema"].(map[string]any)
	choices, ok := body["anyOf"].([]any)
	if !ok {
		return
	}
	names := make([]string, len(choices))
	for i, choice := range choices {
		names[i] = path.Base(choice.(map[string]any)["$ref"].(string))
	}
	name := strings.Join(names, "Or")
	schemas[name] = body
	object["schema"] = map[string]any{"$ref": "#/components/schemas/" + name}
}
