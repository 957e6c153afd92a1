import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';
import { findWarnings, readSettings } from '../../../../src/foundation/settings/config.ts';
import { describeSetting } from '../../../../src/foundation/settings/effective-settings.ts';
import { openSettingsFile, readSettingsFile } from '../../../../src/foundation/settings/file/open-settings-file.ts';
import { pathOf, SETTING_PLACES } from '../../../../src/foundation/settings/file/setting-places.ts';
import { settingsSchema } from '../../../../src/foundation/settings/file/settings-schema.ts';
import { writeSettingsFile } from '../../../../src/foundation/settings/file/write-settings-file.ts';
import { SETTINGS, type SettingName } from '../../../../src/foundation/settings/settings.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-settings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(text: string, name = 'trunkline.yaml', mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('the settings', () => {
  it('are those of the environment, then those of the file, then the defaults, and say which', () => {
    const path = fileWith('server:\n  port: 9000\n  host: 127.0.0.2\n');
    const settings = readSettings({ PORT: '9001' }, { file: readSettingsFile(path, {}) });
    expect(settings).toMatchObject({ PORT: 9001, HOST: '127.0.0.2', LOG_LEVEL: 'info' });
    expect(describeSetting('PORT', settings)).toMatchObject({ from: 'environment', key: 'server.port' });
    expect(describeSetting('HOST', settings).from).toBe(`${path}:3:9`);
    expect(describeSetting('LOG_LEVEL', settings).from).toBe('default');
    expect(settings.sources.filePath).toBe(path);
  });

  it('take an empty variable as none', () => {
    const file = readSettingsFile(fileWith('server: {port: 9000}'), {});
    expect(readSettings({ PORT: '' }, { file }).PORT).toBe(9000);
  });

  it('cannot be used where the file cannot, and the file must go with the environment', () => {
    const wrong = readSettingsFile(fileWith('server: {port: x}'), {});
    expect(() => readSettings({ PORT: '9000' }, { file: wrong })).toThrow(
      /trunkline\.yaml:1:16: server\.port: got "x"/,
    );
    const open = readSettingsFile(fileWith('server: {host: 0.0.0.0}'), {});
    expect(() => readSettings({}, { file: open })).toThrow(/HOST=0\.0\.0\.0 is reachable from other machines/);
  });
});

describe('trunkline.yaml', () => {
  it('is the first that there is: named by TRUNKLINE_CONFIG, of the user, of the machine', () => {
    for (const name of ['user', 'machine']) {
      mkdirSync(join(folder, name));
      fileWith(`apps: {greeting: ${name}}`, join(name, 'trunkline.yaml'));
    }
    const folders = [join(folder, 'user'), join(folder, 'machine')];
    const greeting = (environment: Record<string, string>) =>
      openSettingsFile(environment, folders)?.values.get('APP_GREETING')?.text;
    expect(greeting({})).toBe('user');
    expect(greeting({ TRUNKLINE_CONFIG: fileWith('apps: {greeting: named}', 'mine.yaml') })).toBe('named');
    expect(greeting({ TRUNKLINE_CONFIG: 'none' })).toBeUndefined();
    rmSync(join(folder, 'user'), { recursive: true });
    expect(greeting({})).toBe('machine');
    rmSync(join(folder, 'machine'), { recursive: true });
    expect(openSettingsFile({}, folders)).toBeNull();
  });

  it('stops the start where it cannot be read', () => {
    const named = join(folder, 'gone.yaml');
    expect(openSettingsFile({ TRUNKLINE_CONFIG: named }, [])?.problems).toEqual([
      `TRUNKLINE_CONFIG: ${named} cannot be read: ENOENT`,
    ]);
    mkdirSync(join(folder, 'trunkline.yaml'));
    expect(openSettingsFile({}, [folder])?.problems.join()).toContain('cannot be read: it is not a file');
    expect(readSettingsFile(fileWith('#'.repeat(300_000), 'big'), {}).problems.join()).toContain('more than 262144');
    writeFileSync(join(folder, 'latin'), Buffer.from([0x23, 0xe4, 0x0a]));
    expect(readSettingsFile(join(folder, 'latin'), {}).problems.join()).toContain('it is not UTF-8');
  });

  it('names secrets in files from its own folder', () => {
    writeFileSync(join(folder, 'keys'), 'sesame-sesame-sesame\n');
    const file = readSettingsFile(fileWith('security:\n  apiKeys: {file: keys}\n', 'trunkline.yaml', 0o644), {});
    expect(readSettings({}, { file }).API_KEYS).toEqual(['sesame-sesame-sesame']);
    expect(file.notices).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')('is warned of where others read its secrets, or may write it', () => {
    const text = 'cluster: {key: 0123456789abcdef0123456789abcdefx}\n';
    expect(readSettingsFile(fileWith(text), {}).notices).toEqual([]);
    const file = readSettingsFile(fileWith(text, 'open.yaml', 0o666), {});
    expect(file.notices).toHaveLength(2);
    expect(file.notices.join()).toMatch(/may change it.*it has secrets \(CLUSTER_KEY\), and every user .* may read it/);
    expect(file.notices.join()).not.toContain('0123456789');
    const harmless = readSettingsFile(fileWith('apps: {greeting: Hi.}', 'open.yaml', 0o666), {});
    expect(findWarnings(readSettings({}, { file: harmless })).join()).toContain('may change it');
  });
});

describe('a file that is written from the settings in use', () => {
  const GIVEN: Partial<Record<SettingName, string>> = {
    PORT: '9000',
    API_KEYS: 'sesame-sesame-sesame',
    APP_URL: 'wss://me:sesame@app.example.com/calls',
    APP_GREETING: 'It costs ${5}: yes',
    SIP_ALLOW: '10.0.0.0/8, 192.0.2.7',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    ALLOW_ANONYMOUS: 'false',
    CHUNK_MS: '500',
  };

  function written(given = GIVEN, all = false): string {
    const texts = new Map(
      Object.entries(given).map(([name, text]) => [name as SettingName, { text, isVariable: true }]),
    );
    return writeSettingsFile(texts, { all, schemaPath: '/schema.json' });
  }

  it('gives the same settings', () => {
    const file = readSettingsFile(fileWith(written()), GIVEN);
    expect(file.problems).toEqual([]);
    const { sources: _, ...before } = readSettings(GIVEN);
    const { sources: __, ...after } = readSettings({}, { file });
    expect(after).toEqual(before);
  });

  it.each([true, false])('has every default as a comment that can be used as it is (all: %s)', (all) => {
    expect(written()).not.toContain('sesame');
    const text = written({}, all);
    for (const name of Object.keys(SETTINGS)) expect(text).toMatch(new RegExp(`\\b${name},\\s`));
    expect(readSettingsFile(fileWith(text), {}).values.size).toBe(0);
    const uncommented = text.replace(/^ {2}#(?! )|^ {2}#(?= {2}- )/gm, '  ');
    const usual = uncommented.split('\n').filter((line) => !/^ {2}[a-zA-Z0-9]+: ""( #|$)/.test(line));
    const { problems, values } = readSettingsFile(fileWith(usual.join('\n')), {});
    expect(problems).toEqual([]);
    for (const [name, { text: value }] of values) expect(value).toBe(SETTINGS[name].defaultText);
    expect(values.size).toBeGreaterThan(60);
  });

  it('leaves secrets of another file where they are', () => {
    const given = new Map([['RECORD_KEY' as const, { text: 'sesame-sesame', isVariable: false }]]);
    const text = writeSettingsFile(given, { all: false, schemaPath: '/schema.json' });
    expect(text).not.toContain('sesame');
    expect(text).toContain('  # It is set in the file that is read now.\n  #recordKey: ""\n');
  });
});

describe('docs/reference/settings.schema.json', () => {
  it('is what `npm run docs` writes, with every setting', () => {
    const text = settingsSchema();
    expect(readFileSync(packagePath('docs', 'reference', 'settings.schema.json'), 'utf8')).toBe(text);
    const { properties } = JSON.parse(text) as { properties: Record<string, { properties: object }> };
    const paths = Object.entries(properties).flatMap(([part, { properties: keys }]) =>
      Object.keys(keys).map((key) => pathOf({ part, key })),
    );
    expect(paths.toSorted()).toEqual(SETTING_PLACES.map(pathOf).toSorted());
  });
});
