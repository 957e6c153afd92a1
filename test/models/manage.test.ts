import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findInstalled } from '../../engine/models/installed.ts';
import { addModels } from '../../src/cli/models/add.ts';
import {
  listModels,
  type ManageContext,
  packInto,
  removeModels,
  showFolder,
  verifyModels,
} from '../../src/cli/models/manage.ts';
import type { CatalogModel } from '../../src/models/catalog-model.ts';
import { checkInstalled } from '../../src/models/check-installed.ts';
import { LARK_FILES, larkCatalog, larkWheel, noise } from '../helpers/models.ts';
import { captureTerminal } from '../helpers/terminal.ts';

let folder = '';
let modelsDir = '';
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-models-'));
  modelsDir = join(folder, 'models');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function addLark(): Promise<void> {
  const wheel = join(folder, 'lark.whl');
  writeFileSync(wheel, larkWheel());
  const { terminal } = captureTerminal();
  const openRecogniser = () => Promise.reject(new Error('nothing is to be opened'));
  const context = { modelsDir, terminal, confirm: null, catalog: larkCatalog(), openRecogniser };
  expect(await addModels(['lark'], { from: [wheel], yes: false, json: false }, context)).toBe(0);
}

type Settings = Partial<ManageContext['settings']>;

const DEFAULTS = {
  TTS_MODEL: 'installed',
  TURN_MODEL: 'auto',
  ASR_MODEL: 'moonshine-tiny',
  ASR_FINAL_MODEL: '',
} as const;

/** Runs a command for people, and once more as JSON. */
async function run(
  command: (context: ManageContext) => Promise<number>,
  { settings = {}, catalog = larkCatalog() }: { settings?: Settings; catalog?: readonly CatalogModel[] } = {},
) {
  const all = { MODELS_DIR: modelsDir, ...DEFAULTS, ...settings };
  const [text, json] = [captureTerminal(), captureTerminal()];
  const code = await command({ settings: all, terminal: text.terminal, json: false, catalog });
  return {
    code,
    out: text.out.text,
    json: async () => {
      await command({ settings: all, terminal: json.terminal, json: true, catalog });
      return JSON.parse(json.out.text) as unknown;
    },
  };
}

describe('trunkline models list', () => {
  it('shows what could be installed, then what is, and what uses it', async () => {
    const before = await run(listModels);
    expect(before.out).toContain(
      'lark 1.0  not installed\n  351 kB, MIT, en\n  a bird\n  → trunkline models add lark\n',
    );
    await addLark();
    const after = await run(listModels);
    expect(after.out).toBe(`lark 1.0  installed, used for voices\n  351 kB, MIT, en\n  a bird\nIn ${modelsDir}\n`);
    expect(await after.json()).toEqual({
      folder: modelsDir,
      models: [
        {
          name: 'lark',
          family: 'hibari',
          version: '1.0',
          state: 'installed',
          languages: ['en'],
          licence: 'MIT',
          obligation: null,
          bytes: Object.values(LARK_FILES).reduce((sum, { length }) => sum + length, 0),
          use: 'voices',
          about: 'a bird',
          accuracy: null,
          advice: null,
        },
      ],
      problems: [],
    });
  });

  it('shows what would be better, with the command', async () => {
    await addLark();
    expect((await run(listModels, { catalog: larkCatalog(undefined, '2.0') })).out).toContain(
      '→ this release knows 2.0: trunkline models add lark',
    );
    expect((await run(listModels, { settings: { TTS_MODEL: 'flite' } })).out).toMatch(/^lark 1\.0 {2}installed\n/);
    rmSync(join(modelsDir, 'lark', 'lark.onnx'));
    mkdirSync(join(modelsDir, 'wren'));
    writeFileSync(join(modelsDir, 'wren', 'bridge.json'), '{}');
    const { out } = await run(listModels);
    expect(out).toContain('lark 1.0  not whole');
    expect(out).toContain('→ lark.onnx is missing: trunkline models add lark');
    expect(out).toContain('wren: bridge.json: format: got nothing, expected 1');
    expect((await run(listModels, { settings: { MODELS_DIR: 'none' } })).out).toContain('MODELS_DIR=none');
  });
});

describe('trunkline models verify', () => {
  it('reads every file, and names those that are not right', async () => {
    await addLark();
    expect(await run((context) => verifyModels([], context))).toMatchObject({ code: 0, out: 'lark 1.0: whole\n' });
    const place = join(modelsDir, 'lark');
    writeFileSync(join(place, 'lark.onnx'), noise(300_000, 77));
    truncateSync(join(place, 'tail.bin'), 7);
    writeFileSync(join(place, 'notes.txt'), 'mine');
    const { code, out, json } = await run((context) => verifyModels(['lark'], context));
    expect([code, out]).toEqual([
      1,
      [
        'lark 1.0: not whole',
        '  lark.onnx: has another SHA-256',
        '  tail.bin: got 7 bytes, expected 50001',
        '  trunkline models add lark gets them again',
        '  1 files that nobody reads: notes.txt',
        '',
      ].join('\n'),
    ]);
    expect(await json()).toMatchObject({ whole: false, models: [{ name: 'lark', unknown: ['notes.txt'] }] });
  });

  it('notices a bridge.json that was changed with its files', async () => {
    await addLark();
    const path = join(modelsDir, 'lark', 'bridge.json');
    const bridge = JSON.parse(readFileSync(path, 'utf8')) as { files: Record<string, string> };
    delete bridge.files['LICENSE'];
    bridge.files['tail.bin'] = 'a'.repeat(64);
    writeFileSync(path, JSON.stringify(bridge));
    const { out } = await run((context) => verifyModels([], context));
    expect(out).toContain('  LICENSE: bridge.json does not name it\n  tail.bin: not the one that was published\n');
  });

  it('knows which models are there', async () => {
    await addLark();
    await expect(run((context) => verifyModels(['wren'], context))).rejects.toThrow('wren is not installed');
  });
});

describe('trunkline doctor', () => {
  const settings = () => ({ MODELS_DIR: modelsDir, ...DEFAULTS });
  const check = (hashes = false) => checkInstalled(settings(), { hashes, catalog: larkCatalog() });

  it('says what would be better, then that it is whole, by size or by SHA-256', async () => {
    expect(await check()).toEqual([
      { name: 'lark', status: 'ok', detail: 'not installed: a bird; trunkline models add lark' },
    ]);
    await addLark();
    expect(await check()).toEqual([
      {
        name: 'lark',
        status: 'ok',
        detail: '1.0, used for voices; its 4 files are whole (by size; --hashes reads them)',
      },
    ]);
    writeFileSync(join(modelsDir, 'lark', 'lark.onnx'), noise(300_000, 77));
    expect((await check())[0]?.status).toBe('ok');
    const remedy = 'trunkline models add lark';
    expect(await check(true)).toEqual([
      { name: 'lark', status: 'warn', detail: `not whole: lark.onnx: has another SHA-256; ${remedy}` },
    ]);
    rmSync(join(modelsDir, 'lark', 'lark.onnx'));
    expect(await check()).toEqual([
      { name: 'lark', status: 'warn', detail: `not whole: lark.onnx is missing: ${remedy}` },
    ]);
  });
});

describe('trunkline models remove', () => {
  it('removes what is its own, and leaves what is not', async () => {
    await addLark();
    const { out } = await run((context) => removeModels(['lark'], context));
    expect(out).toContain('lark is removed.');
    expect(readdirSync(modelsDir)).toEqual(['.work']);
    await addLark();
    writeFileSync(join(modelsDir, 'lark', 'voices', 'mine.bin'), 'mine');
    expect((await run((context) => removeModels(['lark'], context))).out).toContain(
      'with files of others: voices/mine.bin',
    );
    expect(readdirSync(join(modelsDir, 'lark'), { recursive: true }).sort()).toEqual(['voices', 'voices/mine.bin']);
  });

  it('leaves alone what it does not know', async () => {
    await addLark();
    mkdirSync(join(modelsDir, 'wren'));
    symlinkSync(join(modelsDir, 'lark'), join(modelsDir, 'linked'));
    const remove = (name: string) => run((context) => removeModels([name], context));
    await expect(remove('wren')).rejects.toThrow('has no bridge.json, so nobody knows whose its files are');
    await expect(remove('linked')).rejects.toThrow('is a link: remove it yourself');
    for (const name of ['nothing', './', '.work', '..'])
      await expect(remove(name)).rejects.toThrow(`${name} is not installed`);
    expect(existsSync(join(modelsDir, 'lark', 'lark.onnx'))).toBe(true);
  });
});

describe('trunkline models where and pack', () => {
  it('say where the models are', async () => {
    await addLark();
    const { out, json } = await run(showFolder);
    expect(out).toBe(`${modelsDir}\n`);
    expect(await json()).toMatchObject({ folder: modelsDir, models: ['lark'] });
    await expect(run(showFolder, { settings: { MODELS_DIR: 'none' } })).rejects.toThrow('MODELS_DIR=none: set it');
  });

  it('write a bundle that is whole or not there', async () => {
    const bundle = join(folder, 'bundle.tar');
    const pack = () => {
      const { terminal } = captureTerminal();
      const settings = { MODELS_DIR: modelsDir, ...DEFAULTS };
      return packInto(bundle, [], { settings, terminal, json: true, catalog: larkCatalog() });
    };
    await expect(pack()).rejects.toThrow('there is nothing to pack');
    await addLark();
    writeFileSync(join(modelsDir, 'lark', 'tail.bin'), noise(50_001, 66));
    await expect(pack()).rejects.toThrow('lark: tail.bin has another SHA-256 than bridge.json says');
    expect(readdirSync(folder).sort()).toEqual(['lark.whl', 'models']);
    await addLark();
    expect(await pack()).toBe(0);
    await expect(pack()).rejects.toThrow('bundle.tar exists already: name another file');
    expect(findInstalled(modelsDir, 'hibari')).toHaveLength(1);
  });
});
