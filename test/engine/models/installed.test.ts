import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bridge, BridgeError, formatBridge, parseBridge } from '../../../engine/models/bridge.ts';
import { findInstalled, readInstalled } from '../../../engine/models/installed.ts';
import { loadModels } from '../../../engine/models/load-models.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { TONE } from '../settings.ts';

const SHA256 = 'a'.repeat(64);
const LARK: Bridge = {
  format: 1,
  family: 'hibari',
  name: 'lark',
  version: '1.0',
  languages: ['en-US', 'zh-Hant-TW'],
  licence: 'Apache-2.0',
  files: { 'model.onnx': SHA256, 'voices/a.bin': SHA256 },
};

describe('parseBridge', () => {
  it('reads what formatBridge writes', () => {
    expect(parseBridge(formatBridge(LARK))).toEqual(LARK);
  });

  it.each([
    ['{', 'got something that is not JSON, expected an object'],
    ['[]', 'got an array of 0, expected an object'],
    [{ extra: 1 }, 'got the property "extra", expected only format, family'],
    [{ format: 2 }, 'format: got 2, expected 1'],
    [{ family: 'tone' }, 'family: got "tone", expected one of hibari, kokoro, smart-turn'],
    [{ name: '../lark' }, 'name: got "../lark", expected lower-case letters'],
    [{ name: '..' }, 'name: got ".."'],
    [{ version: '' }, 'version: got "", expected a version'],
    [{ languages: ['english'] }, 'languages: got "english", expected BCP-47 tags'],
    [{ languages: 'en' }, 'languages: got "en", expected an array of at most 200'],
    [{ licence: 'MIT\n' }, 'licence: got "MIT\\n", expected a line such as MIT'],
    [{ files: {} }, 'files: got 0, expected 1 to 1000'],
    [{ files: { '../up': SHA256 } }, 'files: got "../up", expected paths inside of the folder'],
    [{ files: { '/etc/passwd': SHA256 } }, 'files: got "/etc/passwd"'],
    [{ files: { 'a/../b': SHA256 } }, 'files: got "a/../b"'],
    [{ files: { 'a\\b': SHA256 } }, 'files: got "a\\\\b"'],
    [{ files: { 'bridge.json': SHA256 } }, 'files: got "bridge.json"'],
    [{ files: { model: SHA256.toUpperCase() } }, 'files: model: got "AAAA'],
  ])('refuses %j', (change, message) => {
    const text = typeof change === 'string' ? change : JSON.stringify({ ...LARK, ...change });
    expect(() => parseBridge(text)).toThrow(BridgeError);
    expect(() => parseBridge(text)).toThrow(message);
  });
});

describe('installed models', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-models-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const install = (name: string, bridge: object, files: readonly string[] = ['model.onnx', 'voices/a.bin']) => {
    mkdirSync(join(folder, name, 'voices'), { recursive: true });
    writeFileSync(join(folder, name, 'bridge.json'), JSON.stringify(bridge));
    for (const file of files) writeFileSync(join(folder, name, file), '');
  };

  it('are found by family, in the order of their names, also through a link', () => {
    install('lark', LARK);
    install('turner', { ...LARK, family: 'smart-turn', name: 'turner' });
    install('swift', { ...LARK, name: 'swift' });
    mkdirSync(join(folder, 'shelf'));
    symlinkSync(join(folder, 'lark'), join(folder, 'linked'));
    expect(findInstalled(folder, 'hibari').map(({ name }) => name)).toEqual(['lark', 'swift']);
    expect(findInstalled(folder, 'smart-turn')).toEqual([
      { name: 'turner', folder: join(folder, 'turner'), bridge: { ...LARK, family: 'smart-turn', name: 'turner' } },
    ]);
    expect(readInstalled(folder).problems).toEqual(['linked: its bridge.json is of lark, expected linked']);
  });

  it('leave out what is not whole, and say why', () => {
    install('lark', LARK, ['model.onnx']);
    install('swift', { ...LARK, name: 'swift', format: 3 });
    install('.swift.part', LARK);
    mkdirSync(join(folder, 'odd', 'bridge.json'), { recursive: true });
    expect(readInstalled(folder)).toEqual({
      models: [],
      problems: [
        'lark: voices/a.bin is missing',
        'odd: bridge.json: expected a file of at most 1048576 bytes',
        'swift: bridge.json: format: got 3, expected 1; a later release may read it',
      ],
    });
  });

  it('that cannot be used are told when an engine starts', async () => {
    install('lark', LARK, ['model.onnx']);
    const { warning } = await loadModels(MODEL_TABLE, { ...TONE, modelsDir: folder }, () => undefined);
    expect(warning).toBe('installed models are not used: lark: voices/a.bin is missing');
  });

  it('are none where there is no folder', () => {
    expect(readInstalled('')).toEqual({ models: [], problems: [] });
    expect(readInstalled(join(folder, 'nowhere'))).toEqual({ models: [], problems: [] });
  });
});
