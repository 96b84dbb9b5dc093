// Runs the tests of another product in a clone of it, and writes an example for each document that they make: the template, its
// data, the document, and which options are functions. The checks of the tests are not run. usage: capture.js PRODUCT CLONE OUT
'use strict';

const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const PizZip = require('pizzip');
const typescript = require('typescript');

const [product, clone, out] = process.argv.slice(2);
const root = path.resolve(clone);

const source = (name) => path.join(root, name);

// Each product says which files are its tests, and how its documents are made. patch gets a module of the product by its path
// in the clone, and may return another one in its place.
const products = {
  'docx-templates': {
    tests: () => listFiles('src/__tests__', /\.test\.ts$/),
    patch(name, module) {
      if (name !== 'src/index.ts') return module;
      const report = record(module.createReport, (options) => ({
        template: options.template, data: options.data, delimiters: pair([options.cmdDelimiter || []].flat()),
        code: options.literalXmlDelimiter ? ['literalXmlDelimiter'] : [],
      }));
      const createReport = async (options, probe) => {
        const whole = await report(options).catch(() => null);
        return probe ? module.createReport(options, probe) : whole;
      };
      return { ...module, createReport };
    },
  },
  'easy-template-x': {
    tests: () => listFiles('test/fixtures', /\.tests\.ts$/),
    patch(name, module) {
      const handler = name === 'src/templateHandler.ts' && module.TemplateHandler.prototype;
      if (handler && !handler.process.isRecorder) {
        handler.process = record(handler.process, function (template, data) {
          const marks = this.options.delimiters;
          const code = this.options.skipEmptyTags ? ['skipEmptyTags'] : [];
          return { template, data, code, delimiters: [marks.tagStart, marks.tagEnd, marks.containerTagOpen, marks.containerTagClose] };
        });
      }
      return module;
    },
  },
  docxtemplater: {
    tests: () => [source('es6/tests/index.js')], // which loads the others
    patch(name, module) {
      if (name === 'es6/doc-utils.js') Object.values(module.getDefaults()).forEach((value) => usual.add(String(value)));
      if (name === 'es6/expressions.js') usual.add(module);
      if (name !== 'es6/docxtemplater.js' || module.prototype.render.isRecorder) return module;
      const proto = module.prototype;
      const { attachModule, compile, resolveData } = proto;
      proto.attachModule = function (extra, ...args) {
        this.attaches ||= extra.name !== 'AssertionModule'; // which the tests add to their checks
        return attachModule.call(this, extra, ...args);
      };
      proto.compile = function (...args) {
        if (!this.pristine && this.zip) this.pristine = this.zip.generate({ type: 'nodebuffer' });
        return compile.apply(this, args);
      };
      proto.resolveData = function (data) {
        this.resolved = data;
        return resolveData.call(this, data);
      };
      const save = (doc) => doc.zip.generate({ type: 'nodebuffer' });
      function describe(data) {
        const { start, end } = this.options.delimiters || this;
        return {
          template: this.pristine, data: data === undefined ? this.resolved : data, delimiters: [start, end].map(unescape),
          code: [...codeIn(this.options), ...(this.attaches ? ['modules'] : [])], output: () => save(this),
        };
      }
      proto.render = record(proto.render, describe);
      proto.renderAsync = record(proto.renderAsync, describe);
      return module;
    },
  },
  carbone: {
    tests: () => [source('test/test.carbone.js')],
    patch(name, module) {
      if (name === 'lib/params.js') params = module;
      if (name !== 'lib/index.js' || module.renderXML.isRecorder) return module;
      const { render, renderXML } = module;
      const renderFile = (file, data, options, done) => {
        if (recording) return render.call(module, file, data, options, done);
        const text = JSON.stringify(plain(data));
        recording = true;
        return render.call(module, file, data, options, (err, result, ...rest) => {
          recording = false;
          const { lang, complement, timezone } = { ...params, ...options };
          if (/\.docx$/.test(file)) {
            const whole = Array.isArray(data) ? { d: JSON.parse(text) } : JSON.parse(text); // as the import says
            if (complement) whole.c = complement;
            write({ template: fs.readFileSync(file), delimiters: [], locale: lang, timeZone: timezone }, whole, result);
          }
          done(err, result, ...rest);
        });
      };
      module.renderXML = function (text, data, options, done) {
        if (!done) [options, done] = [{}, options];
        const file = path.join(os.tmpdir(), `carbone-${process.pid}.docx`);
        fs.writeFileSync(file, wordOf(text));
        renderFile(file, data, { ...options }, () => renderXML.call(module, text, data, options, done));
      };
      module.renderXML.isRecorder = true;
      return module;
    },
  },
  'jsreport-docx': {
    language: 'handlebars',
    tests: () => listFiles('test', /[tT]est\.js$/),
    patch(name, module) { return module; },
    external(request, module) {
      if (request !== '@jsreport/jsreport-core') return module;
      const core = (...args) => {
        const reporter = module(...args);
        const { render } = reporter;
        reporter.render = record(render, (request) => ({
          template: request.template.recipe === 'docx' && contentOf(request.template.docx), data: request.data,
          result: (response) => response.content,
        }));
        return reporter;
      };
      return Object.assign(core, module);
    },
  },
};

// usual has the functions that the product itself has for its options, or their sources.
const usual = new Set();
const codeIn = (options) => Object.keys(options).filter((key) => typeof options[key] === 'function' && !usual.has(options[key])
  && !usual.has(String(options[key])));

let params = {}; // the settings of Carbone

// contentOf returns the template that a request of jsreport has in it.
function contentOf(docx) {
  const asset = docx && docx.templateAsset;
  return asset && asset.content && Buffer.from(asset.content, asset.encoding);
}

// wordOf returns a Word document with the text of a fragment of XML: its innermost elements become paragraphs, those around them
// the rows of tables.
function wordOf(text) {
  const zip = new PizZip();
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
  const packages = 'http://schemas.openxmlformats.org/package/2006';
  zip.file('[Content_Types].xml', `<Types xmlns="${packages}/content-types">`
    + '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    + `<Override PartName="/word/document.xml" ContentType="${type}"/></Types>`);
  zip.file('_rels/.rels', `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}" Target="word/document.xml"/>`
    + '</Relationships>');
  zip.file('word/document.xml', `<w:document xmlns:w="${wordNamespace}"><w:body>${blocksOf(treeOf(text))}</w:body></w:document>`);
  return zip.generate({ type: 'nodebuffer' });
}

// treeOf reads elements, without their names and attributes: a node is a list of strings and nodes.
function treeOf(text) {
  const stack = [[]];
  const wholeTags = text.replace(/\{[^{}]*\}/g, (tag) => tag.replace(/<[^>]*>/g, ''));
  for (const [token] of wholeTags.matchAll(/<[^>]*>|[^<]+/g)) {
    const top = stack[stack.length - 1];
    if (token.startsWith('</')) {
      if (stack.length > 1) stack.pop();
    } else if (token.startsWith('<')) {
      const node = [];
      top.push(node);
      if (!token.endsWith('/>')) stack.push(node);
    } else top.push(token);
  }
  const [only, other] = stack[0].filter((node) => textOf(node).trim());
  return Array.isArray(only) && !other ? only : stack[0];
}

const nodesOf = (node) => node.filter(Array.isArray);
const heightOf = (node) => 1 + Math.max(-1, ...nodesOf(node).map(heightOf));
const textOf = (node) => (Array.isArray(node) ? node.map(textOf).join('') : node);
const paragraph = (text) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

// repeats reports whether some elements of a node are the example of a second item, and others that of the first.
function repeats(node) {
  const isSecond = nodesOf(node).map((child) => /\+1/.test(textOf(child)));
  return isSecond.includes(true) && isSecond.includes(false);
}

function blocksOf(node) {
  let out = '';
  let rows = '';
  const flush = () => {
    if (rows) out += `<w:tbl><w:tblPr/><w:tblGrid/>${rows}</w:tbl>${paragraph('')}`;
    rows = '';
  };
  for (const child of node) {
    if (Array.isArray(child) && heightOf(child) === 1 && !repeats(child)) {
      rows += `<w:tr>${nodesOf(child).map((cell) => `<w:tc>${paragraph(textOf(cell))}</w:tc>`).join('')}</w:tr>`;
    } else if (textOf(child).trim()) {
      flush();
      out += Array.isArray(child) && heightOf(child) > 0 ? blocksOf(child) : paragraph(textOf(child));
    }
  }
  flush();
  return out;
}

// pair returns two delimiters; one is used for both ends.
const pair = (marks) => marks.concat(marks).slice(0, 2);
const unescape = (text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

// listFiles returns the files of a folder of the clone.
function listFiles(name, pattern) {
  return fs.readdirSync(source(name)).filter((f) => pattern.test(f)).sort().map((f) => source(path.join(name, f)));
}

// record returns a function that calls another one, and writes an example. describe gets its arguments, and says what the
// template and the data are, and, if the result is not the document, how to get it.
let recording = false;
const { Promise: NativePromise } = globalThis; // some tests replace it
function record(make, describe) {
  function recorder(...args) {
    if (recording) return make.apply(this, args);
    const example = describe.apply(this, args);
    const found = new Set(example.code);
    const data = plain(example.data, 0, found);
    example.code = [...found];
    const finish = (result) => {
      recording = false;
      write(example, data, example.output ? example.output() : example.result ? example.result(result) : result);
      return result;
    };
    const fail = (err) => {
      recording = false;
      write(example, data, null);
      throw err;
    };
    recording = true;
    let result;
    try {
      result = make.apply(this, args);
    } catch (err) {
      return fail(err);
    }
    return result instanceof NativePromise ? result.then(finish, fail) : finish(result);
  }
  recorder.isRecorder = true;
  return recorder;
}

// plain returns a copy of data that can be written as JSON once the promises in it are settled. Bytes become base64. Functions are left
// out, and found gets the word data.
function plain(value, depth = 0, found = new Set()) {
  if (value instanceof NativePromise || (value && typeof value.then === 'function')) {
    const box = {};
    value.then((v) => { box.value = plain(v, depth + 1, found); }, () => {});
    return { toJSON: () => box.value };
  }
  if (typeof value === 'function') found.add('data');
  if (ArrayBuffer.isView(value)) return Buffer.from(value).toString('base64');
  if (value === null || typeof value !== 'object' || typeof value.toJSON === 'function' || depth > 50) return value;
  if (Array.isArray(value)) return value.map((v) => plain(v, depth + 1, found));
  const copy = {};
  for (const key of Object.keys(value)) copy[key] = plain(value[key], depth + 1, found);
  return copy;
}

// wholeDocument returns a file whose document is a fragment of XML, as the tests of docxtemplater have, as a Word document.
function wholeDocument(file) {
  const zip = new PizZip(file);
  const part = zip.file('word/document.xml');
  const text = part ? part.asText() : '<w:document';
  if (text.includes('<w:document')) return file;
  const around = ['document', 'body', 'p', 'r', 't'];
  const first = /<w:(sectPr|tbl|p|r|t)[ >/]/.exec(text);
  const depth = first ? { sectPr: 2, tbl: 2, p: 2, r: 3, t: 4 }[first[1]] : 5;
  const open = around.slice(0, depth).map((name) => `<w:${name}>`).join('').replace('>', ` xmlns:w="${wordNamespace}">`);
  const close = around.slice(0, depth).reverse().map((name) => `</w:${name}>`).join('');
  let body = text.replace(/^<\?xml.*?\?>/, '');
  if (depth < 4 && !/<w:r[ >]/.test(body)) body = body.replace(/<w:t[ >].*?<\/w:t>/gs, '<w:r>$&</w:r>');
  zip.file('word/document.xml', open + body + close);
  return zip.generate({ type: 'nodebuffer' });
}
const wordNamespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

let count = 0;
let current = '';
function write(example, data, output) {
  if (!example.template) return;
  count += 1;
  const dir = path.join(folder, String(count).padStart(4, '0'));
  fs.mkdirSync(dir, { recursive: true });
  fs.writeFileSync(path.join(dir, 'template.docx'), wholeDocument(Buffer.from(example.template)));
  if (data !== undefined) fs.writeFileSync(path.join(dir, 'data.json'), JSON.stringify(data));
  if (output && ArrayBuffer.isView(output)) fs.writeFileSync(path.join(dir, 'output.docx'), wholeDocument(Buffer.from(output)));
  const { delimiters, locale, timeZone, code } = example;
  const info = { test: current, delimiters, locale, timeZone, code };
  fs.writeFileSync(path.join(dir, 'example.json'), JSON.stringify(info));
}

// The tests are collected by the functions that the common test programs have, and run one after another.
const tests = [];
let block = { name: '', before: [], after: [], all: [] };
function describeBlock(name, body) {
  const outer = block;
  block = { outer, name: outer.name ? `${outer.name}: ${name}` : name, before: [...outer.before], after: [...outer.after], all: [...outer.all] };
  body.call({ timeout() {} });
  block = outer;
}
describeBlock.skip = () => {};
describeBlock.each = (rows) => (name, body) => rows.forEach((row) => describeBlock(name, () => body(...[].concat(row))));
describeBlock.only = describeBlock;
function addTest(name, body) {
  const at = block;
  tests.push({ name: at.name ? `${at.name}: ${name}` : name, body, at });
}
addTest.skip = () => {};
addTest.only = addTest;
addTest.todo = () => {};
addTest.each = (rows) => (name, body) => rows.forEach((row) => addTest(name, () => body(...[].concat(row))));

// anything is a value whose members can be read and called: the checks of the tests, and modules that are not installed.
function anything() {
  const value = new Proxy(function () {}, {
    get: (_, key) => (key === 'then' ? undefined : key === Symbol.toPrimitive ? () => '' : value),
    apply: () => value,
    construct: () => value,
  });
  return value;
}

async function runTests(context) {
  for (const test of tests) {
    current = test.name;
    context.currentTest.title = current;
    globalThis.Promise = NativePromise;
    recording = false;
    const steps = [...test.at.before, test.body, ...test.at.after];
    for (const step of steps.filter(Boolean)) await runStep(step, context);
  }
  console.log(`${product}: ${count} documents in ${folder}`);
  process.exit(0);
}

let endStep = () => {};
// runStep runs one function of a test. A test that fails, because its checks do nothing, is not an error.
async function runStep(step, context) {
  let timer;
  const limit = new NativePromise((resolve) => { timer = setTimeout(resolve, 20000); });
  const work = new NativePromise((resolve) => {
    endStep = resolve;
    if (step.length > 0) step.call(context, resolve);
    else resolve(step.call(context));
  });
  await NativePromise.race([work, limit]).catch((err) => {
    if (process.env.VERBOSE) console.error(`${current}: ${err.stack}`);
  });
  clearTimeout(timer);
}

// resolve returns the file of a module, or undefined. The modules that the clone needs are those of the installed product.
function resolve(request, parent, isMain) {
  const paths = [path.join(__dirname, 'node_modules', product), __dirname];
  const isPackage = parent && parent.filename && parent.filename.startsWith(root) && !/^[./]/.test(request);
  const ways = [() => Module._resolveFilename(request, parent, isMain), () => require.resolve(request, { paths })];
  for (const way of isPackage ? ways.reverse() : ways) {
    try {
      return way();
    } catch (err) {
      if (err.code !== 'MODULE_NOT_FOUND' && err.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw err;
    }
  }
  return undefined;
}

function install() {
  const before = (body) => block.before.push(body);
  const after = (body) => block.after.push(body);
  const globals = {
    describe: describeBlock, it: addTest, test: addTest, expect: anything(), jest: anything(), before, beforeEach: before, beforeAll: before,
    after, afterEach: after, afterAll: after, vi: anything(),
  };
  Object.assign(globalThis, globals);
  const load = Module._load;
  Module._load = function (request, parent, isMain) {
    if (request === 'vitest') return globals;
    if (/^(src|test)\//.test(request)) request = source(request);
    const file = resolve(request, parent, isMain);
    if (!file) {
      if (process.env.VERBOSE) console.error(`not installed: ${request}`);
      return anything();
    }
    const loaded = load(file, parent, isMain);
    if (config.external) return config.external(request, loaded);
    return file.startsWith(root) ? config.patch(path.relative(root, file), loaded) : loaded;
  };
  const compile = (module, file) => {
    const text = fs.readFileSync(file, 'utf8').replace(/\bimport\.meta\b/g, '({})');
    const options = { module: typescript.ModuleKind.CommonJS, target: typescript.ScriptTarget.ES2022, esModuleInterop: true, allowJs: true };
    module._compile(typescript.transpileModule(text, { compilerOptions: options }).outputText, file);
  };
  Module._extensions['.ts'] = compile;
  const plain = Module._extensions['.js'];
  Module._extensions['.js'] = (module, file) => (file.startsWith(root) && !file.includes('node_modules') ? compile : plain)(module, file);
}

const config = products[product];
if (!config || !out) {
  console.error(`usage: capture.js PRODUCT CLONE OUT, with one of these products: ${Object.keys(products).join(', ')}`);
  process.exit(1);
}
const folder = path.resolve(out, config.language || product);
install();
process.chdir(root);
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => endStep()); // a check that fails in a callback
for (const file of config.tests()) require(file);
runTests({ timeout() {}, currentTest: { title: '' } });
