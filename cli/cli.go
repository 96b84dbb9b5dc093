// Package cli is the command line: one command per file, their shared configuration, and serve.go, the only place that wires the parts of
// Platen together.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"os/user"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"platen/docgen"
	"platen/docx/importer"
	"platen/generate"
)

// Exit codes, for scripts.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2 // invalid command line or configuration; nothing was done
	exitIncomplete = 3 // documents were written, but tags in some of them found no data
)

const description = "Platen generates documents from Word templates and JSON data."

// commands is the command line, as kong parses it.
type commands struct {
	Quickstart quickstartCmd `cmd:"" help:"Start a server, generate 100 example invoices, and show what to try next."`
	Serve      serveCmd      `cmd:"" help:"Run the server."`
	User       struct {
		Create     userCreateCmd     `cmd:"" help:"Create a user and print its id."`
		List       userListCmd       `cmd:"" help:"List users."`
		Show       userShowCmd       `cmd:"" help:"Show a user."`
		Invite     userInviteCmd     `cmd:"" help:"Print a secret with which a user sets a password, once, within 72 hours."`
		Update     userUpdateCmd     `cmd:"" help:"Change the name, login, role, or status of a user."`
		Erase      userEraseCmd      `cmd:"" help:"Permanently erase all personal data of a user. Without --yes, only print what would be erased."`
		Deactivate userDeactivateCmd `cmd:"" help:"Deactivate a user: reject all tokens, but keep everything that the user owns."`
		Activate   userActivateCmd   `cmd:"" help:"Activate a deactivated user."`
	} `cmd:"" help:"Manage users."`
	Token struct {
		Create tokenCreateCmd `cmd:"" help:"Create an access token for a user and print it. Works while the server runs."`
		List   tokenListCmd   `cmd:"" help:"List valid access and refresh tokens. The tokens themselves are not stored and cannot be shown again."`
		Revoke tokenRevokeCmd `cmd:"" help:"Revoke tokens by id, effective with the next request."`
	} `cmd:"" help:"Manage access tokens for the API."`
	Audit auditCmd `cmd:"" help:"Print the audit log: who did what, for which user, and from where."`
	App   struct {
		Create appCreateCmd `cmd:"" help:"Create an application and print its client id and secret. The secret is shown only once."`
		List   appListCmd   `cmd:"" help:"List applications."`
		Config appConfigCmd `cmd:"" help:"Create a key pair for an application and print the JSON configuration for client libraries, including the private key, which is shown only once."`
		Secret appSecretCmd `cmd:"" help:"Replace the secret of an application and print the new one. The old one stops working immediately."`
		Key    struct {
			Add    appKeyAddCmd    `cmd:"" help:"Add a public key to an application, which signs with the private key, and print the key's id."`
			Remove appKeyRemoveCmd `cmd:"" help:"Remove a public key from an application."`
		} `cmd:"" help:"Manage the public keys of an application."`
		Delete appDeleteCmd `cmd:"" help:"Delete an application with all its tokens and keys."`
	} `cmd:"" help:"Manage applications: programs that request access tokens themselves (OAuth 2.0)."`
	Webhooks webhooksCmds `cmd:"" help:"Develop and debug receivers of webhooks."`
	MCP      mcpCmd       `cmd:"" name:"mcp" help:"Let an AI assistant use a server, over the Model Context Protocol on standard input and output."`
	Render   renderCmd    `cmd:"" help:"Generate documents from a template and JSON, without a server."`
	Convert  convertCmd   `cmd:"" help:"Convert Word documents to PDF."`
	Tags     tagsCmd      `cmd:"" help:"List the tags of a template, or its errors."`
	Check    checkCmd     `cmd:"" help:"Check a template, and optionally data for it, without generating a document."`
	Import   importCmd    `cmd:"" help:"Convert a template of another product, such as docxtemplater, Carbone, or Word's mail merge."`
	Test     testCmd      `cmd:"" help:"Run templates with samples, and compare the documents with what their authors expect."`
	Watch    watchCmd     `cmd:"" help:"Check templates, run their samples, and upload them, each time they are saved."`
	Schema   schemaCmd    `cmd:"" help:"Print the JSON Schema of the data that a template needs, validate data, or compare two versions."`
	Sample   sampleCmd    `cmd:"" help:"Print sample data for a template."`
	Doctor   doctorCmd    `cmd:"" help:"Find problems of a server and of PDF conversion, and say how to fix them."`
	Backup   backupCmd    `cmd:"" help:"Copy the embedded database and all contents to a folder, while the server runs, and verify the copy."`
	Restore  restoreCmd   `cmd:"" help:"Copy a backup to a new data folder and verify it."`
	Verify   verifyCmd    `cmd:"" help:"Check all stored contents and rows: damaged, missing, orphaned, inconsistent."`
	Config   configCmd    `cmd:"" help:"Print the effective configuration, as a configuration file."`
	Version  versionCmd   `cmd:"" help:"Print the version."`
}

// streams are the input and output of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command in the arguments of the process, and exits with its code.
func Main() {
	generate.Worker(os.Args)
	workAsEngine()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal then ends the process immediately
	code := run(ctx, os.Args[1:], &streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run runs one command and returns its exit code. If the arguments ask for help, it prints help and ends the process.
func run(ctx context.Context, args []string, s *streams) int {
	parser, err := kong.New(&commands{},
		kong.Name("platen"),
		kong.Description(description),
		kong.Writers(s.out, s.err),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
		kong.Configuration(readConfigFile),
		kong.Vars{"import_languages": strings.Join(importer.Names(), ", ")},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		return report(s, err)
	}
	command, err := parser.Parse(joinNegative(args))
	if err != nil {
		return report(s, &usageError{err})
	}
	command.BindTo(docgen.WithOrigin(ctx, commandOrigin(command)), (*context.Context)(nil))
	return report(s, command.Run())
}

// commandOrigin identifies the command, and the account that runs it, for the audit log.
func commandOrigin(command *kong.Context) docgen.Origin {
	by := "uid " + strconv.Itoa(os.Getuid())
	if account, err := user.Current(); err == nil {
		by = account.Username
	}
	return docgen.Origin{Agent: fmt.Sprintf("platen %s (run by %s)", command.Command(), by)}
}

var (
	longFlag = regexp.MustCompile(`^--[a-z][a-z0-9-]*$`)
	negative = regexp.MustCompile(`^-[0-9.]`)
)

// joinNegative replaces "--flag -1" by "--flag=-1", because kong would parse -1 as a flag. Platen has no flag that is a digit.
func joinNegative(args []string) []string {
	var joined []string
	for i, arg := range args {
		if arg == "--" {
			return append(joined, args[i:]...)
		}
		if last := len(joined) - 1; last >= 0 && negative.MatchString(arg) && longFlag.MatchString(joined[last]) {
			joined[last] += "=" + arg
			continue
		}
		joined = append(joined, arg)
	}
	return joined
}

// usageError is an error in the command line or the configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// errIncomplete ends a command that has already reported what its documents lack.
var errIncomplete = errors.New("tags found no data")

// errReported ends a command that has already reported what went wrong.
var errReported = errors.New("reported already")

// report prints how a command ended, and returns the exit code.
func report(s *streams, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errIncomplete):
		return exitIncomplete
	case errors.Is(err, errReported):
		return exitFailed
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(s.err, "platen: %s\n", explain(err))
	if _, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintln(s.err, "Try: platen --help, or platen COMMAND --help")
		return exitUsage
	}
	return exitFailed
}

// plainPaths returns the text of an error, with the reason why a file cannot be used in plain words.
func plainPaths(err error) string {
	failed, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err.Error()
	}
	var reason string
	switch {
	case errors.Is(failed, fs.ErrNotExist):
		reason = "no such file or folder"
	case errors.Is(failed, fs.ErrPermission):
		reason = "permission denied"
	case errors.Is(failed, syscall.EISDIR):
		reason = "this is a folder, not a file"
	case errors.Is(failed, syscall.ENOTDIR):
		reason = "a part of the path is a file, not a folder"
	default:
		return err.Error()
	}
	return strings.Replace(err.Error(), failed.Error(), failed.Path+": "+reason, 1)
}

// explain returns the message of an error. For a failure of the service, it lists every problem on a line of its own.
func explain(err error) string {
	failure, ok := errors.AsType[*docgen.Error](err)
	if !ok {
		return plainPaths(err)
	}
	if len(failure.Problems) == 0 {
		return failure.Message
	}
	lines := make([]string, len(failure.Problems))
	for i, problem := range failure.Problems {
		lines[i] = problem.Message
	}
	return strings.Join(lines, "\n        ")
}
