// A reporter of node --test that writes a line of JSON for each test, for cli/sdk_test.go.
export default async function* report(events) {
	for await (const { type, data } of events) {
		if (type !== 'test:pass' && type !== 'test:fail') {
			continue;
		}
		const error = data.details?.error;
		yield `${JSON.stringify({
			name: data.name, nesting: data.nesting, passed: type === 'test:pass', skipped: data.skip !== undefined || data.todo !== undefined,
			error: error && String((error.cause ?? error).stack ?? error),
		})}\n`;
	}
}
