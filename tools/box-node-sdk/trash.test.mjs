// What is deleted: the trash of files and folders, through client.trashedItems, client.trashedFiles and client.trashedFolders.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byMarker, byOffset, clientOf, download, idsOf, newFile, newFolder, refused, unique } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');

test('a deleted file is in the trash until it is restored', async () => {
	const file = await newFile(owner, 'text');
	await owner.files.deleteFileById(file.id);
	const trashed = await owner.trashedFiles.getTrashedFileById(file.id);
	assert.deepEqual([trashed.id, trashed.name, trashed.itemStatus], [file.id, file.name, 'trashed']);
	assert.ok(trashed.trashedAt);
	assert.equal((await owner.files.getFileById(file.id)).itemStatus, 'trashed');
	const restored = await owner.trashedFiles.restoreFileFromTrash(file.id);
	assert.deepEqual([restored.id, restored.name, restored.itemStatus], [file.id, file.name, 'active']);
	assert.equal(String(await download(owner, file)), 'text');
	await refused(owner.trashedFiles.getTrashedFileById(file.id), 404, 'not_trashed');
});

test('a deleted folder is restored with what it holds', async () => {
	const folder = await newFolder(owner);
	const inside = await newFolder(owner, 'Inside', folder.id);
	const file = await newFile(owner, 'text', 'File.txt', inside.id);
	await owner.folders.deleteFolderById(folder.id, { queryParams: { recursive: true } });
	const trashed = await owner.trashedFolders.getTrashedFolderById(folder.id);
	assert.deepEqual([trashed.id, trashed.name, trashed.itemStatus], [folder.id, folder.name, 'trashed']);
	await refused(owner.files.getFileById(file.id), 404, 'trashed');
	const restored = await owner.trashedFolders.restoreFolderFromTrash(folder.id);
	assert.equal(restored.id, folder.id);
	assert.equal((await owner.files.getFileById(file.id)).parent.id, inside.id);
});

test('what is restored takes another name where its own is taken, and another folder where its own is gone', async () => {
	const folder = await newFolder(owner);
	const file = await newFile(owner, 'old', 'Plan.txt', folder.id);
	await owner.files.deleteFileById(file.id);
	await newFile(owner, 'new', 'Plan.txt', folder.id);
	await refused(owner.trashedFiles.restoreFileFromTrash(file.id), 409, 'item_name_in_use');
	const restored = await owner.trashedFiles.restoreFileFromTrash(file.id, { requestBody: { name: 'Plan of before.txt' } });
	assert.equal(restored.name, 'Plan of before.txt');
	await owner.files.deleteFileById(file.id);
	await owner.folders.deleteFolderById(folder.id, { queryParams: { recursive: true } });
	const elsewhere = await newFolder(owner);
	await owner.trashedFiles.restoreFileFromTrash(file.id, { requestBody: { parent: { id: elsewhere.id } } });
	assert.equal((await owner.files.getFileById(file.id)).parent.id, elsewhere.id);
});

test('the trash is listed by marker and by offset', async () => {
	const client = clientOf('hoarder');
	const ids = [];
	for (const name of ['a', 'b', 'c']) {
		const folder = await newFolder(client, unique(name));
		const file = await newFile(client, name, unique(name));
		await client.folders.deleteFolderById(folder.id);
		await client.files.deleteFileById(file.id);
		ids.push(folder.id, file.id);
	}
	const list = (page) => client.trashedItems.getTrashedItems(page);
	for (const limit of [1, 4, 100]) {
		assert.deepEqual(idsOf(await byMarker((page) => list({ ...page, usemarker: true }), limit)).sort(), ids.toSorted());
		assert.deepEqual(idsOf(await byOffset(list, limit)).sort(), ids.toSorted());
	}
	await client.trashedFiles.deleteTrashedFileById(ids[1]);
	await client.trashedFolders.deleteTrashedFolderById(ids[0]);
	assert.deepEqual(idsOf((await list()).entries).sort(), ids.slice(2).sort());
});

test('what is removed from the trash is gone for good', async () => {
	const folder = await newFolder(owner);
	const file = await newFile(owner, 'text', 'File.txt', folder.id);
	await refused(owner.trashedFiles.deleteTrashedFileById(file.id), 404);
	await owner.files.deleteFileById(file.id);
	await owner.trashedFiles.deleteTrashedFileById(file.id);
	await refused(owner.trashedFiles.getTrashedFileById(file.id), 404, 'not_found');
	await owner.folders.deleteFolderById(folder.id);
	await owner.trashedFolders.deleteTrashedFolderById(folder.id);
	await refused(owner.trashedFolders.getTrashedFolderById(folder.id), 404, 'not_found');
	await refused(owner.trashedFolders.restoreFolderFromTrash(folder.id), 404, 'not_found');
});

test('others do not find what is in the trash', async () => {
	const file = await newFile(owner);
	await owner.files.deleteFileById(file.id);
	await refused(other.trashedFiles.getTrashedFileById(file.id), 404, 'not_found');
	await refused(other.trashedFiles.restoreFileFromTrash(file.id), 404, 'not_found');
	await refused(other.trashedFiles.deleteTrashedFileById(file.id), 404);
	assert.ok(!idsOf((await other.trashedItems.getTrashedItems({ limit: 1000 })).entries).includes(file.id));
});
