// Files, folders, and collaborations, through the managers of the SDK that was the official one until version 4, over TLS.
//
// cli/hosted_test.go runs these tests. PLATEN_SDK is the folder that the SDK is installed in, PLATEN_PROXY the URL of the proxy that leads
// the fixed hosts of the SDK to the server, and PLATEN_TOKEN and PLATEN_OTHER are access tokens of two users.
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';

const BoxSDK = createRequire(path.join(process.env.PLATEN_SDK, 'package.json'))('box-node-sdk');
const sdk = new BoxSDK({ clientID: 'none', clientSecret: 'none', numMaxRetries: 0, proxy: { url: process.env.PLATEN_PROXY } });
const client = sdk.getBasicClient(process.env.PLATEN_TOKEN);
const other = sdk.getBasicClient(process.env.PLATEN_OTHER);

const unique = (name) => `${name} ${randomUUID()}`;
const upload = async (content, name = unique('File'), folder = '0', options = undefined) =>
	(await client.files.uploadFile(folder, name, content, options)).entries[0];

async function text(stream) {
	const pieces = [];
	for await (const piece of stream) {
		pieces.push(piece);
	}
	return Buffer.concat(pieces).toString();
}

async function refused(call, status, code) {
	const error = await call.then((got) => assert.fail(`answered ${JSON.stringify(got)}`), (e) => e);
	assert.equal(error.statusCode, status, error.stack);
	assert.equal(error.response?.body?.code, code, error.stack);
	return error;
}

test('a file is uploaded, from text, a buffer, and a stream', async () => {
	const content = randomBytes(100_000);
	for (const body of ['hello', content, Readable.from(Buffer.from('stream'))]) {
		const file = await upload(body);
		assert.equal(file.type, 'file');
		assert.equal((await client.files.get(file.id)).sha1, file.sha1);
		if (body === content) {
			assert.equal(file.sha1, createHash('sha1').update(content).digest('hex'));
		}
	}
});

test('an upload has times, and a description that is null', async () => {
	const at = '2020-02-03T04:05:06+00:00';
	const file = await upload('x', unique('Times'), '0', { content_created_at: at, content_modified_at: at, description: null });
	assert.deepEqual([file.content_created_at, file.content_modified_at], [at, at]);
});

test('a new version needs no attributes', async () => {
	const file = await upload('first');
	const changed = (await client.files.uploadNewFileVersion(file.id, 'second')).entries[0];
	assert.deepEqual([changed.id, changed.name], [file.id, file.name]);
	const renamed = (await client.files.uploadNewFileVersion(file.id, 'third', { name: unique('Renamed') })).entries[0];
	assert.match(renamed.name, /^Renamed/);
	const versions = await client.files.getVersions(file.id);
	assert.equal(versions.total_count, 2);
	const first = versions.entries[1].id;
	assert.equal(await text(await client.files.getReadStream(file.id, { version: first })), 'first');
	await client.files.promoteVersion(file.id, first);
	assert.equal(await text(await client.files.getReadStream(file.id)), 'first');
});

test('a preflight check says where to upload, and what is in the way', async () => {
	const name = unique('Taken');
	assert.ok((await client.files.preflightUploadFile('0', { name, size: 5 })).upload_url);
	const file = await upload('x', name);
	const conflict = await refused(client.files.preflightUploadFile('0', { name, size: 5 }), 409, 'item_name_in_use');
	assert.equal(conflict.response.body.context_info.conflicts.id, file.id);
	await client.files.preflightUploadNewFileVersion(file.id, { name, size: 5 });
	const folder = await client.folders.create('0', unique('Folder'));
	const taken = await refused(client.files.preflightUploadFile('0', { name: folder.name }), 409, 'item_name_in_use');
	assert.equal(taken.response.body.context_info.conflicts.type, 'folder');
	const folders = await refused(client.folders.create('0', folder.name), 409, 'item_name_in_use');
	assert.equal(folders.response.body.context_info.conflicts[0].id, folder.id);
});

test('the URL of a download works without a token, and in parts', async () => {
	const file = await upload('0123456789');
	const url = await client.files.getDownloadURL(file.id);
	assert.match(url, /^https:\/\/api\.box\.com\/2\.0\/downloads\//);
	assert.equal(await text(await client.files.getReadStream(file.id, { byteRange: [2, 4] })), '234');
	const answer = await sdk.getBasicClient('none').get(url, {}); // another token does not matter
	assert.equal(answer.statusCode, 200);
});

test('files are renamed, moved, copied, and deleted', async () => {
	const file = await upload('x');
	const folder = await client.folders.create('0', unique('Folder'));
	const updated = await client.files.update(file.id, { name: unique('New name'), description: null, shared_link: null });
	assert.match(updated.name, /^New name/);
	assert.equal((await client.files.move(file.id, folder.id)).parent.id, folder.id);
	const copy = await client.files.copy(file.id, '0', { name: unique('Copy') });
	assert.notEqual(copy.id, file.id);
	await client.files.delete(file.id);
	assert.equal((await client.files.get(file.id)).item_status, 'trashed');
	assert.equal((await client.files.getTrashedFile(file.id)).item_status, 'trashed');
	await client.files.restoreFromTrash(file.id);
	assert.equal((await client.files.get(file.id)).item_status, 'active');
	await client.files.delete(file.id);
	await client.files.deletePermanently(file.id);
	await refused(client.files.get(file.id), 404, 'not_found');
	await refused(client.files.update(copy.id, { lock: { access: 'lock' } }), 400, 'bad_request');
});

test('a shared link opens a file for others', async () => {
	const file = await upload('0123456789');
	const { shared_link: link } = await client.files.update(file.id, {
		fields: 'shared_link', shared_link: { access: 'open', password: 'correct horse', permissions: { can_edit: false } },
	});
	assert.deepEqual([link.effective_access, link.effective_permission, link.is_password_enabled], ['open', 'can_download', true]);
	assert.equal((await other.sharedItems.get(link.url, 'correct horse')).id, file.id);
	await refused(other.sharedItems.get(link.url, 'wrong horse'), 403, 'access_denied_insufficient_permissions');
	await client.files.update(file.id, { shared_link: null });
	await refused(other.sharedItems.get(link.url, 'correct horse'), 404, 'not_found');
});

test('fields of the hosted service have a neutral value', async () => {
	const file = await upload('x');
	const got = await client.files.get(file.id, { fields: 'name,has_collaborations,shared_link,lock,tags,watermark_info,unheard_of' });
	assert.deepEqual([got.has_collaborations, got.shared_link, got.lock, got.tags], [false, null, null, []]);
	assert.equal('unheard_of' in got, false);
});

test('a folder is filled, listed, shared, and deleted', async () => {
	const folder = await client.folders.create('0', unique('Folder'));
	const file = await upload('x', ' leading space', folder.id);
	const items = await client.folders.getItems(folder.id, { fields: 'name,size,shared_link', limit: 10, offset: 0 });
	assert.deepEqual(items.entries.map(({ id, name, size }) => [id, name, size]), [[file.id, ' leading space', 1]]);
	await refused(other.folders.get(folder.id), 404, 'not_found');
	const me = await other.users.get(other.CURRENT_USER_ID);
	const collaboration = await client.collaborations.createWithUserEmail(me.login, folder.id, client.collaborationRoles.VIEWER);
	assert.equal(await text(await other.files.getReadStream(file.id)), 'x');
	const url = await other.files.getDownloadURL(file.id);
	await client.collaborations.delete(collaboration.id);
	await assert.rejects(other.get(url, {}).then((answer) => assert.equal(answer.statusCode, 200)));
	await client.folders.delete(folder.id, { recursive: true });
});

test('a large file is uploaded in parts, and so is a new version', async () => {
	const content = randomBytes(20_000_001);
	const uploader = await client.files.getChunkedUploader('0', content.length, unique('Large'), content);
	const file = (await uploader.start()).entries[0];
	assert.equal(file.sha1, createHash('sha1').update(content).digest('hex'));
	content[0]++;
	const next = await client.files.getNewVersionChunkedUploader(file.id, content.length, Readable.from([content]));
	const changed = (await next.start()).entries[0];
	assert.deepEqual([changed.id, changed.sha1], [file.id, createHash('sha1').update(content).digest('hex')]);
	const session = await client.files.createUploadSession('0', 20_000_000, unique('Aborted'));
	assert.equal((await client.files.getUploadSessionParts(session.id)).total_count, 0);
	await client.files.abortUploadSession(session.id);
	await refused(client.files.getUploadSession(session.id), 404, 'not_found');
});

test('a folder is downloaded in a ZIP file', async () => {
	const folder = await client.folders.create('0', unique('Folder'));
	await upload('in the folder', 'inner.txt', folder.id);
	const pieces = [];
	const stream = new Writable({ write: (piece, _, next) => next(void pieces.push(piece)) });
	const status = await client.files.downloadZip('January', [{ type: 'folder', id: folder.id }], stream);
	assert.deepEqual([status.total_file_count, status.state], [1, 'succeeded']);
	assert.ok(Buffer.concat(pieces).toString('latin1').includes(`${folder.name}/inner.txt`));
});

test('a webhook is created', async () => {
	const folder = await client.folders.create('0', unique('Folder'));
	const webhook = await client.webhooks.create(folder.id, client.itemTypes.FOLDER, 'https://hooks.example.com/', ['FILE.UPLOADED']);
	assert.equal(webhook.target.id, folder.id);
});

test('what does not exist says so', async () => {
	const missing = await refused(client.files.getWatermark((await upload('x')).id), 404, 'not_found');
	assert.match(missing.response.body.message, /^There is no operation GET \/files\/\d+\/watermark\./);
});

test('an event stream gets new events', async () => {
	const stream = await client.events.getEventStream();
	try {
		const uploaded = new Promise(resolve => stream.on('data', event => { // downloads of other tests can be recorded later
			if (event.event_type === 'ITEM_UPLOAD') {
				resolve(event.source.id);
			}
		}));
		const file = await upload('x');
		assert.equal(await uploaded, file.id);
		const later = once(stream, 'data'); // the stream waits now
		await client.files.update(file.id, { name: unique('Renamed') });
		assert.equal((await later)[0].event_type, 'ITEM_RENAME');
	} finally {
		stream.destroy();
	}
});
