package docgen_test

import (
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// Administrators manage applications, but never get more than their token has.
func TestApplicationsOfAdministrators(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.member("admin", docgen.RoleAdmin)
		w.member("deputy", docgen.RoleCoadmin)
		admin := w.caller("admin")
		narrow := w.caller("admin", docgen.ScopeEnterprise)
		app, secret, err := w.AddApplication(ctx, admin, docgen.NewApplication{Name: "Billing", ActsAsUsers: true})
		must(t, err)
		client, err := w.AuthenticateClient(ctx, app.ClientID, secret)
		if err != nil || client.ID() != app.ClientID {
			t.Errorf("the secret does not work: %v", err)
		}
		robot := w.service(docgen.NewApplication{Name: "Robot", Scopes: []docgen.Scope{docgen.ScopeEnterprise}})
		for name, c := range map[string]*docgen.Caller{
			"a user": w.alice, "a co-administrator": w.caller("deputy"), "a token without the scope": w.caller("admin", docgen.ScopeWrite),
			"a service account": robot,
		} {
			_, err := w.ListApplications(ctx, c, docgen.PageRequest{})
			if !docgen.IsCode(err, docgen.CodeForbidden) && !docgen.IsCode(err, docgen.CodeScope) {
				t.Errorf("%s lists applications: %v", name, err)
			}
			if _, _, err = w.AddApplication(ctx, c, docgen.NewApplication{Name: "Other"}); err == nil {
				t.Errorf("%s creates an application", name)
			}
			if _, err = w.ReplaceSecret(ctx, c, app.ID); err == nil {
				t.Errorf("%s gets the secret of an application", name)
			}
			if err = w.RemoveApplication(ctx, c, app.ID); err == nil {
				t.Errorf("%s deletes an application", name)
			}
		}
		as, err := w.As(ctx, w.caller("admin"), w.alice.User.ID)
		must(t, err)
		_, _, err = w.AddApplication(ctx, as, docgen.NewApplication{Name: "Other"})
		wantCode(t, err, docgen.CodeScope)

		_, _, err = w.AddApplication(ctx, narrow, docgen.NewApplication{Name: "Other"})
		wantCode(t, err, docgen.CodeForbidden)
		_, err = w.ReplaceSecret(ctx, narrow, app.ID)
		wantCode(t, err, docgen.CodeForbidden)
		_, _, err = w.AddApplication(ctx, admin, docgen.NewApplication{Name: "Other", Scopes: []docgen.Scope{docgen.ScopeGlobalContent}})
		wantCode(t, err, docgen.CodeForbidden)
		_, _, err = w.AddApplication(ctx, admin, docgen.NewApplication{Name: "billing"})
		wantCode(t, err, docgen.CodeConflict)
		_, _, err = w.AddApplication(ctx, admin, docgen.NewApplication{Name: "Other", Scopes: []docgen.Scope{"everything"}})
		wantCode(t, err, docgen.CodeBadRequest)

		page, err := w.ListApplications(ctx, narrow, docgen.PageRequest{})
		must(t, err)
		if len(page.Entries) != 2 || !slices.ContainsFunc(page.Entries, func(a docgen.Application) bool {
			return a.Name == "Billing" && a.ActsAsUsers && a.Account.ID == app.Account.ID
		}) {
			t.Errorf("listed: %+v", page.Entries)
		}
		newer, err := w.ReplaceSecret(ctx, admin, app.ID)
		must(t, err)
		if _, err = w.AuthenticateClient(ctx, app.ClientID, secret); err == nil {
			t.Error("the old secret still works")
		}
		_, err = w.AuthenticateClient(ctx, app.ClientID, newer)
		must(t, err)
		must(t, w.RemoveApplication(ctx, narrow, app.ID))
		if _, err = w.AuthenticateClient(ctx, app.ClientID, newer); err == nil {
			t.Error("a deleted application can authenticate")
		}
		wantCode(t, w.RemoveApplication(ctx, admin, app.ID), docgen.CodeNotFound)
		for _, action := range []docgen.AuditAction{docgen.AuditAppCreated, docgen.AuditAppSecret, docgen.AuditAppDeleted} {
			noted := w.audited(docgen.AuditFilter{Action: action, UserID: admin.User.ID})
			if len(noted) != 1 || strings.Contains(noted[0].Details["name"], secret) {
				t.Errorf("%s was recorded %d times", action, len(noted))
			}
		}
		handmade := int64(w.count("SELECT id FROM applications WHERE client_id = '' AND name = 'Command line'"))
		wantCode(t, w.RemoveApplication(ctx, admin, handmade), docgen.CodeNotFound)
	})
}

func TestNumberOfApplications(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.member("admin", docgen.RoleAdmin)
		admin := w.caller("admin")
		must(t, w.exec(`INSERT INTO applications (id, enterprise_id, name, name_key, scopes, service_account_id, created_at, client_id,
				secret_hash)
			WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 999)
			SELECT i, $1, 'a', 'app ' || i, '', NULL, 0, 'client ' || i, '' FROM n`, w.EnterpriseID()))
		_, _, err := w.AddApplication(t.Context(), admin, docgen.NewApplication{Name: "the last one"})
		must(t, err)
		_, _, err = w.AddApplication(t.Context(), admin, docgen.NewApplication{Name: "one too many"})
		wantCode(t, err, docgen.CodeConflict)
	})
}
