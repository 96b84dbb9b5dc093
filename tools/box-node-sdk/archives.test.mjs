// Archives, and where their contents are kept, through client.archives and client.storagePolicies.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byMarker, clientOf, download, idsOf, newFile, newFolder, refused, unique } from './support.mjs';

const archivist = clientOf('archivist');
const owner = clientOf('owner');

const newArchive = (name = unique('Archive'), more = {}) => archivist.archives.createArchiveV2025R0({ name, ...more });
const list = (page) => archivist.archives.getArchivesV2025R0(page);
const sizeOf = async (archive) => (await byMarker(list, 1000)).find(({ id }) => id === archive.id).size;

test('an archive is created, listed, changed and deleted', async () => {
	const name = unique('Archive');
	const archive = await newArchive(name, { description: 'What is over' });
	assert.deepEqual([archive.type, archive.name, archive.description, archive.size], ['archive', name, 'What is over', 0]);
	assert.equal(archive.ownedBy.type, 'user');
	const others = [(await newArchive()).id, (await newArchive()).id];
	const all = idsOf(await byMarker(list, 2));
	assert.equal(new Set(all).size, all.length);
	assert.ok([archive.id, ...others].every((id) => all.includes(id)));
	const renamed = unique('Renamed');
	const changed = await archivist.archives.updateArchiveByIdV2025R0(archive.id, { requestBody: { name: renamed } });
	assert.deepEqual([changed.id, changed.name, changed.description], [archive.id, renamed, 'What is over']);
	assert.equal((await archivist.archives.updateArchiveByIdV2025R0(archive.id)).name, renamed); // nothing changes nothing
	assert.equal(await archivist.archives.deleteArchiveByIdV2025R0(archive.id), undefined);
	await refused(archivist.archives.deleteArchiveByIdV2025R0(archive.id), 404);
	await refused(archivist.archives.updateArchiveByIdV2025R0(archive.id, { requestBody: { name: 'Gone' } }), 404, 'not_found');
});

test('the name of an archive is there once, in whatever case', async () => {
	const name = unique('Archive Ä');
	await newArchive(name);
	await refused(newArchive(name.toUpperCase()), 409, 'conflict');
	const second = await newArchive();
	await refused(archivist.archives.updateArchiveByIdV2025R0(second.id, { requestBody: { name } }), 409, 'conflict');
	for (const wrong of ['', '.', '..', 'a/b', 'a\\b', 'a ', 'a\u0007']) {
		await refused(newArchive(wrong), 400, 'item_name_invalid');
	}
	await refused(newArchive('x'.repeat(101)), 400, 'item_name_too_long');
	const error = await refused(newArchive(unique('Archive'), { description: 'x'.repeat(256) }), 400, 'bad_request');
	assert.deepEqual(error.responseInfo.contextInfo.errors.map((problem) => problem.name), ['description']);
});

test('content is moved in, is out of reach for its owner, and is restored', async () => {
	const archive = await newArchive();
	const me = await owner.users.getUserMe();
	const folder = await newFolder(owner);
	const inside = await newFile(owner, 'twelve bytes', 'File.txt', folder.id);
	const file = await newFile(owner, 'text');
	await archivist.files.updateFileById(file.id, { requestBody: { parent: { id: archive.id } } });
	await archivist.folders.updateFolderById(folder.id, { requestBody: { parent: { id: archive.id } } });
	assert.equal(await sizeOf(archive), 16);
	await refused(owner.files.getFileById(file.id), 404, 'not_found');
	await refused(owner.files.getFileById(inside.id), 404, 'not_found');
	await refused(owner.folders.getFolderById(archive.id), 404, 'not_found');

	const asFolder = await archivist.folders.getFolderById(archive.id);
	assert.deepEqual([asFolder.type, asFolder.name], ['folder', archive.name]);
	assert.deepEqual(idsOf((await archivist.folders.getFolderItems(archive.id)).entries).sort(), [file.id, folder.id].sort());
	await newFile(archivist, 'new', 'New.txt', archive.id);
	assert.equal(await sizeOf(archive), 19);
	assert.equal(String(await download(archivist, inside)), 'twelve bytes');
	await refused(archivist.archives.deleteArchiveByIdV2025R0(archive.id), 400);

	const restored = await archivist.files.updateFileById(file.id, { requestBody: { parent: { id: '0', userId: me.id } } });
	assert.equal(restored.ownedBy.id, me.id);
	assert.equal(String(await download(owner, file)), 'text');
	const home = await newFolder(owner);
	await archivist.folders.updateFolderById(folder.id, { requestBody: { parent: { id: home.id } } });
	assert.equal((await owner.files.getFileById(inside.id)).ownedBy.id, me.id);
	assert.equal(await sizeOf(archive), 3);
});

test('archives are for who manages the content of the enterprise', async () => {
	const archive = await newArchive();
	for (const name of ['owner', 'admin']) {
		const client = clientOf(name);
		await refused(client.archives.createArchiveV2025R0({ name: unique('Archive') }), 403, 'insufficient_scope');
		await refused(client.archives.getArchivesV2025R0(), 403, 'insufficient_scope');
		await refused(client.archives.updateArchiveByIdV2025R0(archive.id, { requestBody: { name: 'Mine' } }), 403, 'insufficient_scope');
		await refused(client.archives.deleteArchiveByIdV2025R0(archive.id), 403);
	}
	await refused(list({ marker: 'forged' }), 400, 'bad_request');
	await refused(list({ limit: 0 }), 400, 'invalid_limit');
	assert.equal((await list({ limit: 5000 })).limit, 1000);
});

test('an archive is kept where its storage policy says', async () => {
	const policies = await archivist.storagePolicies.getStoragePolicies();
	const [policy] = policies.entries;
	assert.equal(policy.type, 'storage_policy');
	assert.equal((await archivist.storagePolicies.getStoragePolicyById(policy.id)).name, policy.name);
	const archive = await newArchive(unique('Archive'), { storagePolicyId: policy.id });
	await newFile(archivist, 'text', 'File.txt', archive.id);
	assert.equal(await sizeOf(archive), 4);
	await refused(newArchive(unique('Archive'), { storagePolicyId: '4711' }), 400, 'bad_request');
	await refused(archivist.storagePolicies.getStoragePolicyById('4711'), 404, 'not_found');
});
