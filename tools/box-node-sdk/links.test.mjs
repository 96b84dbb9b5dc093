// Shared links, through client.sharedLinksFiles and client.sharedLinksFolders.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clientOf, download, newFile, newFolder, refused } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');
const fields = { fields: 'shared_link' };
const header = (link, password) => ({ boxapi: `shared_link=${link.url}${password ? `&shared_link_password=${password}` : ''}` });

test('a file is found by its link and password', async () => {
	const file = await newFile(owner, 'text');
	const made = await owner.sharedLinksFiles.addShareLinkToFile(file.id,
		{ sharedLink: { access: 'open', password: 'Secret123@', permissions: { canDownload: true } } }, fields);
	const link = made.sharedLink;
	assert.deepEqual([link.access, link.effectivePermission, link.isPasswordEnabled, link.permissions.canEdit], ['open', 'can_download', true, false]);
	const got = await owner.sharedLinksFiles.getSharedLinkForFile(file.id, fields);
	assert.equal(got.sharedLink.url, link.url);
	assert.equal((await other.sharedLinksFiles.findFileForSharedLink({}, header(link, 'Secret123@'))).id, file.id);
	await refused(other.sharedLinksFiles.findFileForSharedLink({}, header(link, 'wrong')), 403, 'access_denied_insufficient_permissions');
	const updated = await owner.sharedLinksFiles.updateSharedLinkOnFile(file.id, { sharedLink: { access: 'collaborators' } }, fields);
	assert.equal(updated.sharedLink.access, 'collaborators');
	await refused(other.sharedLinksFiles.findFileForSharedLink({}, header(link)), 404, 'not_found');
	const removed = await owner.sharedLinksFiles.removeSharedLinkFromFile(file.id, { sharedLink: null }, fields);
	assert.equal(removed.sharedLink ?? null, null);
});

test('a folder is found by its link, with the files in it', async () => {
	const folder = await newFolder(owner);
	const file = await newFile(owner, 'text', 'File.txt', folder.id);
	const made = await owner.sharedLinksFolders.addShareLinkToFolder(folder.id, { sharedLink: {} }, fields);
	assert.equal(made.sharedLink.access, 'company');
	const found = await other.sharedLinksFolders.findFolderForSharedLink({}, header(made.sharedLink));
	assert.equal(found.id, folder.id);
	await refused(other.files.getFileById(file.id), 404, 'not_found');
	const got = await other.files.getFileById(file.id, { headers: header(made.sharedLink) });
	assert.equal(got.name, 'File.txt');
	assert.equal(String(await download(owner, file)), 'text');
});
