package main_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// emptyNames are package names that say nothing about the content, so that anything would fit.
var emptyNames = []string{"util", "utils", "common", "models", "types", "helpers", "interfaces", "mocks", "manager"}

// rules are the checks that every file must pass, by name.
var rules = map[string]func(*file, reporter){
	"imports are on the map":             checkImports,
	"cli knows one file per engine":      checkWiring,
	"package names describe the content": checkPackageName,
	"files are short":                    checkFileLength,
	"functions are short":                checkFunctionLength,
	"nothing runs before main":           checkNoInit,
	"only cli reads the environment":     checkEnvironment,
	"only synctest bubbles sleep":        checkNoSleep,
	"no test asserts wall time":          checkNoWallTime,
}

func checkImports(f *file, report reporter) {
	const remedy = "if there is no other way, change the map in arch_test.go and ARCHITECTURE.md, and say why in docs/adr"
	room := roomOf(f.dir())
	if room == "" {
		report(1, "package %s is not on the map: put the file into a package on the map; %s", f.dir(), remedy)
		return
	}
	for _, spec := range f.ours() {
		switch to := roomOf(spec.pkg); {
		case to == "":
			report(spec.line, "imports %s, which is not on the map; %s", spec.pkg, remedy)
		case isTestSupport(spec.pkg) && !f.test && !isTool(room):
			report(spec.line, "imports %s, which is only for tests", spec.pkg)
		case !mayImport(room, to, f.test):
			report(spec.line, "%s may not import %s; %s", room, to, remedy)
		}
	}
}

// wiring maps packages to the only file of cli that may import them. The other files use the interface.
var wiring = map[string]string{"pdf/office": "cli/pdf.go", "pdf/raster": "cli/pdf.go"}

func checkWiring(f *file, report reporter) {
	for _, spec := range f.ours() {
		if only := wiring[spec.pkg]; only != "" && f.dir() == "cli" && f.path != only && !f.test {
			report(spec.line, "imports %s: only %s may, the rest of cli uses the interface", spec.pkg, only)
		}
	}
}

func checkPackageName(f *file, report reporter) {
	if name := strings.TrimSuffix(f.syntax.Name.Name, "_test"); slices.Contains(emptyNames, name) {
		report(1, "package %s: name it after its content, with the standard term", name)
	}
}

func checkFileLength(f *file, report reporter) {
	if !f.generated && f.lines > maxFileLines {
		report(f.lines, "%d lines, over %d: split the file by subject", f.lines, maxFileLines)
	}
}

// checkFunctionLength skips tests, where a long function is usually a long table.
func checkFunctionLength(f *file, report reporter) {
	if f.generated || f.test {
		return
	}
	for _, decl := range f.syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFunctionLines {
			report(f.line(fn.Pos()), "func %s has %d lines, over %d: move its steps to functions with names", fn.Name.Name, n, maxFunctionLines)
		}
	}
}

func checkNoInit(f *file, report reporter) {
	for _, decl := range f.syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			report(f.line(fn.Pos()), "func init: call it explicitly where it is needed; wiring belongs in cli/serve.go")
		}
	}
}

func checkEnvironment(f *file, report reporter) {
	if f.test || roomOf(f.dir()) == "cli" {
		return
	}
	for _, name := range []string{"Getenv", "LookupEnv", "ExpandEnv"} {
		for _, call := range f.uses("os", name) {
			report(f.line(call.Pos()), "os.%s: only cli reads the environment; take it as a parameter", name)
		}
	}
}

// checkNoSleep allows sleep only in synctest bubbles, where it advances a clock of the test's own and takes no time.
func checkNoSleep(f *file, report reporter) {
	bubbles := f.bubbles()
	for _, sleep := range f.uses("time", "Sleep") {
		if !within(sleep, bubbles) {
			report(f.line(sleep.Pos()), "time.Sleep: wait for the event, or for a timer together with the context")
		}
	}
}

// checkNoWallTime rejects time.Since in tests, because everything takes longer on a busy machine. Benchmarks may measure, and time is exact
// in a synctest bubble.
func checkNoWallTime(f *file, report reporter) {
	if !strings.HasSuffix(f.path, "_test.go") || strings.HasSuffix(f.path, "bench_test.go") {
		return
	}
	exempt := append(f.bubbles(), f.benchmarks()...)
	for _, since := range f.uses("time", "Since") {
		if !within(since, exempt) {
			report(f.line(since.Pos()), "time.Since in a test: assert what happened, not how long it took, or write a benchmark")
		}
	}
}

// undocumented returns the packages without a package comment, apart from generated ones.
func undocumented(files []*file) []string {
	documented := map[string]bool{}
	for _, f := range files {
		if !f.generated && !strings.HasSuffix(f.path, "_test.go") {
			documented[f.dir()] = documented[f.dir()] || f.syntax.Doc != nil
		}
	}
	var missing []string
	for pkg, ok := range documented {
		if !ok {
			missing = append(missing, pkg)
		}
	}
	slices.Sort(missing)
	return missing
}

func TestRulesFindViolations(t *testing.T) {
	long := strings.Repeat("\t_ = 1\n", maxFunctionLines)
	tests := []struct {
		name, path, text string
		want             string // a part of the report, or "" for no report
	}{
		{"import up", "store/store.go", `package store; import _ "platen/docgen"`, "store may not import docgen"},
		{"import across", "server/server.go", `package server; import _ "platen/webhook"`, "may not import webhook"},
		{"import two levels down", "server/server.go", `package server; import _ "platen/store"`, "may not import store"},
		{"import on the map", "docgen/batch.go", `package docgen; import _ "platen/store"`, ""},
		{"cli imports all", "cli/serve.go", `package cli; import _ "platen/pdf"`, ""},
		{"engine where it is wired", "cli/pdf.go", `package cli; import _ "platen/pdf/office"`, ""},
		{"engine elsewhere in cli", "cli/topdf.go", `package cli; import _ "platen/pdf/office"`, "only cli/pdf.go may"},
		{"internal of the room", "store/store.go", `package store; import _ "platen/store/internal/queries"`, ""},
		{"internal of the room, upward", "store/internal/queries/q.go", `package queries; import _ "platen/docgen"`, "may not"},
		{"unknown package", "billing/billing.go", `package billing`, "package billing is not on the map"},
		{"unknown sub-package", "docgen/batches/b.go", `package batches`, "package docgen/batches is not on the map"},
		{"import of an unknown package", "cli/cli.go", `package cli; import _ "platen/billing"`, "imports billing"},
		{"test two levels down", "server/server_test.go", `package server; import _ "platen/store/storetest"`, ""},
		{"example in a test", "docx/docx_test.go", `package docx; import _ "platen/examples"`, ""},
		{"example in the program", "docx/docx.go", `package docx; import _ "platen/examples"`, "docx may not import examples"},
		{"test upward", "store/store_test.go", `package store; import _ "platen/docgen"`, "may not import docgen"},
		{"test support in the program", "docgen/job.go", `package docgen; import _ "platen/store/storetest"`, "only for tests"},
		{"test support of the room", "blob/blobtest/suite.go", `package blobtest; import _ "platen/blob"`, ""},
		{"below test support", "blob/blobtest/disk/disk.go", `package disk; import _ "platen/blob/blobtest"`, ""},
		{"below test support in the program", "blob/blob.go", `package blob; import _ "platen/blob/blobtest/disk"`, "only for tests"},
		{"below test support, upward", "blob/blobtest/disk/disk.go", `package disk; import _ "platen/store"`, "blob may not import store"},
		{"test support in a tool", "tools/fidelity/main.go", `package main; import _ "platen/pdf/fidelitytest"`, ""},
		{"tool upward", "tools/fidelity/main.go", `package main; import _ "platen/generate"`, "tools/fidelity may not import generate"},
		{"empty name", "docgen/internal/util/u.go", `package util`, "name it after its content"},
		{"long file", "docx/x.go", "package docx\n" + strings.Repeat("//\n", maxFileLines), "801 lines, over 800"},
		{"long generated file", "docx/x.go", "// Code generated by x. DO NOT EDIT.\n\npackage docx\n" + strings.Repeat("//\n", maxFileLines), ""},
		{"long function", "docx/x.go", "package docx\nfunc f() {\n" + long + "}\n", "func f has 102 lines"},
		{"long test", "docx/x_test.go", "package docx\nfunc f() {\n" + long + "}\n", ""},
		{"init", "docx/x.go", "package docx\nfunc init() {}\n", "func init"},
		{"method named init", "docx/x.go", "package docx\nfunc (t T) init() {}\n", ""},
		{"environment", "pdf/x.go", `package pdf; import "os"; var x = os.Getenv("X")`, "only cli reads the environment"},
		{"environment under another name", "pdf/x.go", `package pdf; import o "os"; var x, y = o.LookupEnv("X")`, "only cli"},
		{"environment in cli", "cli/x.go", `package cli; import "os"; var x = os.Getenv("X")`, ""},
		{"sleep", "webhook/x.go", `package webhook; import "time"; func f() { time.Sleep(1) }`, "time.Sleep"},
		{"sleep in a test", "webhook/x_test.go", `package webhook; import "time"; func f() { time.Sleep(1) }`, "time.Sleep"},
		{"sleep in a bubble", "webhook/x_test.go", `package webhook
			import ("time"; "testing"; "testing/synctest")
			func TestX(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(time.Hour) }) }`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parse(tt.path, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var reports []string
			for _, check := range rules {
				check(f, func(line int, format string, args ...any) {
					reports = append(reports, fmt.Sprintf(format, args...))
				})
			}
			got := strings.Join(reports, "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("reports %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUndocumentedPackagesAreFound(t *testing.T) {
	var files []*file
	for name, text := range map[string]string{
		"blob/blob.go":          "// Package blob keeps contents.\npackage blob",
		"blob/disk.go":          "package blob",
		"pdf/pdf.go":            "package pdf",
		"pdf/pdf_test.go":       "// Package pdf is described in the wrong place.\npackage pdf",
		"store/internal/q/q.go": "// Code generated by sqlc. DO NOT EDIT.\n\npackage q",
	} {
		f, err := parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if got := undocumented(files); !slices.Equal(got, []string{"pdf"}) {
		t.Errorf("packages without a comment: %v, want [pdf]", got)
	}
}
