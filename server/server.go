// Package server is the HTTP API: it decodes a request, calls one operation of docgen, and encodes the answer. What is
// allowed and what is true is docgen's to say; here is what HTTP adds: access tokens, the version header, rate limits,
// the limits of bodies, error bodies, and the documents that describe it all.
package server

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// Config is what the API stands on.
type Config struct {
	Service    *docgen.Service
	Log        *slog.Logger         // slog.Default when nil
	BaseURL    string               // where clients reach the server, without the /2.0; for links in answers
	Version    string               // of the server, for the OpenAPI document
	RateLimits RateLimits           // requests a minute
	Rates      RateCounter          // where requests are counted that several servers answer; nil when there is one
	Now        func() time.Time     // by which requests are counted; time.Now when nil
	Compat     Compat               // whose clients the server bears with
	Metrics    *prometheus.Registry // where the server counts, and what /metrics shows; a new one when nil
}

// Compat names the clients for which the server relaxes what its interface demands and they do not keep.
type Compat string

// What Compat may be. Without it every operation under /2.0 demands the version header, as the interface says. The
// clients of Box send it with the operations of the version 2025.0 alone.
const (
	CompatNone Compat = ""
	CompatBox  Compat = "box"
)

// prefix is the path segment that the contract puts before every operation.
const prefix = "/2.0"

type api struct {
	service    *docgen.Service
	log        *slog.Logger
	baseURL    string
	compat     Compat
	mux        *http.ServeMux
	compressed http.Handler // mux, for clients that accept it
	huma       huma.API
	operations []*huma.Operation // in the order of the documentation
	metrics    *metrics

	limiter limiter
}

// New returns the handler of everything below the server's address: the operations under /2.0, the health checks and
// metrics, and the documentation.
func New(cfg Config) http.Handler {
	a := &api{
		service: cfg.Service,
		log:     cfg.Log,
		baseURL: strings.TrimSuffix(cfg.BaseURL, "/"),
		compat:  cfg.Compat,
		mux:     http.NewServeMux(),
		limiter: limiter{limits: cfg.RateLimits.withDefaults(), shared: cfg.Rates, now: cfg.Now},
	}
	if a.log == nil {
		a.log = slog.Default()
	}
	if a.limiter.now == nil {
		a.limiter.now = time.Now
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	a.metrics = newMetrics(cfg.Metrics)
	a.huma = humago.NewWithPrefix(a.mux, prefix, describe(a.baseURL, cfg.Version))
	a.routes()
	a.describeHeaders()
	tidy(a.huma.OpenAPI().Components.Schemas)
	a.pages(cfg.Metrics)
	a.compressed = compressing(a.mux)
	return a
}

// routes is every operation, in the order of the documentation.
func (a *api) routes() {
	oauthRoute(a, "/oauth2/token", docGetToken, a.getToken)
	oauthRoute(a, "/oauth2/revoke", docRevokeToken, a.revokeToken)

	route(a, "POST /docgen_templates", docMarkTemplate, a.markTemplate)
	route(a, "GET /docgen_templates", docListTemplates, a.listTemplates)
	route(a, "GET /docgen_templates/{template_id}", docGetTemplate, a.getTemplate)
	route(a, "DELETE /docgen_templates/{template_id}", docUnmarkTemplate, a.unmarkTemplate)
	route(a, "GET /docgen_templates/{template_id}/tags", docListTags, a.listTags)
	route(a, "GET /docgen_templates/{template_id}/contract", docGetContract, a.getContract)
	route(a, "GET /docgen_template_jobs/{template_id}", docListTemplateJobs, a.listTemplateJobs)
	route(a, "POST /docgen_batches", docCreateBatch, a.createBatch)
	route(a, "GET /docgen_batch_jobs/{batch_id}", docListBatchJobs, a.listBatchJobs)
	route(a, "GET /docgen_jobs", docListJobs, a.listJobs)
	route(a, "GET /docgen_jobs/{job_id}", docGetJob, a.getJob)

	route(a, "POST /files/content", docUploadFile, a.uploadFile)
	route(a, "POST /files/{file_id}/content", docUploadVersion, a.uploadVersion)
	route(a, "GET /files/{file_id}/content", docDownloadFile, a.downloadFile)
	route(a, "GET /files/{file_id}", docGetFile, a.getFile)
	route(a, "PUT /files/{file_id}", docUpdateFile, a.updateFile)
	route(a, "DELETE /files/{file_id}", docDeleteFile, a.deleteFile)
	route(a, "OPTIONS /files/content", docCheckUpload, a.checkUpload)
	route(a, "OPTIONS /files/{file_id}/content", docCheckVersion, a.checkVersionUpload)
	route(a, "POST /files/{file_id}/copy", docCopyFile, a.copyFile)
	route(a, "GET /files/{file_id}/versions", docListVersions, a.listVersions)
	route(a, "POST /files/{file_id}/versions/current", docPromoteVersion, a.promoteVersion)
	route(a, "GET /files/{file_id}/versions/{file_version_id}", docGetVersion, a.getVersion)
	route(a, "PUT /files/{file_id}/versions/{file_version_id}", docRestoreVersion, a.restoreVersion)
	route(a, "DELETE /files/{file_id}/versions/{file_version_id}", docDeleteVersion, a.deleteVersion)

	route(a, "POST /folders", docCreateFolder, a.createFolder)
	route(a, "GET /folders/{folder_id}", docGetFolder, a.getFolder)
	route(a, "GET /folders/{folder_id}/items", docListItems, a.listItems)
	route(a, "PUT /folders/{folder_id}", docUpdateFolder, a.updateFolder)
	route(a, "DELETE /folders/{folder_id}", docDeleteFolder, a.deleteFolder)
	route(a, "POST /folders/{folder_id}/copy", docCopyFolder, a.copyFolder)

	route(a, "GET /folders/trash/items", docListTrash, a.listTrash)
	route(a, "GET /files/{file_id}/trash", docGetTrashedFile, a.getTrashedFile)
	route(a, "POST /files/{file_id}", docRestoreFile, a.restoreFile)
	route(a, "DELETE /files/{file_id}/trash", docPurgeFile, a.purgeFile)
	route(a, "GET /folders/{folder_id}/trash", docGetTrashedFolder, a.getTrashedFolder)
	route(a, "POST /folders/{folder_id}", docRestoreFolder, a.restoreFolder)
	route(a, "DELETE /folders/{folder_id}/trash", docPurgeFolder, a.purgeFolder)

	route(a, "POST /collaborations", docCreateCollaboration, a.createCollaboration)
	route(a, "GET /collaborations", docListInvitations, a.listInvitations)
	route(a, "GET /files/{file_id}/collaborations", docListFileCollaborations, a.listFileCollaborations)
	route(a, "GET /folders/{folder_id}/collaborations", docListFolderCollaborations, a.listFolderCollaborations)
	route(a, "GET /collaborations/{collaboration_id}", docGetCollaboration, a.getCollaboration)
	route(a, "PUT /collaborations/{collaboration_id}", docUpdateCollaboration, a.updateCollaboration)
	route(a, "DELETE /collaborations/{collaboration_id}", docDeleteCollaboration, a.deleteCollaboration)

	route(a, "GET /users/me", docGetMe, a.getMe)
	route(a, "GET /users", docListUsers, a.listUsers)
	route(a, "POST /users", docCreateUser, a.createUser)
	route(a, "GET /users/{user_id}", docGetUser, a.getUser)
	route(a, "PUT /users/{user_id}", docUpdateUser, a.updateUser)
	route(a, "DELETE /users/{user_id}", docDeleteUser, a.deleteUser)
	route(a, "PUT /users/{user_id}/folders/0", docTransferContent, a.transferContent)

	route(a, "POST /archives", docCreateArchive, a.createArchive)
	route(a, "GET /archives", docListArchives, a.listArchives)
	route(a, "PUT /archives/{archive_id}", docUpdateArchive, a.updateArchive)
	route(a, "DELETE /archives/{archive_id}", docDeleteArchive, a.deleteArchive)
	route(a, "GET /storage_policies", docListStoragePolicies, a.listStoragePolicies)
	route(a, "GET /storage_policies/{storage_policy_id}", docGetStoragePolicy, a.getStoragePolicy)
}

// pages is everything that is not under /2.0.
func (a *api) pages(registry *prometheus.Registry) {
	a.mux.HandleFunc("GET /healthz", a.healthz)
	a.mux.HandleFunc("GET /readyz", a.readyz)
	a.mux.Handle("GET /metrics", metricsPage(registry))
	a.mux.HandleFunc("GET /openapi.json", page(a, jsonType, openAPIPage))
	a.mux.HandleFunc("GET /openapi-3.0.json", page(a, jsonType, openAPI30Page))
	a.mux.HandleFunc("GET /docs", page(a, htmlType, referencePage))
	a.mux.HandleFunc("GET /docs/errors", page(a, htmlType, errorsPage))
}

// Limits of the connections that NewHTTPServer takes. What a body and an answer may take is limited by the handler.
const (
	maxHeaderBytes = 64 << 10
	headerSlack    = 4 << 10 // that net/http grants above what it is told
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
)

// NewHTTPServer returns an HTTP server for the handler, safe against clients that are slow or send too much. It is to
// serve a Listener.
func NewHTTPServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           answering(handler),
		ConnContext:       withConn,
		ConnState:         answered,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes - headerSlack,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is answered like other addresses that are not there
	}
}
