// Files and their contents, through client.files, client.uploads and client.downloads.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { bytesOf, clientOf, download, newFile, newFolder, newVersion, refused, sdk, unique, url } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');

test('a file is uploaded, got and downloaded', async () => {
	const content = randomBytes(1 << 20);
	const uploaded = await newFile(owner, content, unique('Größe «1»', '.bin'));
	const sha1 = createHash('sha1').update(content).digest('hex');
	const file = await owner.files.getFileById(uploaded.id);
	assert.deepEqual([file.type, file.name, file.size, file.sha1, file.fileVersion.sha1], ['file', uploaded.name, content.length, sha1, sha1]);
	assert.deepEqual([file.parent.id, file.itemStatus, file.pathCollection.entries[0].name], ['0', 'active', 'All Files']);
	assert.equal(file.ownedBy.id, (await owner.users.getUserMe()).id);
	assert.ok(Math.abs(file.createdAt.value - Date.now()) < 600_000);
	assert.deepEqual(await download(owner, file), content);
	const part = await owner.makeRequest(new sdk.FetchOptions({
		method: 'GET', url: `${url}/2.0/files/${file.id}/content`, headers: { range: 'bytes=10-19' }, responseFormat: 'binary',
	}));
	assert.equal(part.status, 206);
});

test('an upload into a folder takes times, and says that its name is taken', async () => {
	const folder = await newFolder(owner);
	const at = new Date('2020-02-03T04:05:06Z');
	const upload = () => owner.uploads.uploadFile({
		attributes: {
			name: 'Taken.txt', parent: { id: folder.id }, contentCreatedAt: new sdk.DateTime(at), contentModifiedAt: new sdk.DateTime(at),
		},
		file: Readable.from(Buffer.from('text')),
	}, { queryParams: { fields: ['name', 'content_created_at'] } });
	const { entries: [file] } = await upload();
	assert.deepEqual([file.name, file.contentCreatedAt.value.getTime(), file.size], ['Taken.txt', at.getTime(), undefined]);
	const error = await refused(upload(), 409, 'item_name_in_use');
	assert.equal(error.responseInfo.contextInfo.conflicts.id, file.id);
});

test('a content that is not the one announced is refused', async () => {
	const attributes = { name: unique('Digest'), parent: { id: '0' } };
	const upload = (contentMd5) => owner.uploads.uploadFile({ attributes, file: Readable.from(Buffer.from('text')) }, { headers: { contentMd5 } });
	await refused(upload('0'.repeat(40)), 400, 'bad_digest');
	await upload(createHash('sha1').update('text').digest('hex'));
});

test('a file is renamed, described and moved', async () => {
	const file = await newFile(owner);
	const folder = await newFolder(owner);
	const name = unique('Renamed', '.txt');
	const updated = await owner.files.updateFileById(file.id, { requestBody: { name, description: 'What it is', parent: { id: folder.id } } });
	assert.deepEqual([updated.name, updated.description, updated.parent.id], [name, 'What it is', folder.id]);
	assert.notEqual(updated.etag, file.etag);
	await refused(owner.files.updateFileById(file.id, { requestBody: { name: 'a/b' } }), 400, 'item_name_invalid');
});

test('fields choose what an answer holds', async () => {
	const file = await newFile(owner);
	const get = (...fields) => owner.files.getFileById(file.id, { queryParams: { fields } });
	const { rawData } = await get('name', 'size', 'no_such_field');
	assert.deepEqual(Object.keys(rawData).sort(), ['etag', 'id', 'name', 'size', 'type']);
	const full = await get('permissions', 'version_number', 'extension', 'is_externally_owned', 'has_collaborations');
	assert.deepEqual([full.permissions.canDownload, full.versionNumber, full.extension], [true, '1', 'txt']);
});

test('what has not changed is not sent again, and what has is not overwritten', async () => {
	const file = await newFile(owner);
	const ifNoneMatch = (etag) => owner.files.getFileById(file.id, { headers: { ifNoneMatch: etag } });
	const error = await ifNoneMatch(file.etag).then(() => assert.fail('it was sent again'), (e) => e);
	assert.ok(error instanceof sdk.BoxSdkError, error.stack); // the SDK takes 304 for a redirect that leads nowhere
	const ifMatch = (etag, description) => owner.files.updateFileById(file.id, { requestBody: { description }, headers: { ifMatch: etag } });
	const changed = await ifMatch(file.etag, 'first');
	await refused(ifMatch(file.etag, 'second'), 412, 'precondition_failed');
	assert.equal((await ifNoneMatch(file.etag)).etag, changed.etag);
	await refused(owner.files.deleteFileById(file.id, { headers: { ifMatch: file.etag } }), 412);
});

test('a new version replaces the content, and may rename the file', async () => {
	const file = await newFile(owner, 'first');
	const name = unique('Second', '.txt');
	const changed = await newVersion(owner, file, 'second', name);
	assert.deepEqual([changed.id, changed.name, changed.size], [file.id, name, 6]);
	assert.equal(String(await download(owner, file)), 'second');
	assert.equal(String(await download(owner, file, file.fileVersion.id)), 'first');
	const upload = owner.uploads.uploadFileVersion(file.id, { attributes: { name }, file: Readable.from(Buffer.from('third')) }, { headers: { ifMatch: file.etag } });
	await refused(upload, 412, 'precondition_failed');
});

test('a deleted file is gone', async () => {
	const file = await newFile(owner);
	assert.equal(await owner.files.deleteFileById(file.id), undefined);
	await refused(owner.files.deleteFileById(file.id), 404);
});

test('others do not find a file', async () => {
	const file = await newFile(owner);
	await refused(other.files.getFileById(file.id), 404, 'not_found');
	await refused(other.files.updateFileById(file.id, { requestBody: { name: 'Mine' } }), 404, 'not_found');
	await refused(other.files.deleteFileById(file.id), 404);
	await assert.rejects(download(other, file), (e) => e.responseInfo.statusCode === 404);
});

test('files and folders are downloaded in one ZIP file', async () => {
	const folder = await newFolder(owner);
	await newFile(owner, 'in the folder', 'inner.txt', folder.id);
	const file = await newFile(owner, 'alone', unique('Alone', '.txt'));
	const items = [{ type: 'folder', id: folder.id }, { type: 'file', id: file.id }];
	const zip = await owner.zipDownloads.createZipDownload({ items, downloadFileName: 'January' });
	assert.ok(zip.expiresAt.value > Date.now());
	assert.deepEqual(zip.nameConflicts, []);
	await refused(owner.zipDownloads.getZipDownloadStatus(zip.statusUrl), 404, 'not_found');
	const content = (await bytesOf(await owner.zipDownloads.getZipDownloadContent(zip.downloadUrl))).toString('latin1');
	for (const part of [`${folder.name}/inner.txt`, 'in the folder', file.name, 'alone']) {
		assert.ok(content.includes(part), part);
	}
	const status = await owner.zipDownloads.getZipDownloadStatus(zip.statusUrl);
	assert.deepEqual([status.totalFileCount, status.downloadedFileCount, status.skippedFileCount, status.skippedFolderCount, status.state],
		[2, 2, 0, 0, 'succeeded']);
	assert.ok((await bytesOf(await owner.zipDownloads.downloadZip({ items }))).length > 100);
	const name = unique('Same', '.txt');
	const same = [await newFile(owner, 'x', name), await newFile(owner, 'y', name, folder.id)];
	const { nameConflicts: [pair] } = await owner.zipDownloads.createZipDownload({ items: same.map(({ id }) => ({ type: 'file', id })) });
	assert.deepEqual(pair.map(({ id, originalName }) => [id, originalName]), same.map(({ id }) => [id, name]));
	assert.notEqual(pair[0].downloadName, pair[1].downloadName);
	await refused(other.zipDownloads.createZipDownload({ items }), 404, 'not_found');
});
