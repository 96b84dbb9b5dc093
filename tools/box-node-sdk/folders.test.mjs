// Folders and what they hold, through client.folders.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byMarker, byOffset, clientOf, idsOf, newFile, newFolder, refused, sdk, unique } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');

test('the root folder is there', async () => {
	const root = await owner.folders.getFolderById('0');
	assert.deepEqual([root.id, root.type, root.name], ['0', 'folder', 'All Files']);
	assert.equal((await owner.folders.getFolderById('0', { queryParams: { fields: ['has_collaborations', 'tags'] } })).id, '0');
});

test('a folder is created, changed, moved and deleted', async () => {
	const folder = await newFolder(owner);
	const inside = await newFolder(owner, 'Inside', folder.id);
	const name = unique('Renamed');
	const updated = await owner.folders.updateFolderById(folder.id, { requestBody: { name, description: 'What it is' } });
	assert.deepEqual([updated.name, updated.description], [name, 'What it is']);
	const elsewhere = await newFolder(owner);
	const moved = await owner.folders.updateFolderById(inside.id, { requestBody: { parent: { id: elsewhere.id } } });
	assert.equal(moved.parent.id, elsewhere.id);
	assert.deepEqual(idsOf(moved.pathCollection.entries), ['0', elsewhere.id]);
	await refused(owner.folders.updateFolderById(elsewhere.id, { requestBody: { parent: { id: inside.id } } }), 400, 'cyclical_folder_structure');
	await refused(owner.folders.deleteFolderById(elsewhere.id), 400);
	assert.equal(await owner.folders.deleteFolderById(elsewhere.id, { queryParams: { recursive: true } }), undefined);
	await refused(owner.folders.getFolderById(elsewhere.id), 404, 'trashed');
	await refused(owner.folders.getFolderById(inside.id), 404, 'trashed');
});

test('a name is there once, in whatever case', async () => {
	const folder = await newFolder(owner);
	const first = await newFolder(owner, 'Straße', folder.id);
	const error = await refused(newFolder(owner, 'STRASSE', folder.id), 409, 'item_name_in_use');
	assert.deepEqual(idsOf(error.responseInfo.contextInfo.conflicts), [first.id]);
	for (const name of ['', '.', '..', 'a/b', 'a\\b', 'a ', 'a\u0000b']) {
		await refused(newFolder(owner, name, folder.id), 400, 'item_name_invalid');
	}
	await refused(newFolder(owner, 'x'.repeat(256), folder.id), 400, 'item_name_too_long');
});

test('items are listed by marker and by offset: folders first, each once', async () => {
	const folder = await newFolder(owner);
	const folders = [], files = [];
	for (const name of ['c', 'a', 'b']) {
		folders.push((await newFolder(owner, `Folder ${name}`, folder.id)).id);
		files.push((await newFile(owner, name, `File ${name}`, folder.id)).id);
	}
	const list = (queryParams) => owner.folders.getFolderItems(folder.id, { queryParams });
	for (const limit of [1, 2, 6, 7]) {
		const marked = await byMarker((page) => list({ ...page, usemarker: true }), limit);
		assert.deepEqual(idsOf(marked).sort(), [...folders, ...files].sort());
		assert.ok(marked.slice(0, 3).every((item) => item.type === 'folder'));
		assert.deepEqual(idsOf(await byOffset(list, limit)).sort(), idsOf(marked).sort());
	}
	const [first] = (await list({ fields: ['name', 'size'], limit: 1, offset: 3 })).entries;
	assert.deepEqual([first.type, first.size], ['file', 1]);
	const byName = await list({ sort: 'name', direction: 'DESC' });
	assert.deepEqual(byName.entries.map((item) => item.name.at(-1)), ['c', 'b', 'a', 'c', 'b', 'a']);
	assert.deepEqual(idsOf((await owner.folders.getFolderById(folder.id)).itemCollection.entries).sort(), [...folders, ...files].sort());
});

test('pages that cannot be are refused', async () => {
	const list = (queryParams) => owner.folders.getFolderItems('0', { queryParams });
	await refused(list({ limit: 0 }), 400, 'invalid_limit');
	await refused(list({ limit: -1 }), 400, 'invalid_limit');
	await refused(list({ offset: 300_001 }), 400, 'invalid_offset');
	await refused(list({ usemarker: true, marker: 'forged' }), 400, 'bad_request');
	assert.equal((await list({ limit: 5000 })).limit, 1000);
});

test('what has not changed is not sent again', async () => {
	const folder = await newFolder(owner);
	const call = owner.folders.getFolderById(folder.id, { headers: { ifNoneMatch: folder.etag } });
	await assert.rejects(call, sdk.BoxSdkError); // the SDK takes 304 for a redirect that leads nowhere
	await refused(owner.folders.updateFolderById(folder.id, { requestBody: { name: 'New' }, headers: { ifMatch: '4711' } }), 412, 'precondition_failed');
});

test('others do not find a folder', async () => {
	const folder = await newFolder(owner);
	await refused(other.folders.getFolderById(folder.id), 404, 'not_found');
	await refused(other.folders.getFolderItems(folder.id), 404, 'not_found');
	await refused(newFolder(other, 'Mine', folder.id), 404, 'not_found');
	await refused(other.folders.deleteFolderById(folder.id), 404);
});
