package server

// routes registers every operation, in the order of the documentation.
func (a *api) routes() {
	a.oauthRoutes()
	a.docGenRoutes()
	a.fileRoutes()
	a.sessionRoutes()
	a.folderRoutes()
	a.zipRoutes()
	a.trashRoutes()
	a.collaborationRoutes()
	route(a, "GET /shared_items", docGetSharedItem, a.getSharedItem)
	a.userRoutes()
	a.tokenRoutes()
	a.signInRoutes()
	a.archiveRoutes()
	a.webhookRoutes()
	a.eventRoutes()
}

func (a *api) eventRoutes() {
	route(a, "GET /events", docGetEvents, a.getEvents)
	route(a, "OPTIONS /events", docRealtimeServers, a.realtimeServers)
	route(a, "GET "+realtimePath, docWaitForEvents, a.pollEvents)
}

func (a *api) oauthRoutes() {
	oauthRoute(a, "/oauth2/token", docGetToken, a.getToken)
	oauthRoute(a, "/oauth2/revoke", docRevokeToken, a.revokeToken)
}

func (a *api) docGenRoutes() {
	route(a, "POST /docgen_templates", docMarkTemplate, a.markTemplate)
	route(a, "GET /docgen_templates", docListTemplates, a.listTemplates)
	route(a, "GET /docgen_templates/{template_id}", docGetTemplate, a.getTemplate)
	route(a, "PUT /docgen_templates/{template_id}", docUpdateTemplate, a.updateTemplate)
	route(a, "DELETE /docgen_templates/{template_id}", docUnmarkTemplate, a.unmarkTemplate)
	route(a, "GET /docgen_templates/{template_id}/tags", docListTags, a.listTags)
	route(a, "GET /docgen_templates/{template_id}/contract", docGetContract, a.getContract)
	route(a, "GET /docgen_templates/{template_id}/samples", docListSamples, a.listSamples)
	route(a, "GET /docgen_templates/{template_id}/samples/{sample_name}", docGetSample, a.getSample)
	route(a, "PUT /docgen_templates/{template_id}/samples/{sample_name}", docSaveSample, a.saveSample)
	route(a, "DELETE /docgen_templates/{template_id}/samples/{sample_name}", docDeleteSample, a.deleteSample)
	route(a, "POST /docgen_templates/{template_id}/check_samples", docCheckSamples, a.checkSamples)
	route(a, "GET /docgen_template_jobs/{template_id}", docListTemplateJobs, a.listTemplateJobs)
	route(a, "POST /docgen_documents", docCreateDocument, a.createDocument)
	route(a, "POST /docgen_previews", docCreatePreview, a.createPreview)
	route(a, "POST /docgen_checks", docCheckTemplate, a.checkTemplate)
	route(a, "POST /docgen_batches", docCreateBatch, a.createBatch)
	route(a, "GET /docgen_batches", docListBatches, a.listBatches)
	route(a, "GET /docgen_batches/{batch_id}", docGetBatch, a.getBatch)
	route(a, "GET /docgen_batches/{batch_id}/content", docDownloadBatch, a.downloadBatch)
	route(a, "GET /docgen_batches/{batch_id}/events", docBatchEvents, a.batchEvents)
	route(a, "DELETE /docgen_batches/{batch_id}", docDeleteBatch, a.deleteBatch)
	route(a, "POST /docgen_batches/{batch_id}/cancel", docCancelBatch, a.cancelBatch)
	route(a, "POST /docgen_batches/{batch_id}/retry", docRetryBatch, a.retryBatch)
	route(a, "GET /docgen_batch_jobs/{batch_id}", docListBatchJobs, a.listBatchJobs)
	route(a, "GET /docgen_jobs", docListJobs, a.listJobs)
	route(a, "GET /docgen_jobs/{job_id}", docGetJob, a.getJob)
	route(a, "GET /docgen_jobs/{job_id}/input", docGetJobInput, a.getJobInput)
	route(a, "POST /docgen_jobs/{job_id}/retry", docRetryJob, a.retryJob)
}

func (a *api) fileRoutes() {
	route(a, "POST /files/content", docUploadFile, a.uploadFile)
	route(a, "POST /files/{file_id}/content", docUploadVersion, a.uploadVersion)
	route(a, "GET /files/{file_id}/content", docDownloadFile, a.downloadFile)
	route(a, "GET /downloads/{ticket}", docDownloadTicket, a.downloadWithTicket)
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
}

func (a *api) sessionRoutes() {
	route(a, "POST /files/upload_sessions", docCreateSession, a.createSession)
	route(a, "POST /files/{file_id}/upload_sessions", docCreateVersionSession, a.createVersionSession)
	route(a, "GET /files/upload_sessions/{upload_session_id}", docGetSession, a.getSession)
	route(a, "PUT /files/upload_sessions/{upload_session_id}", docUploadPart, a.uploadPart)
	route(a, "DELETE /files/upload_sessions/{upload_session_id}", docDeleteSession, a.deleteSession)
	route(a, "GET /files/upload_sessions/{upload_session_id}/parts", docListParts, a.listParts)
	route(a, "POST /files/upload_sessions/{upload_session_id}/commit", docCommitSession, a.commitSession)
}

func (a *api) folderRoutes() {
	route(a, "POST /folders", docCreateFolder, a.createFolder)
	route(a, "GET /folders/{folder_id}", docGetFolder, a.getFolder)
	route(a, "GET /folders/{folder_id}/items", docListItems, a.listItems)
	route(a, "PUT /folders/{folder_id}", docUpdateFolder, a.updateFolder)
	route(a, "DELETE /folders/{folder_id}", docDeleteFolder, a.deleteFolder)
	route(a, "POST /folders/{folder_id}/copy", docCopyFolder, a.copyFolder)
}

func (a *api) zipRoutes() {
	route(a, "POST /zip_downloads", docCreateZip, a.createZip)
	route(a, "GET /zip_downloads/{zip_download_id}/content", docDownloadZip, a.downloadZip)
	route(a, "GET /zip_downloads/{zip_download_id}/status", docGetZipStatus, a.getZipStatus)
}

func (a *api) trashRoutes() {
	route(a, "GET /folders/trash/items", docListTrash, a.listTrash)
	route(a, "GET /files/{file_id}/trash", docGetTrashedFile, a.getTrashedFile)
	route(a, "POST /files/{file_id}", docRestoreFile, a.restoreFile)
	route(a, "DELETE /files/{file_id}/trash", docPurgeFile, a.purgeFile)
	route(a, "GET /folders/{folder_id}/trash", docGetTrashedFolder, a.getTrashedFolder)
	route(a, "POST /folders/{folder_id}", docRestoreFolder, a.restoreFolder)
	route(a, "DELETE /folders/{folder_id}/trash", docPurgeFolder, a.purgeFolder)
}

func (a *api) collaborationRoutes() {
	route(a, "POST /collaborations", docCreateCollaboration, a.createCollaboration)
	route(a, "GET /collaborations", docListInvitations, a.listInvitations)
	route(a, "GET /files/{file_id}/collaborations", docListFileCollaborations, a.listFileCollaborations)
	route(a, "GET /folders/{folder_id}/collaborations", docListFolderCollaborations, a.listFolderCollaborations)
	route(a, "GET /collaborations/{collaboration_id}", docGetCollaboration, a.getCollaboration)
	route(a, "PUT /collaborations/{collaboration_id}", docUpdateCollaboration, a.updateCollaboration)
	route(a, "DELETE /collaborations/{collaboration_id}", docDeleteCollaboration, a.deleteCollaboration)
}

func (a *api) userRoutes() {
	route(a, "GET /users/me", docGetMe, a.getMe)
	route(a, "GET /users", docListUsers, a.listUsers)
	route(a, "POST /users", docCreateUser, a.createUser)
	route(a, "GET /users/{user_id}", docGetUser, a.getUser)
	route(a, "PUT /users/{user_id}", docUpdateUser, a.updateUser)
	route(a, "DELETE /users/{user_id}", docDeleteUser, a.deleteUser)
	route(a, "PUT /users/{user_id}/folders/0", docTransferContent, a.transferContent)
}

func (a *api) tokenRoutes() {
	route(a, "GET /tokens", docListTokens, a.listTokens)
	route(a, "POST /tokens", docCreateToken, a.createToken)
	route(a, "DELETE /tokens/{token_id}", docDeleteToken, a.deleteToken)
	route(a, "GET /audit_events", docListAuditEvents, a.listAuditEvents)
	route(a, "GET /applications", docListApplications, a.listApplications)
	route(a, "POST /applications", docCreateApplication, a.createApplication)
	route(a, "POST /applications/{application_id}/secret", docRenewSecret, a.renewSecret)
	route(a, "DELETE /applications/{application_id}", docDeleteApplication, a.deleteApplication)
	route(a, "GET /operations", docGetOperations, a.getOperations)
}

func (a *api) signInRoutes() {
	route(a, "POST /sessions", docSignIn, a.signIn)
	route(a, "GET /sessions", docListSessions, a.listSessions)
	route(a, "DELETE /sessions", docEndSessions, a.endSessions)
	route(a, "DELETE /sessions/{session_id}", docEndSession, a.endSession)
	route(a, "POST /users/{user_id}/invitation", docInviteUser, a.inviteUser)
	route(a, "POST /invitations/accept", docAcceptInvitation, a.acceptInvitation)
	route(a, "PUT /users/me/password", docChangePassword, a.changePassword)
}

func (a *api) archiveRoutes() {
	route(a, "POST /archives", docCreateArchive, a.createArchive)
	route(a, "GET /archives", docListArchives, a.listArchives)
	route(a, "PUT /archives/{archive_id}", docUpdateArchive, a.updateArchive)
	route(a, "DELETE /archives/{archive_id}", docDeleteArchive, a.deleteArchive)
	route(a, "GET /storage_policies", docListStoragePolicies, a.listStoragePolicies)
	route(a, "GET /storage_policies/{storage_policy_id}", docGetStoragePolicy, a.getStoragePolicy)
}

func (a *api) webhookRoutes() {
	route(a, "POST /webhooks", docCreateWebhook, a.createWebhook)
	route(a, "GET /webhooks", docListWebhooks, a.listWebhooks)
	route(a, "GET /webhooks/{webhook_id}", docGetWebhook, a.getWebhook)
	route(a, "GET /webhooks/{webhook_id}/receiver", docGetReceiver, a.getReceiver)
	route(a, "PUT /webhooks/{webhook_id}", docUpdateWebhook, a.updateWebhook)
	route(a, "DELETE /webhooks/{webhook_id}", docDeleteWebhook, a.deleteWebhook)
	route(a, "POST /webhooks/{webhook_id}/test", docTestWebhook, a.testWebhook)
	route(a, "GET /webhook_deliveries", docListDeliveries, a.listDeliveries)
	route(a, "GET /webhook_deliveries/{delivery_id}", docGetDelivery, a.getDelivery)
	route(a, "GET /webhook_deliveries/{delivery_id}/attempts", docListAttempts, a.listAttempts)
	route(a, "POST /webhook_deliveries/{delivery_id}/replay", docReplayDelivery, a.replayDelivery)
	route(a, "POST /webhook_deliveries/replay", docReplayDeliveries, a.replayDeliveries)
	route(a, "GET /webhook_keys", docListKeys, a.listKeys)
	route(a, "POST /webhook_keys/{slot}", docRenewKey, a.renewKey)
	route(a, "POST /webhook_listeners", docCreateListener, a.createListener)
	route(a, "POST /webhook_listeners/{listener_id}/events", docPollListener, a.pollListener)
	route(a, "DELETE /webhook_listeners/{listener_id}", docDeleteListener, a.deleteListener)
}
