// What the tests of every manager share: clients of the running server, names that are new, and what a failure must be.
//
// A test is told by its environment where to go: PLATEN_URL is the server's address without the /2.0, PLATEN_SDK the
// folder that the SDK is installed in, PLATEN_STANDARD_WEBHOOKS that of the library of Standard Webhooks, PLATEN_HEADERS the headers (JSON) that every request needs besides those of the
// SDK, PLATEN_PROXY the URL of a proxy if there is one, and PLATEN_CALLERS (JSON) the access tokens of users by their names, and what is known of an application.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

const env = (name) => {
	const value = process.env[name];
	assert.ok(value, `${name} is not set: cli/sdk_test.go runs these tests`);
	return value;
};

export const url = env('PLATEN_URL');
const load = createRequire(path.join(env('PLATEN_SDK'), 'package.json'));
export const sdk = Object.assign({}, ...['', '/box', '/networking', '/internal', '/managers/webhooks'].map((part) => load(`box-node-sdk${part}`)));
export const { Webhook: StandardWebhook } = createRequire(path.join(env('PLATEN_STANDARD_WEBHOOKS'), 'package.json'))('standardwebhooks');
export const callers = JSON.parse(env('PLATEN_CALLERS'));

const headers = JSON.parse(env('PLATEN_HEADERS'));
const addresses = { baseUrl: url, uploadUrl: url, oauth2Url: `${url}/oauth2` };

// networkSession is how auth objects reach the server when they are asked for a token by hand.
export const networkSession = new sdk.NetworkSession({ baseUrls: new sdk.BaseUrls(addresses) });

// clientWith returns a client for a way to authenticate, that gives up at once: a failure is to be seen, not tried again.
export function clientWith(auth) {
	const client = new sdk.BoxClient({ auth, networkSession: new sdk.NetworkSession({ retryStrategy: new sdk.BoxRetryStrategy({ maxAttempts: 1, maxRetriesOnException: 0 }) }) });
	const configured = client.withCustomBaseUrls(addresses).withExtraHeaders(headers);
	return process.env.PLATEN_PROXY ? configured.withProxy({ url: process.env.PLATEN_PROXY }) : configured;
}

// clientOf returns a client with an access token that cli/sdk_test.go made.
export function clientOf(name) {
	assert.ok(callers.tokens[name], `there is no caller ${name}`);
	return clientWith(new sdk.BoxDeveloperTokenAuth({ token: callers.tokens[name] }));
}

export const unique = (name, extension = '') => `${name} ${randomUUID()}${extension}`;

export async function newFolder(client, name = unique('Folder'), parent = '0') {
	return client.folders.createFolder({ name, parent: { id: parent } });
}

export async function newFile(client, content = 'some text', name = unique('File', '.txt'), parent = '0') {
	const uploaded = await client.uploads.uploadFile({
		attributes: { name, parent: { id: parent } }, file: Readable.from(Buffer.from(content)),
	});
	assert.equal(uploaded.totalCount, 1);
	return uploaded.entries[0];
}

export async function newVersion(client, file, content, name = file.name) {
	const uploaded = await client.uploads.uploadFileVersion(file.id, { attributes: { name }, file: Readable.from(Buffer.from(content)) });
	return uploaded.entries[0];
}

export async function bytesOf(stream) {
	const pieces = [];
	for await (const piece of stream) {
		pieces.push(piece);
	}
	return Buffer.concat(pieces);
}

export async function download(client, file, version) {
	return bytesOf(await client.downloads.downloadFile(file.id, { queryParams: { version } }));
}

// refused demands that a call fails as the interface says, and returns what the SDK made of the error. Where an answer has no
// body to be read, as of a deletion, the SDK reads none of an error either: it has a status, but no code.
export async function refused(call, status, code) {
	const error = await call.then((got) => assert.fail(`answered ${JSON.stringify(got?.rawData ?? got)}, want ${status} ${code}`), (e) => e);
	if (error instanceof assert.AssertionError) {
		throw error;
	}
	assert.ok(error instanceof sdk.BoxApiError, `not an answer of the interface: ${error.stack}`);
	const { responseInfo } = error;
	assert.equal(responseInfo.statusCode, status, error.message);
	assert.equal(responseInfo.code, code && JSON.stringify(code), error.message); // the SDK leaves the quotes on it
	return error;
}

// until asks again and again until there is an answer, for at most a minute.
export async function until(what, ask) {
	const end = Date.now() + 60_000;
	for (let wait = 20; ; wait = Math.min(2 * wait, 500)) {
		const answer = await ask();
		if (answer !== undefined) {
			return answer;
		}
		assert.ok(Date.now() < end, `waited for a minute: ${what}`);
		await pause(wait);
	}
}

// byMarker collects a list page by page. fetch takes {limit, marker} and returns a page.
export async function byMarker(fetch, limit) {
	const all = [];
	let marker;
	do {
		const page = await fetch({ limit, marker });
		assert.equal(page.limit, limit);
		assert.ok(page.entries.length <= limit, `a page of ${page.entries.length} for a limit of ${limit}`);
		all.push(...page.entries);
		marker = page.nextMarker;
	} while (marker);
	return all;
}

// byOffset collects a list page by page. fetch takes {limit, offset} and returns a page.
export async function byOffset(fetch, limit) {
	const all = [];
	for (let offset = 0, total = 1; offset < total; offset += limit) {
		const page = await fetch({ limit, offset });
		assert.equal(page.limit, limit);
		assert.equal(page.offset, offset);
		assert.ok(page.entries.length <= limit, `a page of ${page.entries.length} for a limit of ${limit}`);
		all.push(...page.entries);
		total = page.totalCount;
	}
	return all;
}

export const idsOf = (entries) => entries.map((entry) => entry.id);
