// Makes documents with other engines, as docx/peers_test.go asks: a line of JSON on standard input names the engine, the
// files of the template and of the data, and for how long to repeat it; the answer is a line with the median time of a
// document in nanoseconds. The first document is written to the file named "output", so that it can be compared.
'use strict';

const fs = require('node:fs');
const readline = require('node:readline');
const carbone = require('carbone');
const Docxtemplater = require('docxtemplater');
const PizZip = require('pizzip');

// The parser that docxtemplater's documentation shows for paths with dots.
const parser = (tag) => {
  const path = tag.split('.');
  return { get: (scope) => (tag === '.' ? scope : path.reduce((value, key) => (value == null ? value : value[key]), scope)) };
};

// Each engine is used as its documentation says, on a template that is in memory where it can be, and reads its data
// from JSON. docxtemplater changes the template it renders, so it must load it each time.
const engines = {
  docxtemplater(request) {
    const template = fs.readFileSync(request.template);
    return async (text) => {
      const doc = new Docxtemplater(new PizZip(template), { paragraphLoop: true, linebreaks: true, parser, delimiters: { start: '{{', end: '}}' } });
      doc.render(JSON.parse(text));
      return doc.getZip().generate({ type: 'nodebuffer', compression: 'DEFLATE' });
    };
  },
  carbone(request) {
    return (text) => new Promise((resolve, reject) => {
      carbone.render(request.template, JSON.parse(text), {}, (err, result) => (err ? reject(err) : resolve(result)));
    });
  },
};

async function answer(request) {
  const render = engines[request.engine](request);
  const text = fs.readFileSync(request.data, 'utf8');
  fs.writeFileSync(request.output, await render(text));
  const times = [];
  const end = process.hrtime.bigint() + BigInt(request.milliseconds) * 1000000n;
  do {
    const start = process.hrtime.bigint();
    await render(text);
    times.push(process.hrtime.bigint() - start);
  } while (process.hrtime.bigint() < end);
  times.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return { nanoseconds: Number(times[times.length >> 1]) };
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const reply = await answer(JSON.parse(line)).catch((err) => ({ error: String(err && err.stack) }));
    process.stdout.write(JSON.stringify(reply) + '\n');
  }
  process.exit(0);
}

main();
