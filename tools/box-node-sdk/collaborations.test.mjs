// Who works on what of whom, through client.userCollaborations and client.listCollaborations.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byMarker, byOffset, clientOf, download, idsOf, newFile, newFolder, refused, sdk, unique } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');
const me = await other.users.getUserMe();

const invite = (item, accessibleBy, role, more = {}) => owner.userCollaborations.createCollaboration({
	item: { type: item.type, id: item.id }, accessibleBy: { type: 'user', ...accessibleBy }, role, ...more,
});

test('a user of the enterprise is a collaborator at once', async () => {
	const folder = await newFolder(owner);
	const file = await newFile(owner, 'text', 'File.txt', folder.id);
	const made = await invite(folder, { id: me.id }, 'editor');
	assert.deepEqual([made.type, made.role, made.status, made.accessibleBy.id, made.item.id], ['collaboration', 'editor', 'accepted', me.id, folder.id]);
	const got = await other.userCollaborations.getCollaborationById(made.id);
	assert.deepEqual([got.id, got.inviteEmail ?? null], [made.id, null]);
	assert.equal(String(await download(other, file)), 'text');
	await newFile(other, 'theirs', 'Theirs.txt', folder.id);
	const viewer = await owner.userCollaborations.updateCollaborationById(made.id, { requestBody: { role: 'viewer' } });
	assert.equal(viewer.role, 'viewer');
	await refused(newFile(other, 'more', 'More.txt', folder.id), 403, 'access_denied_insufficient_permissions');
	assert.equal(await owner.userCollaborations.deleteCollaborationById(made.id), undefined);
	await refused(owner.userCollaborations.getCollaborationById(made.id), 404, 'not_found');
	await refused(other.files.getFileById(file.id), 404, 'not_found');
});

test('a collaborator is invited by login, on a file too', async () => {
	const file = await newFile(owner);
	const made = await invite(file, { login: me.login.toUpperCase() }, 'viewer');
	assert.deepEqual([made.accessibleBy.id, made.item.type], [me.id, 'file']);
	await refused(invite(file, { id: me.id }, 'viewer'), 400, 'user_already_collaborator');
	assert.equal((await other.files.getFileById(file.id)).id, file.id);
});

test('every role may do its own', async () => {
	for (const [role, mayRead, mayWrite] of [
		['editor', true, true], ['viewer', true, false], ['previewer', false, false], ['uploader', false, true],
		['previewer uploader', false, true], ['viewer uploader', true, true], ['co-owner', true, true],
	]) {
		const folder = await newFolder(owner);
		const file = await newFile(owner, 'text', 'File.txt', folder.id);
		await invite(folder, { id: me.id }, role);
		const read = download(other, file).then(() => true, (e) => assert.equal(e.responseInfo.statusCode, 403) ?? false);
		const write = newFile(other, 'new', 'New.txt', folder.id).then(() => true, (e) => assert.equal(e.responseInfo.statusCode, 403) ?? false);
		assert.deepEqual([await read, await write], [mayRead, mayWrite], role);
	}
});

test('who is not there yet is invited by login', async () => {
	const folder = await newFolder(owner);
	const login = `${unique('somebody').replaceAll(' ', '.')}@elsewhere.example`;
	const made = await invite(folder, { login }, 'editor');
	assert.deepEqual([made.status, made.inviteEmail, made.role, made.item ?? null], ['pending', login, 'editor', null]);
	assert.equal((await owner.userCollaborations.updateCollaborationById(made.id, { requestBody: { role: 'viewer' } })).role, 'viewer');
	assert.equal((await owner.userCollaborations.getCollaborationById(made.id)).status, 'pending');
	await owner.userCollaborations.deleteCollaborationById(made.id);
	await refused(owner.userCollaborations.getCollaborationById(made.id), 404, 'not_found');
});

test('the owner gives a folder away', async () => {
	const folder = await newFolder(owner);
	const made = await invite(folder, { id: me.id }, 'editor');
	assert.equal(await owner.userCollaborations.updateCollaborationById(made.id, { requestBody: { role: 'owner' } }), undefined); // 204
	assert.equal((await other.folders.getFolderById(folder.id)).ownedBy.id, me.id);
	const list = (client) => byMarker((queryParams) => client.listCollaborations.getFolderCollaborations(folder.id, { queryParams }), 10);
	const [rest] = await list(owner); // who gave it away still collaborates
	assert.equal(rest.accessibleBy.id, (await owner.users.getUserMe()).id);
	await owner.userCollaborations.deleteCollaborationById(rest.id);
	await refused(owner.folders.getFolderById(folder.id), 404, 'not_found');
	await other.folders.deleteFolderById(folder.id);
});

test('collaborations are listed for a file and a folder', async () => {
	const folder = await newFolder(owner);
	const file = await newFile(owner, 'text', 'File.txt', folder.id);
	const made = [(await invite(folder, { id: me.id }, 'viewer')).id];
	for (const name of ['one', 'two']) {
		made.push((await invite(folder, { login: `${name}@elsewhere.example` }, 'editor')).id);
	}
	const list = (queryParams) => owner.listCollaborations.getFolderCollaborations(folder.id, { queryParams });
	assert.deepEqual(idsOf((await list({ limit: 100 })).entries).sort(), made.toSorted());
	assert.deepEqual(idsOf(await byMarker(list, 2)).sort(), made.toSorted());
	const direct = await invite(file, { id: me.id }, 'editor');
	const ofFile = await owner.listCollaborations.getFileCollaborations(file.id, { queryParams: { limit: 100 } });
	assert.ok(idsOf(ofFile.entries).includes(direct.id));
	const stranger = clientOf('stranger');
	await refused(stranger.listCollaborations.getFolderCollaborations(folder.id), 404, 'not_found');
	await refused(stranger.userCollaborations.getCollaborationById(made[0]), 404, 'not_found');
});

test('pending invitations are listed by offset', async () => {
	const pending = await byOffset((page) => other.listCollaborations.getCollaborations({ status: 'pending', ...page }), 1);
	assert.ok(pending.every((one) => one.status === 'pending'));
});

test('what cannot be shared is refused', async () => {
	const folder = await newFolder(owner);
	await refused(invite({ type: 'folder', id: '0' }, { id: me.id }, 'viewer'), 400, 'collaborations_not_available_on_root_folder');
	const error = await refused(invite(folder, { id: me.id }, 'king'), 400, 'bad_request');
	assert.ok(error.responseInfo.contextInfo.errors.some((problem) => problem.name === 'role'));
	await refused(invite({ type: 'folder', id: '4711' }, { id: me.id }, 'viewer'), 404, 'not_found');
	await refused(invite(await newFolder(other), { id: me.id }, 'viewer'), 404, 'not_found');
	await assert.rejects(other.userCollaborations.deleteCollaborationById('4711'), sdk.BoxApiError);
});
