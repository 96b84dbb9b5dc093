// Copies of files and folders, through client.files and client.folders.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clientOf, download, newFile, newFolder, newVersion, refused } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');

test('a file is copied, with a name and in a version', async () => {
	const file = await newFile(owner, 'first');
	const folder = await newFolder(owner);
	await newVersion(owner, file, 'second');
	const copy = await owner.files.copyFile(file.id, { parent: { id: folder.id } });
	assert.deepEqual([copy.name, copy.parent.id, String(await download(owner, copy))], [file.name, folder.id, 'second']);
	assert.notEqual(copy.id, file.id);
	const old = await owner.files.copyFile(file.id, { parent: { id: folder.id }, name: 'Old.txt', version: file.fileVersion.id });
	assert.deepEqual([old.name, String(await download(owner, old))], ['Old.txt', 'first']);
	const error = await refused(owner.files.copyFile(file.id, { parent: { id: folder.id } }), 409, 'item_name_in_use');
	assert.equal(error.responseInfo.contextInfo.conflicts.id, copy.id);
	await owner.files.deleteFileById(file.id);
	assert.equal(String(await download(owner, copy)), 'second');
});

test('a folder is copied with all that it holds', async () => {
	const folder = await newFolder(owner);
	const inside = await newFolder(owner, 'Inside', folder.id);
	await newFile(owner, 'text', 'File.txt', inside.id);
	const target = await newFolder(owner);
	const copy = await owner.folders.copyFolder(folder.id, { parent: { id: target.id }, name: 'Copy' });
	assert.deepEqual([copy.name, copy.parent.id], ['Copy', target.id]);
	const [insideCopy] = (await owner.folders.getFolderItems(copy.id)).entries;
	const [fileCopy] = (await owner.folders.getFolderItems(insideCopy.id)).entries;
	assert.deepEqual([insideCopy.name, fileCopy.name, String(await download(owner, fileCopy))], ['Inside', 'File.txt', 'text']);
	await refused(owner.folders.copyFolder(folder.id, { parent: { id: target.id }, name: 'Copy' }), 409, 'item_name_in_use');
	await refused(owner.folders.copyFolder(folder.id, { parent: { id: '4711' } }), 404, 'not_found');
});

test('others copy nothing that they do not see', async () => {
	const file = await newFile(owner);
	await refused(other.files.copyFile(file.id, { parent: { id: '0' } }), 404, 'not_found');
	const theirs = await newFile(other);
	const folder = await newFolder(owner);
	await refused(other.files.copyFile(theirs.id, { parent: { id: folder.id } }), 404, 'not_found');
	await refused(other.folders.copyFolder(folder.id, { parent: { id: '0' } }), 404, 'not_found');
});
