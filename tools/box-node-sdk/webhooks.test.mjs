// Webhooks, through client.webhooks. But for the last test nothing that they ask for happens here, and nothing is sent to their
// addresses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';

import { byMarker, callers, clientOf, idsOf, newFile, newFolder, refused, sdk, StandardWebhook, unique, url } from './support.mjs';

const owner = clientOf('owner');
const other = clientOf('other');

const address = 'https://1.1.1.1/hook';
const newWebhook = (target, triggers, client = owner) =>
	client.webhooks.createWebhook({ target: { id: target.id, type: target.type }, address, triggers });
const list = (page, client = owner) => client.webhooks.getWebhooks(page);

test('a webhook is created, read, changed and deleted', async () => {
	const me = await owner.users.getUserMe();
	const folder = await newFolder(owner);
	const triggers = ['FILE.PREVIEWED', 'COMMENT.CREATED', 'DOCGEN_DOCUMENT_GENERATION_FAILED'];
	const webhook = await newWebhook(folder, triggers);
	assert.deepEqual([webhook.type, webhook.target.id, webhook.target.type, webhook.address], ['webhook', folder.id, 'folder', address]);
	assert.deepEqual(webhook.triggers, triggers);
	assert.deepEqual([webhook.createdBy.id, webhook.createdBy.name, webhook.createdBy.login], [me.id, me.name, me.login]);
	assert.ok(Math.abs(webhook.createdAt.value - Date.now()) < 60_000, `created at ${webhook.createdAt.value}`);
	assert.deepEqual((await owner.webhooks.getWebhookById(webhook.id)).rawData, webhook.rawData);

	const file = await newFile(owner);
	const moved = await owner.webhooks.updateWebhookById(webhook.id, {
		requestBody: { target: { id: file.id, type: 'file' }, address: `${address}/2`, triggers: ['FILE.LOCKED'] },
	});
	assert.deepEqual([moved.id, moved.target.id, moved.target.type, moved.address, moved.triggers], [webhook.id, file.id, 'file', `${address}/2`, ['FILE.LOCKED']]);
	assert.deepEqual((await owner.webhooks.updateWebhookById(webhook.id)).rawData, moved.rawData); // nothing changes nothing

	assert.equal(await owner.webhooks.deleteWebhookById(webhook.id), undefined);
	await refused(owner.webhooks.getWebhookById(webhook.id), 404, 'not_found');
	await refused(owner.webhooks.deleteWebhookById(webhook.id), 404);
});

test('webhooks are listed by marker, each in its short form', async () => {
	const made = [];
	for (let i = 0; i < 5; i++) {
		made.push(await newWebhook(await newFolder(owner), ['FOLDER.MOVED']));
	}
	for (const limit of [1, 2, 5, 1000]) {
		const all = await byMarker(list, limit);
		assert.equal(new Set(idsOf(all)).size, all.length);
		assert.deepEqual(idsOf(all).filter((id) => idsOf(made).includes(id)), idsOf(made));
	}
	const short = (await list({ limit: 1000 })).rawData.entries.find(({ id }) => id === made[0].id);
	assert.deepEqual(short, { id: made[0].id, type: 'webhook', target: made[0].rawData.target });
	assert.deepEqual((await list({}, other)).entries, []);
	assert.equal((await list({ limit: 5000 })).limit, 1000);
	await refused(list({ limit: 0 }), 400, 'invalid_limit');
	await refused(list({ marker: 'forged' }), 400, 'bad_request');
});

test('a target has one webhook of a user', async () => {
	const folder = await newFolder(owner);
	await newWebhook(folder, ['FILE.PREVIEWED']);
	await refused(newWebhook(folder, ['FILE.LOCKED']), 409, 'conflict');
	const second = await newWebhook(await newFolder(owner), ['FILE.LOCKED']);
	await refused(owner.webhooks.updateWebhookById(second.id, { requestBody: { target: { id: folder.id, type: 'folder' } } }), 409, 'conflict');
});

test('webhooks that cannot be are refused', async () => {
	const file = await newFile(owner);
	await refused(newWebhook({ id: '4711', type: 'file' }, ['FILE.LOCKED']), 404, 'not_found');
	await refused(newWebhook(file, ['FILE.LOCKED'], other), 404, 'not_found');
	await refused(newWebhook({ id: '0', type: 'folder' }, ['FILE.LOCKED']), 400, 'bad_request');
	const error = await refused(newWebhook(file, ['FILE.LOCKED', 'FILE.UPLOADED', 'FILE.EATEN']), 400, 'bad_request');
	assert.deepEqual(error.responseInfo.contextInfo.errors.map((problem) => problem.name), ['triggers[1]', 'triggers[2]']);
	const webhook = await newWebhook(file, ['FILE.LOCKED']);
	await refused(other.webhooks.getWebhookById(webhook.id), 404, 'not_found');
	await refused(other.webhooks.updateWebhookById(webhook.id, { requestBody: { triggers: ['FILE.LOCKED'] } }), 404, 'not_found');
	await refused(other.webhooks.deleteWebhookById(webhook.id), 404);
});

// keys returns the signing keys that the application of the tokens has.
async function keys() {
	const answer = await fetch(`${url}/2.0/webhook_keys`, { headers: { authorization: `Bearer ${callers.tokens.admin}`, 'box-version': '2025.0' } });
	assert.equal(answer.status, 200);
	return Object.fromEntries((await answer.json()).entries.map(({ slot, secret }) => [slot, secret]));
}

// received resolves to the first request that comes to a server, with its body.
async function received(server) {
	const [request, response] = await once(server, 'request');
	let body = '';
	for await (const part of request.setEncoding('utf8')) {
		body += part;
	}
	response.end();
	return { headers: request.headers, body };
}

test('what a receiver gets is signed as the SDK and Standard Webhooks want it', async () => {
	const server = http.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const folder = await newFolder(owner);
	await owner.webhooks.createWebhook({
		target: { id: folder.id, type: 'folder' }, address: `http://127.0.0.1:${server.address().port}/hook`, triggers: ['FILE.UPLOADED'],
	});
	const arrival = received(server);
	const file = await newFile(owner, 'text', unique('日本 / naïve 😀', '.txt').replace('/', '·'), folder.id);
	const { headers, body } = await arrival;
	server.close();
	const { primary, secondary } = await keys();

	const event = JSON.parse(body);
	assert.deepEqual([event.type, event.trigger, event.source.id, event.source.name], ['webhook_event', 'FILE.UPLOADED', file.id, file.name]);
	const { validateMessage } = sdk.WebhooksManager;
	assert.ok(await validateMessage(body, headers, primary, { secondaryKey: secondary }));
	assert.ok(await validateMessage(body, headers, 'another', { secondaryKey: secondary }), 'the secondary key alone');
	assert.ok(await validateMessage(body, headers, primary), 'the primary key alone');
	assert.ok(!await validateMessage(`${body} `, headers, primary, { secondaryKey: secondary }), 'another body');
	assert.ok(!await validateMessage(body, headers, 'another', { secondaryKey: 'another' }), 'other keys');

	for (const key of [primary, secondary]) {
		assert.deepEqual(new StandardWebhook(key).verify(body, headers), event);
		assert.throws(() => new StandardWebhook(key).verify(`${body} `, headers));
	}
	assert.throws(() => new StandardWebhook(`whsec_${Buffer.from('another').toString('base64')}`).verify(body, headers));
});
