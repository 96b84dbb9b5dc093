// Package examples holds Word templates with data for them, as a start for one's own and for trying Platen out.
// Each folder has template.docx, data.json (one JSON object, for one document) and a README with the commands.
package examples

import "embed"

// Files holds the example folders: invoice, letter and contract.
//
//go:embed invoice letter contract
var Files embed.FS
