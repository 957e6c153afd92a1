/** Registrars and trunks out of the settings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readTrunks, routeOver, type TrunkSettings, uriAt } from '../../../src/carriers/sip/trunk-list.ts';

const NONE: TrunkSettings = {
  SIP_PASSWORD: '',
  SIP_PORT: 5060,
  SIP_PROXY: '',
  SIP_REGISTRAR: '',
  SIP_SRTP: 'allow',
  SIP_TLS_PORT: 0,
  SIP_TRUNK: '',
  SIP_TRUNKS: '',
  SIP_USER: '',
};
const LIST = `
- name: berlin
  registrar: sip:pbx.example.com;transport=tls
  user: trunkline
  password: change-me
- name: carrier
  server: sips:sip.carrier.example:5071
  proxy: sip:edge.example.com;transport=tcp
  srtp: require
`;

it('has no trunk without a setting, and that of the single settings first', async () => {
  expect(readTrunks(NONE)).toEqual([]);
  const folder = await mkdtemp(join(tmpdir(), 'trunks-'));
  const path = join(folder, 'trunks.yaml');
  await writeFile(path, LIST);
  const trunks = readTrunks({ ...NONE, SIP_REGISTRAR: 'sip:192.0.2.1', SIP_USER: 'first', SIP_TRUNKS: path });
  await rm(folder, { recursive: true });
  expect(trunks).toMatchObject([
    { name: 'default', user: 'first', proxy: null, srtp: 'allow', server: { transport: 'UDP', port: 5060 } },
    { name: 'berlin', user: 'trunkline', password: 'change-me', registrar: { transport: 'TLS', port: 5061 } },
    { name: 'carrier', user: '', registrar: null, srtp: 'require', server: { transport: 'TLS', port: 5071 } },
  ]);
  const [first, berlin, carrier] = trunks;
  expect(uriAt(first?.server ?? never(), 'a').toString()).toBe('sip:a@192.0.2.1');
  expect(uriAt(berlin?.server ?? never(), null).toString()).toBe('sip:pbx.example.com;transport=tls');
  expect(uriAt(carrier?.server ?? never(), '1').toString()).toBe('sips:1@sip.carrier.example:5071');
  expect(routeOver(carrier ?? never())).toEqual(['<sip:edge.example.com;transport=tcp;lr>']);
});

function never(): never {
  throw new Error('no such trunk');
}

it.each([
  ['[{name: a}]', /SIP_TRUNKS:1:2: 0: got neither registrar nor server/],
  ['[{name: a, server: "sip:x"}, {name: a, server: "sip:y"}]', /got a name twice/],
  ['[{name: a, registrar: "sip:x"}]', /got a registrar without user, expected the name to register/],
  ['[{name: a, server: "http://x"}]', /server such as sip:pbx\.example\.com/],
  ['[{name: "a b", server: "sip:x"}]', /1 to 64 letters/],
  ['[{name: a, server: "sip:x", password: 4711}]', /0\.password: got a number, expected a text in quotes/],
  ['/nowhere/trunks.yaml', /SIP_TRUNKS: \/nowhere\/trunks\.yaml: cannot be read \(ENOENT\)/],
])('refuses %s, without showing what may be secret', (text, message) => {
  expect(() => readTrunks({ ...NONE, SIP_TRUNKS: text })).toThrow(message);
});

it('refuses a trunk over UDP or TCP where SIP listens over TLS alone, and would never use it', () => {
  const settings = { ...NONE, SIP_PORT: 0, SIP_TLS_PORT: 5061 };
  const [plain, secure] = ['[{name: a, server: "sip:x"}]', '[{name: a, server: "sip:x", proxy: "sips:y"}]'];
  expect(() => readTrunks({ ...settings, SIP_TRUNKS: plain })).toThrow(/SIP_TRUNKS: a without TLS: set SIP_PORT/);
  expect(readTrunks({ ...settings, SIP_TRUNKS: secure })).toHaveLength(1);
});

it.each(['[s3cret]', '!s3cret', '*s3cret', '@s3cret', 's3cret: x', '"s3cret'])(
  'shows no password when a list cannot be read: %s',
  (password) => {
    const SIP_TRUNKS = `[{name: a, server: "sip:x", password: ${password}}]`;
    const read = (): unknown => readTrunks({ ...NONE, SIP_TRUNKS });
    expect(read).toThrow(/SIP_TRUNKS:1:\d+: /);
    expect(read).not.toThrow(/s3cret/);
  },
);
