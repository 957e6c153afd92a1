import { isAbsolute, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { coresAvailable } from '../../../src/foundation/machine/cores.ts';
import {
  ConfigError,
  childEnvironment,
  findWarnings,
  isLoopback,
  maxCallsOf,
  readSettings,
} from '../../../src/foundation/settings/config.ts';
import { CONSTANTS } from '../../../src/foundation/settings/constants.ts';
import { OLD_CHAT_SETTINGS } from '../../../src/foundation/settings/old-settings.ts';
import { SETTINGS } from '../../../src/foundation/settings/settings.ts';
import { problemsOf } from '../../helpers/settings-problems.ts';

describe('the settings', () => {
  it('have defaults that fit together, and cannot be changed later', () => {
    const settings = readSettings({});
    expect(settings).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      API_KEYS: [],
      ALLOW_ANONYMOUS: false,
      CHUNK_MS: 400,
      OVERLAP_MS: 200,
    });
    expect(Object.keys(settings).sort()).toEqual(
      [
        ...[SETTINGS, OLD_CHAT_SETTINGS, CONSTANTS].flatMap((table) => Object.keys(table)),
        ...['isDataDirDefault', 'isMaxCallsMeasured', 'notices', 'sources'],
      ].sort(),
    );
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it('are taken from the environment; an empty value means the default, spaces around it nothing', () => {
    expect(readSettings({ PORT: ' 9000 ', HOST: '', ALLOW_ANONYMOUS: 'true', RETENTION_DAYS: '20' })).toMatchObject({
      PORT: 9000,
      HOST: '127.0.0.1',
      ALLOW_ANONYMOUS: true,
      RETENTION_DAYS: 20,
    });
  });

  it.each([
    ['PORT', '80a', 'PORT: got "80a", expected a whole number from 0 to 65535'],
    ['PORT', '70000', 'PORT: got "70000", expected a whole number from 0 to 65535'],
    ['PORT', '1e3', 'PORT: got "1e3", expected a whole number from 0 to 65535'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'OTEL_TRACES_SAMPLER_ARG: got "1.5", expected a number from 0 to 1'],
    ['ALLOW_ANONYMOUS', 'yes', 'ALLOW_ANONYMOUS: got "yes", expected true or false'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL: got "loud", expected one of fatal, error, warn, info, debug, trace, silent'],
    [
      'PUBLIC_URL',
      'bridge.example.com',
      'PUBLIC_URL: got "bridge.example.com", expected empty or an origin such as https://bridge.example.com',
    ],
    [
      'APP_URL',
      'https://app.example.com',
      'APP_URL: got "https://app.example.com", expected empty or a WebSocket URL such as wss://app.example.com/calls',
    ],
    ['APP_ALLOWED_ORIGINS', 'wss://a, b', 'APP_ALLOWED_ORIGINS: got "wss://a, b", expected WebSocket origins'],
    [
      'PUBLIC_URL',
      'https://bridge.example.com/path',
      'PUBLIC_URL: got "https://bridge.example.com/path", expected empty or an origin',
    ],
    [
      'PUBLIC_URL',
      'https://user@bridge.example.com',
      'PUBLIC_URL: got "https://***@bridge.example.com", expected empty or an origin',
    ],
    ['CUDA_DEVICE', '0,0', 'CUDA_DEVICE: got "0,0", expected whole numbers from 0 to 63, each once, such as 0,1'],
    ['CUDA_DEVICE', '0,64', 'CUDA_DEVICE: got "0,64", expected whole numbers from 0 to 63'],
    ['CUDA_DEVICE', 'all', 'CUDA_DEVICE: got "all", expected whole numbers from 0 to 63'],
    ['CUDA_DEVICE', ',', 'CUDA_DEVICE: got ",", expected whole numbers from 0 to 63'],
    ['ENGINE_CPUS', '3-1', 'ENGINE_CPUS: got "3-1", expected processors from 0 to 1023, such as 2-7,9'],
    ['ENGINE_CPUS', '0-1024', 'ENGINE_CPUS: got "0-1024", expected processors from 0 to 1023'],
    ['ENGINE_CPUS', 'all', 'ENGINE_CPUS: got "all", expected processors from 0 to 1023'],
    ['SIP_ALLOW', '10.0.0.0/33', 'SIP_ALLOW: got "10.0.0.0/33", expected addresses and networks'],
    [
      'SIP_REGISTRAR',
      'pbx:5060',
      'SIP_REGISTRAR: got "pbx:5060", expected empty or a server such as sip:pbx.example.com',
    ],
    ['SIP_PUBLIC_ADDRESS', 'bridge', 'SIP_PUBLIC_ADDRESS: got "bridge", expected empty or an address'],
    ['RTP_PORTS', '20000-10000', 'RTP_PORTS: got "20000-10000", expected two ports from 1024 to 65535'],
  ])('refuse %s=%s and say what is allowed', (name, value, expected) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(expected)]);
  });

  it('take a list of GPUs, or one', () => {
    const read = (value: string) => readSettings({ CUDA_DEVICE: value }).CUDA_DEVICE;
    expect(['', '3', '1, 0', '0,1,'].map(read)).toEqual([[0], [3], [1, 0], [0, 1]]);
  });

  it('take processors one by one and in ranges, each once', () => {
    const read = (value: string) => readSettings({ ENGINE_CPUS: value }).ENGINE_CPUS;
    expect(['', '3', '9, 2-4', '1,0-1,'].map(read)).toEqual([[], [3], [2, 3, 4, 9], [0, 1]]);
  });

  it('turn early ends of turns off as 1, which no probability is above', () => {
    expect([readSettings({}), readSettings({ TURN_EARLY_ABOVE: '0.95' })].map((s) => s.TURN_EARLY_ABOVE)).toEqual([
      1, 0.95,
    ]);
    expect(problemsOf({ TURN_EARLY_ABOVE: '2' })).toEqual([
      expect.stringContaining('expected off or a number from 0 to 1'),
    ]);
  });

  it('name all that is wrong at once', () => {
    expect(problemsOf({ PORT: 'x', CHUNK_MS: 'y', ENGINE_WORKERS: '-1' })).toHaveLength(3);
  });

  it.each([
    ['HOST', { HOST: '0.0.0.0' }],
    ['TURN_EARLY_ABOVE', { TURN_EARLY_ABOVE: '0.1' }],
    ['SIP_PORT', { SIP_TRUNK: 'sip:pbx' }],
    ['SIP_USER', { SIP_REGISTRAR: 'sip:pbx', SIP_PORT: '5060' }],
    ['AUDIOSOCKET_ALLOW', { AUDIOSOCKET_ALLOW: '192.0.2.1,0.0.0.0/0' }],
    ['TRUSTED_PROXIES', { TRUSTED_PROXIES: '10.0.0.1,::/0' }],
    ['TRUSTED_PROXIES', { TRUSTED_PROXIES: '0.0.0.0/1,128.0.0.0/1' }],
    ['RTP_ALLOW', { RTP_ALLOW: '0.0.0.0/0' }],
    ['AUDIOSOCKET_ALLOW', { AUDIOSOCKET_ALLOW: '::/1,8000::/1' }],
  ])('refuse what contradicts itself: %s', (name, environment) => {
    expect(problemsOf(environment)).toEqual([expect.stringContaining(name)]);
  });

  it('take no setting that went, and say so where it asks for something else than there is now', () => {
    const settings = readSettings({ MODEL_GRAPHS: 'shipped', DECODE_RUN_TOKENS: '8', MESSAGE_MAX_BYTES: '4096' });
    expect(settings.MESSAGE_MAX_BYTES).toBe(65_536);
    expect(findWarnings(settings)).toEqual([
      'MODEL_GRAPHS is no longer a setting, its value is now rewritten: unset it',
      'DECODE_RUN_TOKENS is no longer a setting, its value is now 16: unset it',
      'MESSAGE_MAX_BYTES is no longer a setting, its value is now 65536: unset it',
    ]);
    expect(findWarnings(readSettings({ MODEL_GRAPHS: 'rewritten', MESSAGE_MAX_BYTES: '65536' }))).toEqual([]);
    expect(findWarnings(readSettings({ MODEL_GRAPHS: '', DECODE_RUN_TOKENS: '' }))).toEqual([]);
  });

  it('compute finals ahead at the end of an utterance at the latest', () => {
    expect(readSettings({}).EAGER_MS).toBe(192);
    expect(readSettings({ ENDPOINT_MS: '150' }).EAGER_MS).toBe(150);
  });

  it.each([
    ['TWILIO_AUTH_TOKN', 'TWILIO_AUTH_TOKEN'],
    ['PUBLIC_ULR', 'PUBLIC_URL'],
    ['ENGINE_WORKER', 'ENGINE_WORKERS'],
    ['PROT', 'PORT'],
  ])('notice that %s is a typo of %s', (typo, meant) => {
    expect(problemsOf({ [typo]: 'x' })).toEqual([`${typo}: no such setting, did you mean ${meant}?`]);
  });

  it.each(['PATH', 'HOME', 'PORTS', 'HOSTNAME', 'LOGNAME', 'npm_config_cache'])(
    'leave %s to whom it belongs',
    (name) => {
      expect(problemsOf({ [name]: 'x' })).toEqual([]);
    },
  );

  it('take apps by their origins, whatever path is written with them', () => {
    const { APP_ALLOWED_ORIGINS } = readSettings({
      APP_ALLOWED_ORIGINS: 'wss://a.example.com:443/calls, ws://10.0.0.7:9000',
    });
    expect(APP_ALLOWED_ORIGINS).toEqual(['wss://a.example.com', 'ws://10.0.0.7:9000']);
  });

  it('split keys at commas and drop the empty ones', () => {
    expect(readSettings({ API_KEYS: ' one, two ,,' }).API_KEYS).toEqual(['one', 'two']);
  });

  it('drop the slash at the end of an origin, which would double in every address made of it', () => {
    expect(readSettings({ PUBLIC_URL: 'https://bridge.example.com/', ALLOW_ANONYMOUS: 'true' }).PUBLIC_URL).toBe(
      'https://bridge.example.com',
    );
  });

  it('are read, or refused with a line for each problem, whatever the environment holds', () => {
    const names = fc.constantFrom(...Object.keys(SETTINGS));
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.oneof(fc.string(), fc.integer().map(String), fc.constantFrom('true', 'auto'))),
        (environment) => {
          const problems = problemsOf(environment);
          expect(problems.every((problem) => Object.keys(SETTINGS).some((name) => problem.startsWith(name)))).toBe(
            true,
          );
        },
      ),
    );
  });

  it('let in as many calls as the cores are good for, unless they say how many', () => {
    expect([1, 2, 0.5, 1.5, 16, 0.01].map(maxCallsOf)).toEqual([20, 40, 10, 30, 320, 1]);
    const byCores = maxCallsOf(coresAvailable());
    expect([readSettings({}).MAX_CALLS, readSettings({ MAX_CALLS: '0' }).MAX_CALLS]).toEqual([byCores, byCores]);
    expect(readSettings({ MAX_CALLS: '64' }).MAX_CALLS).toBe(64);
    const ASR_URL = 'http://127.0.0.1:8000/v1';
    const measured = [{}, { ASR_URL }, { ASR_URL, MAX_CALLS: '0' }, { ASR_URL, MAX_CALLS: '64' }].map(
      (environment) => readSettings(environment).isMaxCallsMeasured,
    );
    expect(measured).toEqual([false, true, true, false]);
  });

  it('keep rewritten graphs where the user keeps what can be made again, unless they say where', () => {
    expect(readSettings({ XDG_CACHE_HOME: '/var/cache/me', HOME: '/home/me' }).MODEL_CACHE_DIR).toBe(
      '/var/cache/me/trunkline',
    );
    expect(readSettings({ HOME: '/home/me' }).MODEL_CACHE_DIR).toBe('/home/me/.cache/trunkline');
    expect(isAbsolute(readSettings({}).MODEL_CACHE_DIR)).toBe(true);
    expect(readSettings({ MODEL_CACHE_DIR: 'graphs' }).MODEL_CACHE_DIR).toBe(resolve('graphs'));
  });

  it('look for installed models in the folder of the user, of the setting, or nowhere', () => {
    expect(readSettings({ XDG_STATE_HOME: '/var/state/me', HOME: '/home/me' }).MODELS_DIR).toBe(
      '/var/state/me/trunkline/models',
    );
    expect(readSettings({ HOME: '/home/me' }).MODELS_DIR).toBe('/home/me/.local/state/trunkline/models');
    expect(isAbsolute(readSettings({}).MODELS_DIR)).toBe(true);
    expect(readSettings({ MODELS_DIR: 'models' }).MODELS_DIR).toBe(resolve('models'));
    expect(readSettings({ MODELS_DIR: 'none' }).MODELS_DIR).toBe('none');
  });

  it('keep records in the folder of the user, of the setting, or nowhere, and models beside them', () => {
    expect(readSettings({ HOME: '/home/me' })).toMatchObject({
      DATA_DIR: '/home/me/.local/state/trunkline',
      isDataDirDefault: true,
    });
    expect(readSettings({ DATA_DIR: '/var/lib/trunkline', HOME: '/home/me' })).toMatchObject({
      DATA_DIR: '/var/lib/trunkline',
      MODELS_DIR: '/var/lib/trunkline/models',
      isDataDirDefault: false,
    });
    expect(readSettings({ DATA_DIR: 'none', HOME: '/home/me' })).toMatchObject({
      DATA_DIR: 'none',
      MODELS_DIR: '/home/me/.local/state/trunkline/models',
      isDataDirDefault: false,
    });
  });

  it('take the URL of a PostgreSQL database, and of no other', () => {
    expect(readSettings({ DATABASE_URL: 'postgres://me@db/calls' }).DATABASE_URL).toBe('postgres://me@db/calls');
    expect(problemsOf({ DATABASE_URL: 'mysql://me@db/calls' }).join()).toMatch(/^DATABASE_URL: .*postgres:/);
  });

  it('name what one of several gateways lacks', () => {
    const CLUSTER_KEY = 'k'.repeat(32);
    const [DATABASE_URL, GATEWAY_URL] = ['postgres://me@db/calls', 'http://10.0.0.7:8080'];
    expect(readSettings({ CLUSTER_KEY, DATABASE_URL, GATEWAY_URL })).toMatchObject({ CLUSTER_KEY, GATEWAY_URL });
    expect(problemsOf({ CLUSTER_KEY })).toEqual([
      expect.stringMatching(/^CLUSTER_KEY needs DATABASE_URL/),
      expect.stringMatching(/^CLUSTER_KEY needs GATEWAY_URL/),
    ]);
    expect(problemsOf({ CLUSTER_KEY: 'short', DATABASE_URL, GATEWAY_URL })).toEqual([
      expect.stringMatching(/^CLUSTER_KEY: .*32 ASCII characters/),
    ]);
    expect(problemsOf({ DATABASE_DIRECT_URL: DATABASE_URL })).toEqual([
      expect.stringMatching(/^DATABASE_DIRECT_URL needs DATABASE_URL/),
    ]);
  });
});

describe('settings that let other machines in', () => {
  const SHORT = 'fifteen-letters';
  const LONG = 'sixteen-letters!';
  const REACHES = [{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://bridge.example.com' }] as const;

  it.each(REACHES)('stop the start without keys, and say what to do: %o', (reach) => {
    const remedy = /^(HOST=0\.0\.0\.0|PUBLIC_URL=https:\/\/bridge\.example\.com) .*set API_KEYS.*ALLOW_ANONYMOUS=true/i;
    expect(problemsOf(reach)).toEqual([expect.stringMatching(remedy)]);
    expect(problemsOf({ ...reach, TWILIO_AUTH_TOKEN: 'a', CARRIER_TOKEN: LONG })).toEqual([
      expect.stringMatching(remedy),
    ]);
  });

  it.each(REACHES)('stop the start with keys that can be guessed, and do not repeat them: %o', (reach) => {
    const problems = problemsOf({ ...reach, API_KEYS: `${LONG},${SHORT}`, ALLOW_ANONYMOUS: 'true' });
    expect(problems).toEqual([
      expect.stringMatching(/^API_KEYS: 1 of 2 have fewer than 16 characters.*openssl rand -hex 16/),
    ]);
    expect(problems.join()).not.toContain(SHORT);
  });

  it.each(REACHES)('start with keys of sixteen characters, or for everybody: %o', (reach) => {
    expect(problemsOf({ ...reach, API_KEYS: LONG })).toEqual([]);
    expect(problemsOf({ ...reach, ALLOW_ANONYMOUS: 'true' })).toEqual([]);
  });

  it('do not stop a command that opens no port to them', () => {
    expect(readSettings({ PUBLIC_URL: 'https://bridge.example.com' }, { opensPorts: false })).toMatchObject({
      API_KEYS: [],
    });
    expect(() => readSettings({ SIP_TRUNK: 'sip:pbx' }, { opensPorts: false })).toThrow(ConfigError);
  });

  it.each([
    [{}, []],
    [{ API_KEYS: LONG, PUBLIC_URL: 'https://bridge.example.com', CARRIER_TOKEN: LONG }, []],
    [{ API_KEYS: SHORT, CARRIER_TOKEN: SHORT }, [/^API_KEYS: 1 of 1 have fewer than 16 characters/]],
    [{ ALLOW_ANONYMOUS: 'true' }, []],
    [
      { ALLOW_ANONYMOUS: 'true', PUBLIC_URL: 'https://bridge.example.com' },
      [/^ALLOW_ANONYMOUS=true .*https:\/\/bridge\.example\.com/],
    ],
    [
      { API_KEYS: LONG, HOST: '0.0.0.0', CARRIER_TOKEN: SHORT, ASTERISK_PASSWORD: SHORT },
      [/^CARRIER_TOKEN has fewer than 16 .*HOST=0\.0\.0\.0/, /^ASTERISK_PASSWORD has/],
    ],
  ])('warn of what an operator should know, without secrets: %o', (environment, expected) => {
    const warnings = findWarnings(readSettings(environment));
    expect(warnings).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
    expect(warnings.join()).not.toContain(SHORT);
  });

  it.each([
    ['http://127.0.0.1:3000/voice', '', 'set OUTBOUND_ALLOW=apps=127.0.0.1'],
    ['http://localhost/voice', 'flows=localhost', 'set OUTBOUND_ALLOW=apps=localhost'],
    ['https://[fd00::1]/voice', '10.0.0.0/8', 'set OUTBOUND_ALLOW=apps=fd00::1'],
    ['http://127.0.0.1:3000/voice', 'apps=127.0.0.0/8', null],
    ['http://localhost/voice', 'localhost', null],
    ['https://app.example.com/voice', '', null],
  ])("say of the app's TwiML at %s, with OUTBOUND_ALLOW=%s, what will be refused", (url, OUTBOUND_ALLOW, told) => {
    const warnings = findWarnings(readSettings({ APP_TWIML_URL: url, OUTBOUND_ALLOW }));
    expect(warnings).toEqual(told === null ? [] : [expect.stringContaining(told)]);
  });

  it('say that old names are read until 1.0, and what to set, once each', () => {
    const old = { APP_PLAY_ALLOW_PRIVATE: 'true', APP_TWIML_ALLOW_PRIVATE: 'true', BATCH_ALLOW_PRIVATE: 'false' };
    const settings = readSettings({ ...old, OUTBOUND_ALLOW: 'crm.local', HINTS_API_KEY: 'sesame' });
    expect(settings.OUTBOUND_ALLOW).toEqual(['crm.local', 'apps=0.0.0.0/0', 'apps=::/0']);
    const warnings = findWarnings(settings);
    expect(warnings).toHaveLength(3);
    expect(warnings.join()).toMatch(/APP_PLAY_ALLOW_PRIVATE is an old name, .* set OUTBOUND_ALLOW to .*apps=10/);
    expect(warnings.join()).toContain('HINTS_API_KEY is an old name, which is read until 1.0: set LLM_API_KEY');
    expect(warnings.join()).not.toContain('sesame');
    expect(problemsOf({ OUTBOUND_ALLOW: 'everything=10.0.0.0/8' }).join()).toContain('flows=10.0.0.0/8,crm.local');
  });
});

describe('isLoopback', () => {
  it.each(['localhost', '::1', '127.0.0.1', '127.255.0.9'])('knows %s', (host) => expect(isLoopback(host)).toBe(true));
  it.each(['0.0.0.0', '::', '128.0.0.1', '127.0.0.1.evil.example', 'localhost.evil.example', ''])(
    'is not fooled by "%s"',
    (host) => expect(isLoopback(host)).toBe(false),
  );
});

describe('childEnvironment', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('is our own with defaults, which what is set goes before', () => {
    vi.stubEnv('TRUNKLINE_TEST_SET', 'by the operator');
    const environment = childEnvironment({ TRUNKLINE_TEST_SET: 'default', TRUNKLINE_TEST_UNSET: 'default' });
    expect(environment).toMatchObject({
      TRUNKLINE_TEST_SET: 'by the operator',
      TRUNKLINE_TEST_UNSET: 'default',
      PATH: process.env['PATH'],
    });
  });
});
