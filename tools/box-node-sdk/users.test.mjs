// Users and what is theirs, through client.users and client.transfer, and acting for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byMarker, byOffset, clientOf, download, idsOf, newFile, newFolder, refused, unique } from './support.mjs';

const admin = clientOf('admin');
const owner = clientOf('owner');
const archivist = clientOf('archivist'); // an administrator whose token has the scope enterprise_content

const login = () => `${unique('user').replaceAll(' ', '.')}@example.com`;
const newUser = (more = {}) => admin.users.createUser({ name: unique('User'), login: login(), ...more });

test('everybody knows who they are', async () => {
	const me = await owner.users.getUserMe();
	assert.deepEqual([me.type, me.login, me.status], ['user', 'owner@example.com', 'active']);
	const { role, enterprise } = await admin.users.getUserMe({ fields: ['role', 'enterprise'] });
	assert.deepEqual([role, enterprise.type], ['admin', 'enterprise']);
});

test('a user is created, got, changed and deleted', async () => {
	const user = await newUser({ role: 'user' });
	const got = await admin.users.getUserById(user.id);
	assert.deepEqual([got.id, got.name, got.login], [user.id, user.name, user.login]);
	const name = unique('Renamed');
	assert.equal((await admin.users.updateUserById(user.id, { requestBody: { name } })).name, name);
	await refused(newUser({ login: user.login.toUpperCase() }), 409, 'user_login_already_used');
	assert.equal(await admin.users.deleteUserById(user.id), undefined);
	await refused(admin.users.getUserById(user.id), 404, 'not_found');
});

test('users are listed by marker, by offset and by their names', async () => {
	const made = [(await newUser()).id, (await newUser()).id, (await newUser({ name: 'Zacharias Unusual' })).id];
	for (const limit of [2, 1000]) {
		const marked = idsOf(await byMarker((page) => admin.users.getUsers({ ...page, usemarker: true }), limit));
		assert.ok(made.every((id) => marked.includes(id)));
		assert.deepEqual(idsOf(await byOffset((page) => admin.users.getUsers(page), limit)).sort(), marked.toSorted());
	}
	assert.deepEqual(idsOf((await admin.users.getUsers({ filterTerm: 'zacharias' })).entries), made.slice(2));
});

test('an inactive user is let in no more', async () => {
	const user = await newUser();
	const asUser = admin.withAsUserHeader(user.id);
	assert.equal((await asUser.users.getUserMe()).id, user.id);
	await admin.users.updateUserById(user.id, { requestBody: { status: 'inactive' } });
	await assert.rejects(asUser.users.getUserMe());
});

test('an administrator acts for a user', async () => {
	const user = await newUser({ isPlatformAccessOnly: true, login: undefined });
	for (const client of [admin.withAsUserHeader(user.id), admin.withExtraHeaders({ 'As-User': user.id })]) {
		assert.equal((await client.users.getUserMe()).name, user.name);
	}
	const folder = await newFolder(admin.withAsUserHeader(user.id));
	assert.equal(folder.ownedBy.id, user.id);
	await refused(admin.folders.getFolderById(folder.id), 404, 'not_found');
	await refused(owner.withAsUserHeader(user.id).users.getUserMe(), 403, 'access_denied_insufficient_permissions');
});

test('what is a user\'s is transferred to another', async () => {
	const user = await newUser();
	const asUser = admin.withAsUserHeader(user.id);
	const file = await newFile(asUser, 'text');
	const me = await admin.users.getUserMe();
	await refused(admin.transfer.transferOwnedFolder(user.id, { ownedBy: { id: me.id } }), 403, 'insufficient_scope');
	const folder = await archivist.transfer.transferOwnedFolder(user.id, { ownedBy: { id: me.id } }, { queryParams: { notify: false } });
	assert.equal(folder.ownedBy.id, me.id);
	assert.equal((await admin.files.getFileById(file.id)).ownedBy.id, me.id);
	assert.equal(String(await download(admin, file)), 'text');
	await refused(asUser.files.getFileById(file.id), 404, 'not_found');
	await admin.users.deleteUserById(user.id);
});

test('a user with content is deleted by force alone', async () => {
	const user = await newUser();
	const file = await newFile(admin.withAsUserHeader(user.id));
	await refused(admin.users.deleteUserById(user.id), 409);
	await admin.users.deleteUserById(user.id, { queryParams: { force: true, notify: false } });
	await refused(admin.users.getUserById(user.id), 404, 'not_found');
	await refused(admin.files.getFileById(file.id), 404, 'not_found');
});

test('users are for administrators', async () => {
	const user = await newUser();
	await refused(owner.users.createUser({ name: 'New', login: login() }), 403, 'insufficient_scope');
	await refused(owner.users.getUsers(), 403, 'insufficient_scope');
	await refused(owner.users.updateUserById(user.id, { requestBody: { name: 'New' } }), 403, 'insufficient_scope');
	await refused(owner.users.deleteUserById(user.id), 403);
	await refused(owner.transfer.transferOwnedFolder(user.id, { ownedBy: { id: user.id } }), 403, 'insufficient_scope');
});
