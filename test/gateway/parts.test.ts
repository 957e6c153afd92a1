/** A part is one folder and one line: whatever lists parts to people has it then. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { carriersFile } from '../../scripts/carriers-page.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { PARTS } from '../../src/gateway/parts.ts';
import { checksOf } from '../../src/parts/lists.ts';
import { pretendCarrier } from '../fakes/parts/pretend-carrier/part.ts';
import { pretendClients } from '../fakes/parts/pretend-clients/part.ts';
import { FakePeople } from '../fakes/people.ts';
import { readSettings } from '../helpers/settings.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../http/test-server.ts';

/** The carriers that the file of the page `text` has, as the filter of the history lists them. */
async function carriersIn(text: string): Promise<Map<string, string>> {
  const { CARRIER_NAMES } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    CARRIER_NAMES: Map<string, string>;
  };
  return CARRIER_NAMES;
}

describe('the carriers of the page', () => {
  const file = readFileSync(packagePath('src', 'console', 'page', 'carriers.js'), 'utf8');

  it('are those of the parts, as they are now (npm run docs)', () => {
    expect(file).toBe(carriersFile());
  });

  it('include those that only listen', async () => {
    const names = await carriersIn(file);
    expect(names.get('genesys')).toBe('Genesys');
    expect(names.get('siprec')).toBe('SIPREC');
  });
});

describe.each(['carriers', 'clients'])('src/%s', (folder) => {
  it('has a folder for each part and a line in src/gateway/parts.ts for each folder', () => {
    const folders = readdirSync(packagePath('src', folder)).filter((name) => name !== 'shared');
    const list = readFileSync(packagePath('src', 'gateway', 'parts.ts'), 'utf8');
    const listed = [...list.matchAll(/'\.\.\/(\w+)\/([\w-]+)\/part\.ts'/g)];
    expect(listed.flatMap(([, of, name]) => (of === folder ? name : [])).sort()).toEqual(folders.sort());
    const names = PARTS.map(({ name }) => name);
    expect(folders.filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe('a part that is added', () => {
  const more = [pretendCarrier, pretendClients];
  let testServer: TestServer;
  beforeEach(async () => {
    const people = new FakePeople().with('ann', 'admin', { kind: 'key' }).with('bob', 'agent', { kind: 'key' });
    testServer = await startServer({}, undefined, people, null, null, undefined, null, more);
  });
  afterEach(() => testServer.app.close());

  const as = (name: string) => ({ authorization: `Bearer ${name}s-key` });
  const hear = (headers = {}) => testServer.app.inject({ method: 'POST', url: '/pretend/hear', headers });
  const speak = (body: object) =>
    testServer.app.inject({ method: 'POST', url: '/v1/audio/speech', headers: as('ann'), payload: body });

  it('is in the list of carriers of the page', async () => {
    expect((await carriersIn(carriersFile([...PARTS, ...more]))).get('pretend')).toBe('Pretend Telephone');
  });

  it('is a way in', async () => {
    const { waysIn } = (await testServer.app.inject({ url: '/v1/system', headers: as('ann') })).json();
    expect(waysIn).toContainEqual(
      expect.objectContaining({ id: 'pretend', name: 'Pretend Telephone', settings: ['CARRIER_TOKEN'] }),
    );
  });

  it('is described, with its permission and its errors', async () => {
    const { paths } = (await testServer.app.inject({ url: '/docs/json', headers: as('ann') })).json();
    expect(paths['/pretend/media'].get).toMatchObject({ operationId: 'openPretendMedia', 'x-websocket': true });
    const { post } = paths['/pretend/hear'];
    expect(post['x-permission']).toBe('transcriptions');
    expect(JSON.stringify(post.responses['401'])).toContain('#/components/schemas/PretendError');
  });

  it('is checked by the doctor', async () => {
    const settings = readSettings({});
    const findings = await Promise.all(checksOf(more, settings).map((check) => check()));
    expect(findings.flat().map(({ name }) => name)).toEqual(['pretend']);
  });

  it('is open to whoever has the permission alone, and answers in its own way', async () => {
    const answers = await Promise.all([hear(), hear(as('bob')), hear(as('ann'))]);
    expect(answers.map((answer) => [answer.statusCode, answer.json()])).toEqual([
      [401, { wrong: 'api_key_missing' }],
      [403, { wrong: 'role_refused' }],
      [501, { wrong: 'not_implemented' }],
    ]);
  });

  it('takes calls with its own secret alone', async () => {
    const url = `${await listen(testServer.app)}/pretend/media`;
    expect(await upgradeStatus(url, { host: 'bridge.example.com' })).toBe(403);
    expect(await upgradeStatus(url)).toBe(101);
  });

  it('may have clients on paths of OpenAI: their models, errors and defaults', async () => {
    const models = (await testServer.app.inject({ url: '/v1/models', headers: as('ann') })).json();
    const ids = models.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining(['pretend-ears', 'pretend-mouth', 'qwen3-tts', 'tts-1']));
    const refused = await speak({ model: 'pretend-mouth', input: '' });
    expect([refused.statusCode, refused.json()]).toEqual([418, { wrong: 'invalid_request' }]);
    expect((await speak({ model: 'tts-1', input: '' })).json()).not.toHaveProperty('wrong');
    const unknown = (await speak({ input: '' })).json();
    expect(unknown).toMatchObject({
      error: { code: 'invalid_request' },
      code: 'EMPTY_INPUT',
      wrong: 'invalid_request',
    });
    const spoken = await speak({ model: 'pretend-mouth', input: 'Hello.' });
    expect(spoken.headers).toMatchObject({ 'content-type': 'audio/wav' });
  });
});
