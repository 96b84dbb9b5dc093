// Ways to get a token: client credentials and signed assertions (JWT), and what ends one.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callers, clientOf, clientWith, networkSession, newFile, refused, sdk } from './support.mjs';

const { application: app, jwt } = callers;
const user = await clientOf('owner').users.getUserMe();

const credentials = (more) => new sdk.BoxCcgAuth({ config: new sdk.CcgConfig({ clientId: app.client_id, clientSecret: app.client_secret, ...more }) });

test('client credentials are for the service account, or for a user', async () => {
	const auth = credentials({ enterpriseId: app.enterprise_id });
	const me = await clientWith(auth).users.getUserMe({ fields: ['enterprise', 'login'] });
	assert.deepEqual([me.id, me.enterprise.id], [app.service_account_id, app.enterprise_id]);
	assert.equal((await clientWith(auth.withUserSubject(user.id)).users.getUserMe()).id, user.id);
	assert.equal((await clientWith(credentials({ userId: user.id })).users.getUserMe()).id, user.id);
	const token = await auth.retrieveToken(networkSession);
	assert.deepEqual([token.tokenType, token.expiresIn > 0, token.restrictedTo], ['bearer', true, []]);
});

test('an assertion is for the service account, or for a user', async () => {
	const auth = new sdk.BoxJwtAuth({ config: sdk.JwtConfig.fromConfigJsonString(JSON.stringify(jwt)) });
	const me = await clientWith(auth.withEnterpriseSubject(app.enterprise_id)).users.getUserMe({ fields: ['enterprise'] });
	assert.deepEqual([me.id, me.enterprise.id], [app.service_account_id, app.enterprise_id]);
	const asUser = clientWith(auth.withUserSubject(user.id));
	assert.equal((await asUser.users.getUserMe()).id, user.id);
	const file = await newFile(asUser);
	assert.equal((await clientOf('owner').files.getFileById(file.id)).ownedBy.id, user.id);
});

test('a token that is revoked is of no use, and a new one is got', async () => {
	const auth = credentials({ enterpriseId: app.enterprise_id });
	const before = await auth.retrieveToken(networkSession);
	await auth.revokeToken(networkSession);
	const client = clientWith(new sdk.BoxDeveloperTokenAuth({ token: before.accessToken }));
	await refused(client.users.getUserMe(), 401, 'unauthorized');
	assert.notEqual((await auth.retrieveToken(networkSession)).accessToken, before.accessToken);
});

test('a client that is refused a token once asks for another', async () => {
	const tokenStorage = new sdk.InMemoryTokenStorage({ token: { accessToken: 'expired' } });
	const session = new sdk.NetworkSession({ baseUrls: networkSession.baseUrls, retryStrategy: new sdk.BoxRetryStrategy({ retryBaseInterval: 0.01 }) });
	const client = new sdk.BoxClient({ auth: credentials({ enterpriseId: app.enterprise_id, tokenStorage }), networkSession: session });
	assert.equal((await client.withExtraHeaders({ 'box-version': '2025.0' }).users.getUserMe()).id, app.service_account_id);
});

test('wrong credentials get no token', async () => {
	const wrong = async (auth, error) => {
		const failure = await auth.retrieveToken(networkSession).then(() => assert.fail('it got a token'), (e) => e);
		assert.ok(failure instanceof sdk.BoxApiError, failure.stack);
		assert.deepEqual([failure.responseInfo.statusCode, failure.responseInfo.body.error], [400, error]);
		assert.ok(failure.responseInfo.body.error_description);
	};
	await wrong(credentials({ enterpriseId: app.enterprise_id, clientSecret: 'wrong' }), 'invalid_client');
	await wrong(credentials({ enterpriseId: app.enterprise_id, clientId: 'wrong' }), 'invalid_client');
	await wrong(credentials({ enterpriseId: '4711' }), 'invalid_grant');
	await wrong(credentials({ userId: '4711' }), 'invalid_grant');
	const config = structuredClone(jwt);
	config.boxAppSettings.clientSecret = 'wrong';
	await wrong(new sdk.BoxJwtAuth({ config: sdk.JwtConfig.fromConfigJsonString(JSON.stringify(config)) }), 'invalid_client');
});
