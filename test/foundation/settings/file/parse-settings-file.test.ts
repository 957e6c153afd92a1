import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSettingsFile } from '../../../../src/foundation/settings/file/parse-settings-file.ts';
import { pathOf, placeOf, SETTING_PLACES } from '../../../../src/foundation/settings/file/setting-places.ts';

function parsed(text: string, variables: Record<string, string> = {}, files: Record<string, string> = {}) {
  const { values, problems } = parseSettingsFile(text, 'trunkline.yaml', {
    variables,
    readFile: (path) => {
      const found = files[path];
      if (found === undefined) throw new Error(`${path} cannot be read: ENOENT`);
      return found;
    },
  });
  return { values: Object.fromEntries([...values].map(([name, { text: value }]) => [name, value])), problems };
}

describe('the places of settings', () => {
  it('are one for each setting, in camelCase, without what the part says already', () => {
    const paths = SETTING_PLACES.map(pathOf);
    expect(new Set(paths).size).toBe(paths.length);
    for (const path of paths) expect(path).toMatch(/^[a-z]+\.[a-z][a-zA-Z0-9]*$/);
    expect(pathOf(placeOf('SIP_PORT'))).toBe('sip.port');
    expect(pathOf(placeOf('SIP_TLS_PORT'))).toBe('sip.tlsPort');
    expect(pathOf(placeOf('RTP_PORTS'))).toBe('sip.rtpPorts');
    expect(pathOf(placeOf('API_KEYS'))).toBe('security.apiKeys');
    expect(pathOf(placeOf('LLM_BASE_URL'))).toBe('llm.baseUrl');
  });
});

describe('trunkline.yaml', () => {
  it('has numbers, flags, words, texts and lists, as the environment has them', () => {
    const text = [
      'server: {port: 5060, host: 0.0.0.0, logLevel: debug}',
      'security:',
      '  allowAnonymous: true',
      '  trustedProxies: [127.0.0.0/8, "::1"]',
      'sip:',
      '  allow: 10.0.0.0/8,192.0.2.7',
      '  srtp: off',
      'engines: {cudaDevice: [0, 1], cpus: [2-7, 9]}',
      'tracing: {tracesSamplerArg: 0.25}',
      'turns: {earlyAbove: off}',
    ].join('\n');
    expect(parsed(text)).toEqual({
      values: {
        PORT: '5060',
        HOST: '0.0.0.0',
        LOG_LEVEL: 'debug',
        ALLOW_ANONYMOUS: 'true',
        TRUSTED_PROXIES: '127.0.0.0/8,::1',
        SIP_ALLOW: '10.0.0.0/8,192.0.2.7',
        SIP_SRTP: 'off',
        CUDA_DEVICE: '0,1',
        ENGINE_CPUS: '2-7,9',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        TURN_EARLY_ABOVE: 'off',
      },
      problems: [],
    });
  });

  it('may have nothing, and parts whose settings are all comments', () => {
    for (const text of ['', '# all defaults\n', 'sip:\n  # port: 5060\nserver:\n'])
      expect(parsed(text)).toEqual({ values: {}, problems: [] });
  });

  it('takes values from variables and files, within texts, lists and lists of trunks', () => {
    const text = [
      'server: {port: "${PORT_OF_OURS}"}',
      'apps:',
      '  url: wss://${APP_HOST}/calls',
      '  greeting: costs $${5}',
      'security:',
      '  apiKeys: [{file: secrets/one}, "${KEY}"]',
      'asterisk:',
      '  password: {file: "${CREDENTIALS}/asterisk"}',
      'sip:',
      '  trunks:',
      '    - {name: a, password: {file: pin}}',
    ].join('\n');
    const variables = { PORT_OF_OURS: '9000', APP_HOST: 'app.example.com', KEY: 'sesame', CREDENTIALS: '/run/c' };
    const files = { 'secrets/one': 'key-one\n', '/run/c/asterisk': 'hush\n', pin: '0042\n' };
    expect(parsed(text, variables, files)).toEqual({
      values: {
        PORT: '9000',
        APP_URL: 'wss://app.example.com/calls',
        APP_GREETING: 'costs ${5}',
        API_KEYS: 'key-one,sesame',
        ASTERISK_PASSWORD: 'hush',
        SIP_TRUNKS: '[{"name":"a","password":"0042"}]',
      },
      problems: [],
    });
  });

  it.each([
    ['sip:\n  prot: 5060', '2:3: sip.prot: is unknown, did you mean port? expected port, '],
    ['sip:\n  SIP_PORT: 5060', '2:3: sip.SIP_PORT: is unknown, did you mean sip.port? '],
    ['SIP_PORT: 5060', '1:1: SIP_PORT: is unknown, did you mean sip.port? '],
    ['server:\n  apiKeys: [a]', '2:3: server.apiKeys: is unknown, did you mean security.apiKeys? '],
    ['serwer: {}', '1:1: serwer: is unknown, did you mean server? '],
    ['server:\n  port: 1\n  port: 2', '3:3: the same key stands above'],
    [
      'server:\n  port: "5060"',
      '2:9: server.port: got "5060", expected a whole number from 0 to 65535, without quotes',
    ],
    ['server:\n  port: 70000', '2:9: server.port: got 70000, expected a whole number from 0 to 65535'],
    ['server: {port: [1]}', '1:16: server.port: got a list, expected a whole number'],
    ['server:\n  port:', '2:8: server.port: got nothing, expected a whole number'],
    ['server: {host: ""}', '1:16: server.host: got nothing, expected a text'],
    ['sip: {allow: []}', '1:14: sip.allow: got nothing, expected a list'],
    ['sip: {user: 1000}', '1:13: sip.user: got 1000, expected a text; numbers stand in quotes'],
    ['sip: {srtp: maybe}', '1:13: sip.srtp: got "maybe", expected one of off, allow, require'],
    ['security: {allowAnonymous: "yes"}', '1:28: security.allowAnonymous: got "yes", expected true or false'],
    ['security: {apiKeys: ["a,b"]}', '1:21: security.apiKeys: got a list, expected a list of texts without commas'],
    ['apps:\n  url: wss://me:sesame@[', '2:8: apps.url: got "wss://***@[", expected empty or a WebSocket URL'],
    ['sip: 5060', '1:6: sip: expected settings below it, such as "port: …"'],
    ['- a', '1:1: the file: expected lines such as "sip:"'],
    ['a: b: c', '1:4: a text with a colon and a space stands in quotes'],
    ['server: &a {port: 1}\nsip: *a', '2:6: has aliases (*), expected none'],
    ['server: {port: "${NOPE}"}', '1:16: server.port: ${NOPE}: this variable is not set, or is empty'],
    ['apps: {greeting: "${A-b}"}', '1:18: apps.greeting: got ${ without the name of a variable and }'],
    ['security:\n  apiKeys: {file: gone}', '2:19: security.apiKeys.file: gone cannot be read: ENOENT'],
  ])('refuses %j, with line and column', (text, expected) => {
    const { problems } = parsed(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`trunkline.yaml:${expected}`);
  });

  it('says all that is wrong at once', () => {
    expect(parsed('server: {port: x, host: 1}\nsip: {prot: 1}').problems).toHaveLength(3);
  });

  it('never repeats a secret', () => {
    const text = [
      'carriers: {genesysClientSecret: "sesame!"}',
      'cluster: {key: sesame}',
      'records: {recordKey: [sesame], databaseUrl: "${PASSWORD"}',
    ].join('\n');
    const { problems } = parsed(text, { PASSWORD: 'sesame' });
    expect(problems).toHaveLength(4);
    expect(problems.join()).not.toContain('sesame');
  });

  it('takes any text without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'ab: {}[]\n-$"&*|>#,') })), (text) => {
        expect(parsed(text).problems.every((problem) => problem.startsWith('trunkline.yaml:'))).toBe(true);
      }),
    );
  });
});
