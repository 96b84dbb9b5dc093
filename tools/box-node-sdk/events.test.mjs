// The event stream, through client.events.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { clientOf, newFile, newFolder, refused } from './support.mjs';

const owner = clientOf('owner');
const admin = clientOf('admin');

const end = async (client) => (await client.events.getEvents({ streamPosition: 'now' })).nextStreamPosition;

test('events are read by position', async () => {
	const streamPosition = await end(owner);
	const folder = await newFolder(owner);
	await owner.folders.updateFolderById(folder.id, { requestBody: { name: `${folder.name} renamed` } });
	const { chunkSize, entries } = await owner.events.getEvents({ streamPosition: String(streamPosition), limit: 500 });
	const mine = entries.filter((e) => e.source.id === folder.id);
	assert.ok(chunkSize >= 2);
	assert.deepEqual(mine.map((e) => [e.type, e.eventType, e.createdBy.login]), [
		['event', 'ITEM_CREATE', 'owner@example.com'], ['event', 'ITEM_RENAME', 'owner@example.com'],
	]);
	assert.equal(mine[0].source.name, `${folder.name} renamed`);
	assert.ok(mine[0].createdAt.value instanceof Date);
});

test('an event stream gets new events', async () => {
	const stream = owner.events.getEventStream({ streamPosition: String(await end(owner)) });
	stream.on('error', () => {}); // destroying it fails the request that waits
	try {
		const file = await newFile(owner);
		for (;;) {
			const [event] = await once(stream, 'data');
			if (event.source.id === file.id) {
				assert.equal(event.eventType, 'ITEM_UPLOAD');
				break;
			}
		}
		const later = once(stream, 'data'); // the stream waits now
		const folder = await newFolder(owner);
		const [event] = await later;
		assert.deepEqual([event.eventType, event.source.type], ['ITEM_CREATE', 'folder']);
		assert.ok(folder.id);
	} finally {
		stream.destroy();
	}
});

test('administrators read the events of the enterprise', async () => {
	const file = await newFile(owner);
	const createdAfter = { value: new Date(Date.now() - 3_600_000) };
	let streamPosition = '0';
	for (;;) {
		const page = await admin.events.getEvents({
			streamType: 'admin_logs', streamPosition, createdAfter, eventType: ['UPLOAD', 'NEW_USER'], limit: 500,
		});
		const found = page.entries.find((e) => e.source.itemId === file.id);
		if (found) {
			assert.deepEqual([found.eventType, found.source.itemType], ['UPLOAD', 'file']);
			break;
		}
		assert.notEqual(String(page.nextStreamPosition), streamPosition);
		streamPosition = String(page.nextStreamPosition);
	}
	await refused(owner.events.getEvents({ streamType: 'admin_logs_streaming' }), 403, 'insufficient_scope');
});
