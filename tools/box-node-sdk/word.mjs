// Reads the text of a Word document, with nothing but what Node has.
import assert from 'node:assert/strict';
import { inflateRawSync } from 'node:zlib';

const DIRECTORY = 0x02014b50, END = 0x06054b50; // signatures of the records of a ZIP archive
const STORED = 0;

// textOf returns the text of the document's body, without its markup.
export function textOf(docx) {
	return partOf(docx, 'word/document.xml').toString('utf8').replaceAll(/<[^>]*>/g, '');
}

function partOf(archive, name) {
	const end = archive.lastIndexOf(Buffer.from([END & 0xff, (END >> 8) & 0xff, (END >> 16) & 0xff, END >> 24]));
	assert.ok(end >= 0, 'this is no ZIP archive');
	let at = archive.readUInt32LE(end + 16);
	for (let entries = archive.readUInt16LE(end + 10); entries > 0; entries--) {
		assert.equal(archive.readUInt32LE(at), DIRECTORY, 'the directory of the archive is broken');
		const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field));
		if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
			return contentOf(archive, at);
		}
		at += 46 + nameLength + extraLength + commentLength;
	}
	return assert.fail(`the document has no ${name}`);
}

function contentOf(archive, entry) {
	const local = archive.readUInt32LE(entry + 42);
	const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
	const content = archive.subarray(begin, begin + archive.readUInt32LE(entry + 20));
	return archive.readUInt16LE(entry + 10) === STORED ? content : inflateRawSync(content);
}
