// What the client itself does: errors, headers, and calls that no manager makes.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clientOf, clientWith, newFolder, refused, sdk, unique, url } from './support.mjs';

const owner = clientOf('owner');

test('an error tells what, why and where', async () => {
	const error = await refused(owner.folders.getFolderById('4711'), 404, 'not_found');
	const { responseInfo: { requestId, helpUrl, contextInfo, headers } } = error;
	assert.equal(JSON.parse(requestId), headers['box-request-id']);
	assert.equal(new URL(JSON.parse(helpUrl)).origin, new URL(url).origin);
	assert.equal(contextInfo.errors[0].reason, 'invalid_parameter');
	assert.match(error.message, /404 "not_found"/);
});

test('everything that is wrong with a request is said at once', async () => {
	const error = await refused(owner.folders.createFolder({ name: undefined, parent: { id: 'x' } }), 400, 'bad_request');
	assert.deepEqual(error.responseInfo.contextInfo.errors.map((problem) => problem.name).sort(), ['name', 'parent.id']);
});

test('an unknown token is refused', async () => {
	const stranger = clientWith(new sdk.BoxDeveloperTokenAuth({ token: 'unknown' }));
	const error = await refused(stranger.users.getUserMe(), 401, 'unauthorized');
	assert.match(error.responseInfo.headers['www-authenticate'], /invalid_token/);
});

test('notifications can be suppressed', async () => {
	assert.ok((await owner.withSuppressedNotifications().users.getUserMe()).id);
});

test('calls that no manager makes go through', async () => {
	const name = unique('Folder');
	const call = (method, path, data) => owner.makeRequest(new sdk.FetchOptions({ method, url: `${url}/2.0${path}`, data }));
	const made = await call('POST', '/folders', { name, parent: { id: '0' } });
	assert.deepEqual([made.status, made.data.name], [201, name]);
	const renamed = await call('PUT', `/folders/${made.data.id}`, { name: unique('Renamed') });
	assert.deepEqual([renamed.status, renamed.data.id], [200, made.data.id]);
	assert.equal((await call('DELETE', `/folders/${made.data.id}`)).status, 204);
	await refused(call('GET', '/no_such_thing'), 404, 'not_found');
	await refused(call('PATCH', '/folders/0', {}), 405, 'method_not_allowed');
});

test('interceptors see requests and answers', async () => {
	const seen = [];
	const client = owner.withInterceptors([{
		beforeRequest: (options) => options,
		afterRequest: (response) => { seen.push(response.status); return response; },
	}]);
	await newFolder(client);
	assert.deepEqual(seen, [201]);
});
