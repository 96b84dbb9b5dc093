package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"platen/docgen"
	"platen/server"
)

// location is the place of a server's data. Commands that work while the server runs need no other settings.
type location struct {
	Data     string          `default:"platen-data" env:"PLATEN_DATA" group:"Storage" help:"Data folder of the server (default platen-data). It is created by platen serve and platen user create; for other commands, it must exist."`
	Database string          `env:"PLATEN_DATABASE" placeholder:"URL" group:"Storage" help:"PostgreSQL database, postgres://user:password@host/name (default: an SQLite database in the data folder)."`
	File     kong.ConfigFlag `name:"config" env:"PLATEN_CONFIG" placeholder:"FILE" group:"Storage" help:"Configuration file, with one setting per line. platen config prints such a file."`
}

// kong calls Validate after parsing.
func (l *location) Validate() error {
	u, err := url.Parse(l.Database) // a socket is in the parameter host, which may hold a path
	if l.Database != "" && (err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Host == "" && u.Query().Get("host") == "") {
		return errors.New("--database must be the URL of a PostgreSQL database, postgres://user:password@host/name")
	}
	return nil
}

// config is every setting of a server. It is the only table of flags, environment variables, and keys of the configuration file: --listen
// is PLATEN_LISTEN in the environment and listen in the file. Flags override the environment, which overrides the file.
type config struct {
	location

	Blobs         string     `env:"PLATEN_BLOBS" placeholder:"URL" group:"Storage" help:"Location of file contents, such as file:///some/folder (default: blobs in the data folder)."`
	MinFree       sizeOrNone `default:"512MiB" env:"PLATEN_MIN_FREE" group:"Storage" help:"Free disk space to keep (default 512MiB). If any disk of the server has less, /readyz returns 503, and uploads and batches are rejected. none disables the check."`
	UserBytes     sizeOrNone `default:"none" env:"PLATEN_USER_BYTES" group:"Storage" help:"Storage quota per user, including past versions and the trash (default none: no limit). To set it for one user, send space_amount to PUT /users/{id}."`
	UserFiles     int64      `default:"0" env:"PLATEN_USER_FILES" group:"Storage" help:"Maximum number of files per user, including the trash (default 0: no limit)."`
	DatabaseConns int        `default:"0" env:"PLATEN_DATABASE_CONNS" group:"Storage" help:"Maximum number of connections to PostgreSQL (default 0: pool_max_conns in the URL, or 16)."`

	StoragePolicies storagePolicies `name:"storage-policy" env:"PLATEN_STORAGE_POLICY" placeholder:"NAME=URL,…" group:"Storage" help:"Additional locations for the contents of archives, each with a name, such as cold=file:///mnt/cold."`
	ArchiveDelete   bool            `default:"true" negatable:"" env:"PLATEN_ARCHIVE_DELETE" group:"Storage" help:"Allow callers to delete empty archives (default true)."`

	Listen         string   `default:"127.0.0.1:8080" env:"PLATEN_LISTEN" group:"Serving" help:"Address to listen on (default 127.0.0.1:8080). Port 0 picks a free port."`
	BaseURL        string   `env:"PLATEN_BASE_URL" placeholder:"URL" group:"Serving" help:"URL of the server for clients, without /2.0 (default: the address it listens on)."`
	InternalListen string   `env:"PLATEN_INTERNAL_LISTEN" placeholder:"ADDRESS" group:"Serving" help:"Separate address for /metrics, /docs, and the OpenAPI documents, such as 127.0.0.1:9090 (default: the address in --listen). Health checks are served at both addresses."`
	TrustedProxies networks `env:"PLATEN_TRUSTED_PROXIES" placeholder:"CIDR,…" group:"Serving" help:"Networks of reverse proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8 (default: none). Rate limits and logs then use the client's address instead of the proxy's."`
	MaxConnections int      `default:"0" env:"PLATEN_MAX_CONNECTIONS" group:"Serving" help:"Maximum number of concurrent connections (default 0: one per 512 KiB of the server's memory, between 256 and 4096). One address can have a quarter of them, a trusted proxy all."`
	Compat         string   `default:"" enum:",box" env:"PLATEN_COMPAT" group:"Serving" help:"Relax the API for clients that do not follow all of it: box for the Box SDKs (default: none)."`

	RateRequests int `default:"1000" env:"PLATEN_RATE_REQUESTS" group:"Rate limits" help:"Maximum requests per minute and user (default 1000); -1 for no limit."`
	RateUploads  int `default:"240" env:"PLATEN_RATE_UPLOADS" group:"Rate limits" help:"Maximum uploads per minute and user (default 240); -1 for no limit."`
	RateGuests   int `default:"300" env:"PLATEN_RATE_GUESTS" group:"Rate limits" help:"Maximum requests per minute and address without a valid token (default 300); -1 for no limit."`

	MaxDocuments int      `default:"10000" env:"PLATEN_MAX_DOCUMENTS" group:"Limits" help:"Maximum number of documents per batch (default 10000)."`
	MaxInput     byteSize `default:"5MiB" env:"PLATEN_MAX_INPUT" group:"Limits" help:"Maximum size of the data for one document (default 5MiB)."`
	MaxBatch     byteSize `default:"64MiB" env:"PLATEN_MAX_BATCH" group:"Limits" help:"Maximum size of the body of a batch request (default 64MiB)."`
	MaxStreamed  int      `name:"max-streamed-documents" default:"1000000" env:"PLATEN_MAX_STREAMED_DOCUMENTS" group:"Limits" help:"Maximum number of documents in a streamed batch, whose data is CSV, NDJSON, or a JSON array (default 1000000)."`
	MaxData      byteSize `name:"max-streamed-data" default:"8GiB" env:"PLATEN_MAX_STREAMED_DATA" group:"Limits" help:"Maximum size of the data of a streamed batch (default 8GiB)."`
	MaxWaiting   int64    `name:"max-waiting-documents" default:"2000000" env:"PLATEN_MAX_WAITING_DOCUMENTS" group:"Limits" help:"Maximum number of documents that can wait in the batches of a user with those of a new batch (default 2000000)."`
	MaxUpload    byteSize `default:"5GiB" env:"PLATEN_MAX_UPLOAD" group:"Limits" help:"Maximum size of an uploaded file (default 5GiB)."`
	MaxTemplate  byteSize `default:"100MiB" env:"PLATEN_MAX_TEMPLATE" group:"Limits" help:"Maximum size of a template file (default 100MiB)."`

	budgetFlags  `embed:""`
	DocumentTime time.Duration `default:"1m" env:"PLATEN_DOCUMENT_TIME" group:"Budgets of a document" help:"Maximum time to generate one document, without its conversion to PDF (default 1m); 0 for no limit."`

	TemplateTime time.Duration `default:"1m" env:"PLATEN_TEMPLATE_TIME" group:"Limits" help:"Maximum time to compile one template (default 1m); 0 for no limit."`

	webhookConfig   `embed:""`
	retentionConfig `embed:""`
	pdfConfig       `embed:""`

	Workers       int           `default:"0" env:"PLATEN_WORKERS" group:"Generation" help:"Number of concurrent tasks (default 0: eight per core, because most wait for the disk)."`
	Memory        memorySize    `default:"auto" env:"PLATEN_MEMORY" group:"Generation" help:"Memory for the server and its LibreOffice processes in total, such as 4GiB (default auto: the limit of the control group, or the memory of the machine)."`
	TemplateCache memorySize    `default:"auto" env:"PLATEN_TEMPLATE_CACHE" group:"Generation" help:"Memory for compiled templates, such as 256MiB (default auto: an eighth of the server's memory, at most 256MiB)."`
	AllowWordML   bool          `name:"allow-wordml" env:"PLATEN_ALLOW_WORDML" group:"Generation" help:"Allow the filter wordml, which inserts WordprocessingML from the data after checking it (default: not allowed)."`
	PictureHosts  pictureHosts  `env:"PLATEN_PICTURE_HOSTS" placeholder:"HOST,…" group:"Generation" help:"Hosts from which images with a URL in the data may be fetched, such as img.example.com or *.example.com (default: none)."`
	Drain         time.Duration `default:"30s" env:"PLATEN_DRAIN" group:"Generation" help:"Maximum time to wait for requests when the server stops, and then again for tasks (default 30s)."`

	DefaultMissing  string `default:"" enum:",tag,blank,error" env:"PLATEN_DEFAULT_MISSING" group:"Generation" help:"What to do about a missing value if neither the batch nor its template specifies it: tag, blank, or error (default tag)."`
	DefaultLocale   string `env:"PLATEN_DEFAULT_LOCALE" placeholder:"LOCALE" group:"Generation" help:"Language for numbers, dates, and words if neither the batch nor its template specifies it, such as de-CH (default en)."`
	DefaultTimeZone string `env:"PLATEN_DEFAULT_TIME_ZONE" placeholder:"ZONE" group:"Generation" help:"Time zone for times if neither the batch nor its template specifies it, such as Europe/Paris (default: the zone of each time)."`

	OTLPEndpoint string `name:"otlp-endpoint" env:"PLATEN_OTLP_ENDPOINT" placeholder:"URL" group:"Log" help:"OpenTelemetry collector for traces, with OTLP over HTTP, such as http://127.0.0.1:4318 (default: the variable OTEL_EXPORTER_OTLP_ENDPOINT, or no traces)."`
	LogFormat    string `default:"text" enum:"text,json" env:"PLATEN_LOG_FORMAT" group:"Log" help:"Log format: text or json (default text)."`
	LogLevel     string `default:"info" enum:"debug,info,warn,error" env:"PLATEN_LOG_LEVEL" group:"Log" help:"Lowest log level: debug, info, warn, or error (default info)."`
}

// kong calls Validate after parsing. It reports everything that is wrong.
func (c *config) Validate() error {
	problems := []error{c.location.Validate()}
	atLeast := func(name string, value, least int) {
		if value < least {
			problems = append(problems, fmt.Errorf("--%s must be at least %d, not %d", name, least, value))
		}
	}
	if c.UserFiles < 0 {
		problems = append(problems, fmt.Errorf("--user-files must be at least 0, not %d", c.UserFiles))
	}
	atLeast("workers", c.Workers, 0)
	atLeast("max-connections", c.MaxConnections, 0)
	atLeast("max-documents", c.MaxDocuments, 1)
	atLeast("max-streamed-documents", c.MaxStreamed, 1)
	atLeast("database-conns", c.DatabaseConns, 0)
	if c.MaxWaiting < 1 {
		problems = append(problems, fmt.Errorf("--max-waiting-documents must be at least 1, not %d", c.MaxWaiting))
	}
	for name, rate := range map[string]int{"requests": c.RateRequests, "uploads": c.RateUploads, "guests": c.RateGuests} {
		if rate == 0 || rate < -1 {
			problems = append(problems, fmt.Errorf("--rate-%s must be at least 1, or -1 for no limit, not %d", name, rate))
		}
	}
	if c.Drain < 0 {
		problems = append(problems, fmt.Errorf("--drain must not be negative, but is %v", c.Drain))
	}
	if c.OTLPEndpoint != "" && !isHTTP(c.OTLPEndpoint) {
		problems = append(problems, fmt.Errorf("--otlp-endpoint must be an http or https URL, not %q", c.OTLPEndpoint))
	}
	if c.BaseURL != "" && !isHTTP(c.BaseURL) {
		problems = append(problems, fmt.Errorf("--base-url must be an http or https URL, not %q", c.BaseURL))
	}
	if c.TemplateTime < 0 {
		problems = append(problems, fmt.Errorf("--template-time must not be negative, but is %v; use 0 for no limit", c.TemplateTime))
	}
	for _, problem := range c.defaults().Problems() {
		problems = append(problems, fmt.Errorf("--default-%s: %s", strings.ReplaceAll(problem.Name, "_", "-"), problem.Message))
	}
	problems = append(problems, c.budgetFlags.problems(c.DocumentTime)...)
	return errors.Join(append(problems, append(c.webhookConfig.problems(), c.pdfConfig.Validate())...)...)
}

func (c *config) defaults() docgen.Defaults {
	return docgen.Defaults{Missing: c.DefaultMissing, Locale: c.DefaultLocale, TimeZone: c.DefaultTimeZone}
}

func (c *config) limits() docgen.Limits {
	return docgen.Limits{
		Documents: c.MaxDocuments, InputBytes: int(c.MaxInput), BatchBytes: int64(c.MaxBatch),
		UploadBytes: int64(c.MaxUpload), TemplateBytes: int64(c.MaxTemplate), Pending: c.WebhookMaxPending,
		StreamedDocuments: c.MaxStreamed, StreamedBytes: int64(c.MaxData), Waiting: c.MaxWaiting,
	}
}

func (c *config) rateLimits() server.RateLimits {
	return server.RateLimits{Requests: c.RateRequests, Uploads: c.RateUploads, Guests: c.RateGuests}
}

// byteSize is a number of bytes, written as 1048576, 1024KiB, or 1MiB.
type byteSize int64

// sizeUnits are in descending order: a size is written with the first one that divides it.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (b *byteSize) UnmarshalText(text []byte) error {
	digits, factor := string(text), int64(1)
	for _, unit := range sizeUnits {
		if number, ok := strings.CutSuffix(digits, unit.name); ok {
			digits, factor = strings.TrimSpace(number), unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > (1<<62)/factor {
		return fmt.Errorf("%q is not a size: write it like 500000, 512KiB, 64MiB, or 5GiB", text)
	}
	*b = byteSize(n * factor)
	return nil
}

func (b byteSize) String() string {
	for _, unit := range sizeUnits[:3] {
		if int64(b)%unit.bytes == 0 {
			return strconv.FormatInt(int64(b)/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// configFile holds the settings of a configuration file, by flag name.
type configFile map[string]string

// readConfigFile reads a file with lines like "listen = 127.0.0.1:8080". A comment starts with # at the start of a line, or with #
// between two spaces.
func readConfigFile(r io.Reader) (kong.Resolver, error) {
	settings := configFile{}
	var problems []error
	scanner := bufio.NewScanner(r)
	for line := 1; scanner.Scan(); line++ {
		text, _, _ := strings.Cut(scanner.Text(), " # ")
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if _, twice := settings[name]; !ok || name == "" || twice {
			problems = append(problems, fmt.Errorf("configuration file, line %d: want NAME = VALUE, with each name only once, not %q", line, text))
			continue
		}
		settings[name] = strings.TrimSpace(value)
	}
	return settings, errors.Join(append(problems, scanner.Err())...)
}

// Validate reports names in the file that are not settings.
func (f configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && isSetting(flag) {
			known[flag.Name] = true
		}
		return next(nil)
	})
	for name := range f {
		if !known[name] {
			err = errors.Join(err, fmt.Errorf("configuration file: unknown setting %q; platen config lists all settings", name))
		}
	}
	return err
}

// Resolve returns the value of a flag that is set neither on the command line nor in the environment.
func (f configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := f[flag.Name]
	if _, set := environment(flag); !ok || set || !isSetting(flag) {
		return nil, nil
	}
	return value, nil
}

// isSetting reports whether a flag is a setting of the server, rather than a flag of a single command.
func isSetting(flag *kong.Flag) bool { return len(flag.Envs) > 0 && flag.Name != "config" }

// environment returns the environment variable that sets a flag, if any.
func environment(flag *kong.Flag) (name string, set bool) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return name, true
		}
	}
	return "", false
}

type configCmd struct {
	config `embed:""`
}

// Run prints every setting with the source of its value, in the format of a configuration file.
func (c *configCmd) Run(command *kong.Context, s *streams) error {
	for _, flag := range command.Selected().Flags {
		if !isSetting(flag) {
			continue
		}
		value := redact(fmt.Sprint(flag.Target.Interface()))
		line := strings.TrimSpace(flag.Name + " = " + value)
		if value == "" {
			line = "# " + line
		}
		fmt.Fprintf(s.out, "%-40s # %s\n", line, source(command, flag))
	}
	return nil
}

// source returns the source of the value of a flag.
func source(command *kong.Context, flag *kong.Flag) string {
	for _, path := range command.Path {
		if path.Flag == flag && path.Resolved {
			return "configuration file"
		}
		if path.Flag == flag {
			return "command line"
		}
	}
	if name, set := environment(flag); set {
		return name
	}
	return "default"
}

// redact removes the password from a URL.
func redact(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return value
	}
	return u.Redacted()
}
