// The versions of a file, and what is checked before an upload, through client.fileVersions and client.uploads.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { byOffset, clientOf, download, idsOf, newFile, newFolder, newVersion, refused, sdk, unique } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');
const versionsOf = (file, queryParams) => owner.fileVersions.getFileVersions(file.id, { queryParams });
const trashing = { queryParams: { fields: ['trashed_at', 'trashed_by', 'restored_at', 'restored_by'] } };

async function fileOf(...contents) {
	const file = await newFile(owner, contents[0]);
	const versions = [file.fileVersion.id];
	for (const content of contents.slice(1)) {
		versions.push((await newVersion(owner, file, content)).fileVersion.id);
	}
	return { file, versions };
}

test('past versions are listed, newest first, and got', async () => {
	const { file, versions } = await fileOf('1', '22', '333');
	const page = await versionsOf(file);
	assert.equal(page.totalCount, 2);
	assert.deepEqual(idsOf(page.entries), [versions[1], versions[0]]); // without the current one
	assert.deepEqual(idsOf(await byOffset((queryParams) => versionsOf(file, queryParams), 1)), idsOf(page.entries));
	const first = await owner.fileVersions.getFileVersionById(file.id, versions[0]);
	assert.deepEqual([first.type, first.id, first.name, first.size], ['file_version', versions[0], file.name, 1]);
	assert.equal(String(await download(owner, file, versions[1])), '22');
	const numbered = await versionsOf(file, { fields: ['version_number'] });
	assert.deepEqual(numbered.entries.map((version) => version.rawData?.version_number ?? version.versionNumber), ['2', '1']);
});

test('a promoted version becomes the current one, with its name', async () => {
	const file = await newFile(owner, 'first', unique('Old', '.txt'));
	await newVersion(owner, file, 'second and longer', unique('New', '.txt'));
	const [past] = (await versionsOf(file)).entries;
	const promoted = await owner.fileVersions.promoteFileVersion(file.id, { requestBody: { id: past.id, type: 'file_version' } });
	assert.notEqual(promoted.id, past.id);
	const now = await owner.files.getFileById(file.id);
	assert.deepEqual([now.name, now.size, now.fileVersion.id], [file.name, 5, promoted.id]);
	assert.equal(String(await download(owner, now)), 'first');
	assert.equal((await versionsOf(file)).totalCount, 2);
});

test('a version is deleted and restored', async () => {
	const { file, versions: [past, current] } = await fileOf('1', '22');
	const get = () => owner.fileVersions.getFileVersionById(file.id, past, trashing);
	const before = await get();
	assert.deepEqual([before.trashedAt ?? null, before.trashedBy ?? null, before.restoredAt ?? null], [null, null, null]);
	await owner.fileVersions.deleteFileVersionById(file.id, past);
	const me = await owner.users.getUserMe();
	const trashed = await get();
	assert.ok(trashed.trashedAt);
	assert.equal(trashed.trashedBy.id, me.id);
	await refused(owner.fileVersions.promoteFileVersion(file.id, { requestBody: { id: past, type: 'file_version' } }), 404, 'trashed');
	await owner.fileVersions.updateFileVersionById(file.id, past, { requestBody: { trashedAt: null } });
	const restored = await get();
	assert.deepEqual([restored.trashedAt ?? null, restored.trashedBy ?? null, restored.restoredBy.id], [null, null, me.id]);
	assert.ok(restored.restoredAt);
	await refused(owner.fileVersions.deleteFileVersionById(file.id, current), 403); // the current version stays
});

test('versions are those of their file and of who may see it', async () => {
	const { file, versions: [past] } = await fileOf('1', '22');
	const elsewhere = await newFile(owner);
	await refused(owner.fileVersions.getFileVersionById(elsewhere.id, past), 404, 'not_found');
	await refused(other.fileVersions.getFileVersions(file.id), 404, 'not_found');
	await refused(other.fileVersions.getFileVersionById(file.id, past), 404, 'not_found');
	await refused(other.fileVersions.promoteFileVersion(file.id, { requestBody: { id: past, type: 'file_version' } }), 404, 'not_found');
	await refused(other.fileVersions.deleteFileVersionById(file.id, past), 404);
});

test('an upload is checked before', async () => {
	const folder = await newFolder(owner);
	const check = (name, size = 10, parent = folder) => owner.uploads.preflightFileUploadCheck({ name, size, parent: { id: parent.id } });
	const { uploadUrl } = await check('Plan.txt');
	assert.match(uploadUrl, /^http.*\/2\.0\/files\/content$/);
	const file = await newFile(owner, 'text', 'Plan.txt', folder.id);
	const error = await refused(check('plan.TXT'), 409, 'item_name_in_use');
	assert.equal(error.responseInfo.contextInfo.conflicts.id, file.id);
	await refused(check('a/b'), 400, 'item_name_invalid');
	await refused(check('Huge', 1e15), 403, 'file_size_limit_exceeded');
	await refused(check('Plan', 10, { id: '4711' }), 404, 'not_found');
});

test('an upload with its check goes where the check says', async () => {
	const name = unique('Checked', '.txt');
	const upload = (size) => owner.uploads.uploadWithPreflightCheck({
		attributes: { name, size, parent: { id: '0' } }, file: Readable.from(Buffer.from('text')),
	});
	await assert.rejects(upload(-1), sdk.BoxApiError);
	const { entries: [file] } = await upload(4);
	assert.deepEqual([file.name, file.size], [name, 4]);
	await refused(upload(4), 409, 'item_name_in_use');
});
