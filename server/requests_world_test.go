package server_test

import (
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the digest that the interface has
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"platen/docgen"
)

// furnish creates the objects of the requests: objects that the callers share, objects of another caller, and objects
// of a stranger who sends no requests. All texts of the stranger's objects are secret, and so are their ids.
func (v *visit) furnish() {
	w := v.w
	w.t.Helper()
	v.named("", w.scene())
	v.named("2", w.scene())
	v.done("2")
	ctx := w.t.Context()

	other := w.caller("other")
	folder, err := w.CreateFolder(ctx, other, docgen.NewFolder{Name: "Of other"})
	must(w.t, err)
	v.ids["folder:other"] = id(folder.ID)
	file, err := w.CreateFile(ctx, other, docgen.NewFile{Name: "Of other.docx", ParentID: folder.ID}, strings.NewReader("other"))
	must(w.t, err)
	v.ids["file:other"], v.ids["file_version:other"] = id(file.ID), id(file.VersionID)

	for _, name := range []string{"owner", "other", "reader", "editor", "admin", "carol"} {
		v.ids["user:"+name] = id(w.userID(name))
	}
	policies, err := w.StoragePolicies(ctx, w.caller("archivist"), docgen.PageRequest{})
	must(w.t, err)
	v.ids["storage_policy:default"], v.ids["storage_policy:cold"] = id(policies.Entries[0].ID), id(policies.Entries[1].ID)
	v.ids["enterprise:own"] = id(w.EnterpriseID())
	v.ids["slot:primary"], v.ids["slot:secondary"] = docgen.KeyPrimary, docgen.KeySecondary
	v.ids["webhook_listener:shared"], v.ids["webhook_listener:spare"] = v.listen(w.owner), v.listen(w.owner)
	v.sessions()
	v.past()
	v.failed()
	v.letter()
	v.spare()
	v.clients()
	v.person()
	v.stranger()
}

// sessions starts uploads of the owner in parts, each of the content "text".
func (v *visit) sessions() {
	for _, name := range []string{"open", "full", "spare"} {
		session, part := v.w.session(v.w.owner, 0)
		v.ids["upload_session:"+name], v.ids["upload_part:"+name] = id(session), id(part)
	}
}

// person signs in, and an invited user waits for a password.
func (v *visit) person() {
	w := v.w
	password := "the password of a person"
	w.person("person", password)
	v.ids["password:person"] = password
	for _, name := range []string{"session:shared", "session:shared2", "session:own"} {
		session, err := w.SignIn(w.t.Context(), docgen.SignIn{Login: "person@example.com", Password: password})
		must(w.t, err)
		v.ids[name], v.cookie = id(session.ID), session.Secret
		v.secrets = append(v.secrets, session.Secret)
	}
	_, v.ids["invitation:invited"] = w.invited("invited")
}

// spare creates objects of the owner that may be deleted.
func (v *visit) spare() {
	ctx := v.w.t.Context()
	folder, err := v.w.CreateFolder(ctx, v.w.owner, docgen.NewFolder{Name: "Spare"})
	must(v.w.t, err)
	file, err := v.w.CreateFile(ctx, v.w.owner, docgen.NewFile{Name: "Spare.txt"}, strings.NewReader("spare"))
	must(v.w.t, err)
	v.ids["folder:spare"], v.ids["file:spare"] = id(folder.ID), id(file.ID)
}

// done ends the job of a scene with a document.
func (v *visit) done(suffix string) {
	w := v.w
	ctx := w.t.Context()
	claim := claimBatch(ctx, w.t, w.Service, w.owner.User.ID, docgen.LaneDocx, v.ids["docgen_batch:shared"+suffix])
	output, err := w.SaveOutput(ctx, claim.Jobs[0], strings.NewReader("document"))
	must(w.t, err)
	_, err = w.CompleteJobs(ctx, claim, []docgen.Result{{Job: claim.Jobs[0], Output: &output}})
	must(w.t, err)
}

// failed creates batches of the owner with a failed job each.
func (v *visit) failed() {
	w := v.w
	template := v.ids["file:shared"]
	for _, name := range []string{"failed", "failed2"} {
		file, err := strconv.ParseInt(template, 10, 64)
		must(w.t, err)
		batch, err := w.CreateBatch(w.t.Context(), w.owner, docgen.NewBatch{TemplateID: file, InputSource: docgen.InputSource,
			OutputType: docgen.OutputDocx, Documents: []docgen.NewDocument{{Name: name, Input: new(docgen.Inputs).Parse([]byte(`{"name":"Ada"}`))}}})
		must(w.t, err)
		job := w.failJobs(batch)
		v.ids["docgen_batch:"+name], v.ids["docgen_job:"+name] = batch, id(job)
	}
}

// letter creates a template of the owner from which documents can be generated. The same template can come with a request.
func (v *visit) letter() {
	w := v.w
	ctx := w.t.Context()
	word := wordFile(w.t, "Dear {{name}},")
	file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: "Real letter.docx"}, strings.NewReader(word))
	must(w.t, err)
	_, err = w.MarkTemplate(ctx, w.owner, file.ID)
	must(w.t, err)
	must(w.t, w.SaveReading(ctx, file.VersionID, docgen.Reading{
		Tags: []docgen.Tag{{Content: "{{name}}", Type: "text", JSONPaths: []string{"name"}}}, Schema: []byte(`{"type":"object"}`),
	}))
	v.ids["file:letter"], v.ids["file_version:letter"] = id(file.ID), id(file.VersionID)
	v.ids["word:letter"], v.ids["template:letter"] = word, base64.StdEncoding.EncodeToString([]byte(word))
}

// past creates a file with several versions, and objects in the trash, all of the owner.
func (v *visit) past() {
	w := v.w
	ctx := w.t.Context()
	file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: "Versions.txt"}, strings.NewReader("1"))
	must(w.t, err)
	v.ids["file:versions"], v.ids["file_version:past"] = id(file.ID), id(file.VersionID)
	for _, name := range []string{"past2", "trashed", "trashed2", "current"} {
		changed, err := w.CreateVersion(ctx, w.owner, docgen.NewVersion{FileID: file.ID}, strings.NewReader(name))
		must(w.t, err)
		v.ids["file_version:"+name] = id(changed.VersionID)
		if name == "trashed2" || name == "current" {
			must(w.t, w.TrashVersion(ctx, w.owner, file.ID, file.VersionID, ""))
		}
		file = changed
	}
	for _, name := range []string{"trashed", "trashed2"} {
		folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: name})
		must(w.t, err)
		trashed, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: name + ".txt"}, strings.NewReader(name))
		must(w.t, err)
		must(w.t, w.TrashFolder(ctx, w.owner, folder.ID, false, ""))
		must(w.t, w.TrashFile(ctx, w.owner, trashed.ID, ""))
		v.ids["folder:"+name], v.ids["file:"+name] = id(folder.ID), id(trashed.ID)
	}
}

func (v *visit) named(suffix string, s scene) {
	v.ids["folder:shared"+suffix] = id(s.folder)
	v.ids["file:shared"+suffix] = id(s.file)
	v.ids["file_version:shared"+suffix] = id(s.version)
	v.ids["collaboration:shared"+suffix] = id(s.collaboration)
	v.ids["docgen_batch:shared"+suffix] = s.batch
	v.ids["docgen_job:shared"+suffix] = id(s.job)
	v.ids["archive:shared"+suffix] = id(s.archive)
	v.ids["user:spare"+suffix] = id(s.user)
	v.ids["token:shared"+suffix] = id(s.token)
	v.ids["application:shared"+suffix] = id(s.client.ID)
	v.ids["ticket:shared"+suffix], v.ids["zip_download:shared"+suffix] = v.w.ticket(s), s.zip
	v.ids["zip_download:started"] = v.w.zip(s, true)
	v.ids["link:shared"+suffix] = v.w.link(s.file, "company", "")
	v.ids["webhook:shared"+suffix] = id(s.webhook)
	v.logged("shared"+suffix, v.w.owner, s.delivery)
}

// logged names a delivery and its event.
func (v *visit) logged(name string, c *docgen.Caller, deliveryID int64) {
	delivery, err := v.w.Delivery(v.w.t.Context(), c, deliveryID)
	must(v.w.t, err)
	v.ids["webhook_delivery:"+name], v.ids["event:"+name] = id(delivery.ID), delivery.EventID
}

// listen creates a listener of a caller for everything.
func (v *visit) listen(c *docgen.Caller) string {
	made, err := v.w.CreateListener(v.w.t.Context(), c, docgen.WebhookTarget{Kind: docgen.Folder}, nil)
	must(v.w.t, err)
	return id(made.ID)
}

// secret returns a text that no caller may see.
func (v *visit) secret() string {
	secret := "secret" + rand.Text()
	v.secrets = append(v.secrets, secret)
	return secret
}

// stranger creates the objects of a user who sends no requests: a folder with a template, its tags, batches, and jobs,
// an item in the trash, and a subfolder that reader may see.
func (v *visit) stranger() {
	w := v.w
	ctx := w.t.Context()
	_, err := w.CreateUser(ctx, docgen.NewUser{Login: "stranger@example.com", Name: "stranger", Role: docgen.RoleUser})
	must(w.t, err)
	w.tokens["stranger"] = w.token("stranger", 0)
	stranger := w.caller("stranger")
	defer delete(w.tokens, "stranger")

	top, err := w.CreateFolder(ctx, stranger, docgen.NewFolder{Name: v.secret()})
	must(w.t, err)
	shown, err := w.CreateFolder(ctx, stranger, docgen.NewFolder{Name: "Shown", ParentID: top.ID})
	must(w.t, err)
	_, err = w.CreateCollaboration(ctx, stranger, docgen.NewCollaboration{
		ItemKind: docgen.Folder, ItemID: shown.ID, Login: "reader@example.com", Role: docgen.RoleViewer,
	})
	must(w.t, err)
	invited, err := w.CreateCollaboration(ctx, stranger, docgen.NewCollaboration{
		ItemKind: docgen.Folder, ItemID: top.ID, Login: v.secret() + "@elsewhere.example", Role: docgen.RoleViewer,
	})
	must(w.t, err)

	content := v.secret()
	digest := sha1.Sum([]byte(content))
	v.secrets = append(v.secrets, hex.EncodeToString(digest[:]))
	file, err := w.CreateFile(ctx, stranger, docgen.NewFile{Name: v.secret() + ".docx", ParentID: top.ID}, strings.NewReader(content))
	must(w.t, err)
	description := v.secret()
	_, err = w.UpdateFile(ctx, stranger, file.ID, docgen.ItemChange{Description: &description})
	must(w.t, err)
	_, err = w.MarkTemplate(ctx, stranger, file.ID)
	must(w.t, err)
	tag := v.secret()
	must(w.t, w.SaveReading(ctx, file.VersionID, docgen.Reading{
		Tags:   []docgen.Tag{{Content: "{{ " + tag + " }}", Type: "text", JSONPaths: []string{tag}}},
		Schema: fmt.Appendf(nil, `{"type":"object","properties":{%q:{"type":"string"}}}`, tag),
	}))
	batch, err := w.CreateBatch(ctx, stranger, docgen.NewBatch{
		TemplateID: file.ID, InputSource: docgen.InputSource, DestinationID: top.ID, OutputType: docgen.OutputDocx,
		Documents: []docgen.NewDocument{{Name: v.secret(), Input: new(docgen.Inputs).Parse(fmt.Appendf(nil, `{%q:%q}`, v.secret(), v.secret()))}},
	})
	must(w.t, err)
	jobs, err := w.Jobs(ctx, stranger, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{})
	must(w.t, err)
	gone, err := w.CreateFile(ctx, stranger, docgen.NewFile{Name: v.secret(), ParentID: top.ID}, strings.NewReader(v.secret()))
	must(w.t, err)
	must(w.t, w.TrashFile(ctx, stranger, gone.ID, ""))
	hook, err := w.CreateWebhook(ctx, stranger, docgen.NewWebhook{
		TargetKind: docgen.Folder, TargetID: top.ID, Address: "https://hooks.example.com/" + v.secret(),
		Triggers: []docgen.Trigger{docgen.FolderMoved},
	})
	must(w.t, err)
	delivery, err := w.TestWebhook(ctx, stranger, hook.ID, docgen.FolderMoved)
	must(w.t, err)

	for name, id := range map[string]string{
		"folder:stranger": id(top.ID), "folder:shown": id(shown.ID), "file:stranger": id(file.ID), "file:gone": id(gone.ID),
		"file_version:stranger": id(file.VersionID), "docgen_batch:stranger": batch, "docgen_job:stranger": id(jobs.Entries[0].ID),
		"collaboration:stranger": id(invited.ID), "webhook:stranger": id(hook.ID), "webhook_delivery:stranger": id(delivery.ID),
		"event:stranger": delivery.EventID, "webhook_listener:stranger": v.listen(stranger), "token:stranger": id(stranger.TokenID),
	} {
		v.ids[name], v.strange[name], v.seen[id] = id, true, true
	}
	v.seen[id(stranger.User.ID)] = true // so that no request acts as the stranger, or takes over their items
}

// hidden reports whether the item of a name must be invisible to the other users.
func (v *visit) hidden(name string) bool { return v.strange[name] && name != "folder:shown" }

// unused returns an id of the same form that does not exist.
func unused(like string) string {
	n, err := strconv.ParseInt(like, 10, 64)
	if err != nil {
		return "00000000-0000-4000-8000-000000000000"
	}
	return strconv.FormatInt(n-1_000_000, 10)
}

// betrayed repeats a request with ids that do not exist in place of the ids of hidden items. The response must be the same, apart from
// the ids. A request that succeeded is repeated only if it changed nothing.
func (v *visit) betrayed(r wireRequest, res response) string {
	var hidden []string
	for name := range v.strange {
		if v.hidden(name) && r.as != "archivist" && strings.Contains(fmt.Sprint(r), "«"+name+"»") {
			hidden = append(hidden, name)
		}
	}
	if len(hidden) == 0 || res.StatusCode < http.StatusBadRequest && r.method != http.MethodGet {
		return ""
	}
	v.absent = true
	absent, err := v.send(r)
	v.absent = false
	if err != nil {
		return fmt.Sprintf("%s: no answer: %v", r.call(), err)
	}
	got, want := v.anonymous(res, hidden), v.anonymous(absent, hidden)
	if got != want {
		return fmt.Sprintf("%s: what is hidden is answered with\n%s\nand what is not there with\n%s", r.call(), got, want)
	}
	return ""
}

var requestIDs = regexp.MustCompile(`"request_id": ?"[^"]*"`)

// anonymous returns the text of a response in which names replace the ids of hidden objects, and the unused ids in
// their place.
func (v *visit) anonymous(res response, hidden []string) string {
	text := requestIDs.ReplaceAllString(string(res.text), "")
	for _, name := range hidden {
		text = strings.NewReplacer(v.ids[name], name, unused(v.ids[name]), name).Replace(text)
	}
	return fmt.Sprint(res.StatusCode, " ", slices.Sorted(maps.Keys(res.Header)), " ", text)
}

func (w *world) userID(name string) int64 { return w.caller(name).User.ID }
