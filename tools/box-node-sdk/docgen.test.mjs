// Templates, their tags, batches and jobs, through client.docgenTemplate and client.docgen.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { byMarker, clientOf, download, idsOf, newFile, newFolder, newVersion, refused, unique, until } from './support.mjs';
import { textOf } from './word.mjs';

const owner = clientOf('owner');
const other = clientOf('other');
const example = (name) => readFile(new URL(`../../examples/letter/${name}`, import.meta.url));
const content = await example('template.docx');
const data = JSON.parse(await example('data.json'));

async function newTemplate(bytes = content) {
	const file = await newFile(owner, bytes, unique('Letter', '.docx'));
	const marked = await owner.docgenTemplate.createDocgenTemplateV2025R0({ file: { id: file.id, type: 'file' } });
	assert.deepEqual([marked.file.id, marked.file.type], [file.id, 'file']);
	return file;
}

function newBatch(template, folder, documents, more = {}) {
	return owner.docgen.createDocgenBatchV2025R0({
		file: { id: template.id, type: 'file' }, inputSource: 'api', destinationFolder: { id: folder.id, type: 'folder' }, outputType: 'docx',
		documentGenerationData: documents.map(([generatedFileName, userInput]) => ({ generatedFileName, userInput })), ...more,
	});
}

const jobsOf = (batch) => byMarker((queryParams) => owner.docgen.getDocgenBatchJobByIdV2025R0(batch.id, { queryParams }), 100);

async function finished(batch) {
	return until(`the jobs of the batch ${batch.id}`, async () => {
		const jobs = await jobsOf(batch);
		return jobs.every((job) => !['pending', 'submitted'].includes(job.status)) ? jobs : undefined;
	});
}

// Only --compat box bears what the hosted service does; the server then needs no headers besides the SDK's.
const strict = process.env.PLATEN_HEADERS !== 'null';

test('a template is marked, listed, got and unmarked', async () => {
	const file = await newTemplate();
	const got = await owner.docgenTemplate.getDocgenTemplateByIdV2025R0(file.id);
	assert.equal(got.file.id, file.id);
	assert.equal(got.fileName, file.name);
	const more = await newTemplate();
	const all = await byMarker((page) => owner.docgenTemplate.getDocgenTemplatesV2025R0(page), 1);
	for (const { id } of [file, more]) {
		assert.equal(all.filter((entry) => entry.file.id === id).length, 1);
	}
	await owner.docgenTemplate.createDocgenTemplateV2025R0({ file: { id: file.id, type: 'file' } }); // again changes nothing
	await owner.docgenTemplate.deleteDocgenTemplateByIdV2025R0(file.id);
	await refused(owner.docgenTemplate.getDocgenTemplateByIdV2025R0(file.id), 404, 'not_found');
	assert.equal((await owner.files.getFileById(file.id)).name, file.name);
});

test('a file that is no Word document can be marked and has no tags', async () => {
	if (strict) { // clients of the hosted service depend on it; others are told at once
		await refused(newTemplate('random bytes'), 400, 'bad_request');
		return;
	}
	const file = await newTemplate('random bytes');
	const tags = await owner.docgenTemplate.getDocgenTemplateTagsV2025R0(file.id);
	assert.deepEqual(tags.entries ?? [], []);
	const jobs = await owner.docgenTemplate.getDocgenTemplateJobByIdV2025R0(file.id);
	assert.deepEqual(jobs.entries, []);
});

test('the tags of a template are listed page by page, for each version', async () => {
	const file = await newTemplate();
	const list = (queryParams) => owner.docgenTemplate.getDocgenTemplateTagsV2025R0(file.id, { queryParams });
	await until('the tags', async () => ((await list({})).entries?.length ? true : undefined));
	const tags = await byMarker(list, 5);
	assert.ok(tags.length > 5);
	const name = tags.find((tag) => tag.tagContent === '{{candidate.name}}');
	assert.deepEqual([name?.tagType, name?.jsonPaths], ['text', ['candidate', 'candidate.name']]);
	const first = file.fileVersion.id;
	const second = await newVersion(owner, file, 'not a document');
	await until('the tags of the first version', async () => ((await list({ templateVersionId: first })).entries?.length ? true : undefined));
	assert.notEqual(second.fileVersion.id, first);
});

test('a batch makes documents with the values of its data', async () => {
	const template = await newTemplate();
	const folder = await newFolder(owner);
	const people = ['Ada Lovelace', 'Grace Hopper', 'Mary Somerville'];
	const batch = await newBatch(template, folder, people.map((name) => [name, { ...data, candidate: { ...data.candidate, name } }]));
	assert.equal(batch.type, 'docgen_batch');
	assert.equal((await jobsOf(batch)).length, people.length); // from the moment that the batch is accepted
	const jobs = await finished(batch);
	for (const [i, job] of jobs.entries()) {
		assert.equal(job.status, 'completed');
		assert.equal(job.outputType, 'docx');
		assert.deepEqual([job.batch.id, job.templateFile.id, job.templateFileVersion.id], [batch.id, template.id, template.fileVersion.id]);
		const file = await owner.files.getFileById(job.outputFile.id);
		assert.equal(file.name, `${people[i]}.docx`);
		assert.equal(file.parent.id, folder.id);
		assert.equal(file.fileVersion.id, job.outputFileVersion.id);
		const text = textOf(await download(owner, file));
		assert.ok(text.includes(people[i]) && text.includes('Senior Turbine Engineer') && !text.includes('{{'), text);
		assert.equal((await owner.docgen.getDocgenJobByIdV2025R0(job.id)).outputFile.id, job.outputFile.id);
	}
});

test('jobs are listed by batch, by template and for the user', async () => {
	const template = await newTemplate();
	const folder = await newFolder(owner);
	const batches = [];
	for (const name of ['One', 'Two']) {
		batches.push(await newBatch(template, folder, [[`${name} a`, data], [`${name} b`, data]]));
	}
	const ids = [];
	for (const batch of batches) {
		ids.push(...idsOf(await finished(batch)));
	}
	const ofTemplate = await byMarker((queryParams) => owner.docgenTemplate.getDocgenTemplateJobByIdV2025R0(template.id, { queryParams }), 3);
	assert.deepEqual(idsOf(ofTemplate), ids);
	const all = await owner.docgen.getDocgenJobsV2025R0({ limit: 10_000 });
	assert.equal(all.limit, 1000); // the maximum
	const me = await owner.users.getUserMe();
	for (const job of all.entries.filter(({ id }) => ids.includes(id))) {
		assert.deepEqual([job.createdBy.id, job.enterprise.type, job.source], [me.id, 'enterprise', 'api']);
	}
	assert.deepEqual(idsOf(await byMarker((page) => owner.docgen.getDocgenJobsV2025R0(page), 3)), idsOf(all.entries));
});

test('a batch takes a version of its template', async () => {
	const template = await newTemplate();
	const first = template.fileVersion.id;
	await newVersion(owner, template, 'not a document');
	const folder = await newFolder(owner);
	const [job] = await finished(await newBatch(template, folder, [['Old', data]], { fileVersion: { id: first, type: 'file_version' } }));
	assert.deepEqual([job.status, job.templateFileVersion.id], ['completed', first]);
});

test('a template that cannot be read makes failed jobs and no files', async () => {
	if (strict) {
		return; // there is no such template
	}
	const template = await newTemplate('random bytes');
	const folder = await newFolder(owner);
	const [job] = await finished(await newBatch(template, folder, [['test', { abc: 'xyz' }]]));
	assert.equal(job.status, 'failed');
	assert.equal(job.outputFile, undefined);
	assert.ok((await owner.docgen.getDocgenJobByIdV2025R0(job.id)).rawData.failures.errors.length > 0);
	await owner.folders.deleteFolderById(folder.id); // it is empty
});

test('what a batch lacks or has too much is said at once', async () => {
	const error = await refused(newBatch({ id: 'x' }, { id: '0' }, [], { inputSource: 'mail', outputType: 'odt' }), 400, 'bad_request');
	const names = error.responseInfo.contextInfo.errors.map(({ name }) => name);
	for (const name of ['file.id', 'input_source', 'output_type']) {
		assert.ok(names.includes(name), `${name} is not in ${names}`);
	}
});

test('others see neither templates nor jobs', async () => {
	const template = await newTemplate();
	const batch = await newBatch(template, await newFolder(owner), [['Letter', data]]);
	const [job] = await finished(batch);
	await refused(other.docgenTemplate.getDocgenTemplateByIdV2025R0(template.id), 404, 'not_found');
	await refused(other.docgenTemplate.getDocgenTemplateTagsV2025R0(template.id), 404, 'not_found');
	await refused(other.docgenTemplate.getDocgenTemplateJobByIdV2025R0(template.id), 404, 'not_found');
	await refused(other.docgen.getDocgenBatchJobByIdV2025R0(batch.id), 404, 'not_found');
	await refused(other.docgen.getDocgenJobByIdV2025R0(job.id), 404, 'not_found');
	await refused(other.docgen.createDocgenBatchV2025R0({
		file: { id: template.id, type: 'file' }, inputSource: 'api', destinationFolder: { id: '0', type: 'folder' }, outputType: 'docx',
		documentGenerationData: [{ generatedFileName: 'Letter', userInput: data }],
	}), 404, 'not_found');
});
