import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bridge, formatBridge } from '../../../engine/models/bridge.ts';
import { findRecogniser } from '../../../engine/models/find-recogniser.ts';
import { MODEL_TABLE, type ModelTable, type RecogniserRow } from '../../../engine/models/model-table.ts';
import { Refusal } from '../../../engine/refusal.ts';
import { ADDED_MODELS } from '../../fakes/added-models.ts';

const family: RecogniserRow['family'] = { name: 'whisper', isLaidOut: (files) => files.includes('hears.onnx') };
const [added] = ADDED_MODELS;
const row = { ...(added as RecogniserRow), name: 'whisper', family };
const TABLE: ModelTable = [...MODEL_TABLE.filter(({ name }) => name !== row.name), row];

let modelsDir = '';

beforeEach(() => {
  modelsDir = mkdtempSync(join(tmpdir(), 'trunkline-recognisers-'));
});

afterEach(() => rmSync(modelsDir, { recursive: true }));

function install(name: string, bridge: Partial<Bridge> | null, files: readonly string[] = []): string {
  const folder = join(modelsDir, name);
  mkdirSync(folder);
  if (bridge !== null) writeFileSync(join(folder, 'hears.onnx'), '');
  for (const file of files) writeFileSync(join(folder, file), '');
  const whole = {
    format: 1,
    family: 'whisper',
    name,
    version: '1',
    languages: ['de'],
    licence: 'MIT',
    files: { 'hears.onnx': 'a'.repeat(64) },
  } as const;
  if (bridge !== null) writeFileSync(join(folder, 'bridge.json'), formatBridge({ ...whole, ...bridge }));
  return folder;
}

describe('findRecogniser', () => {
  it('finds one of the npm packages by its name', () => {
    expect(findRecogniser(TABLE, 'moonshine-tiny', { modelsDir: '', setting: 'ASR_MODEL' })).toMatchObject({
      row: MODEL_TABLE[0],
      folder: null,
      bridge: null,
    });
  });

  it('finds an installed one by its name', () => {
    const folder = install('mine', {});
    const found = findRecogniser(TABLE, 'mine', { modelsDir, setting: 'ASR_MODEL' });
    expect(found).toMatchObject({ row, folder, bridge: { languages: ['de'] } });
  });

  it('finds a folder by its path, wherever it is', () => {
    const folder = install('mine', {});
    expect(findRecogniser(TABLE, folder, { modelsDir: '', setting: 'ASR_MODEL' })).toMatchObject({
      row,
      folder,
      bridge: { family: 'whisper' },
    });
  });

  it('knows a published folder by its files', () => {
    const folder = install('mine', null, ['hears.onnx']);
    expect(findRecogniser(TABLE, folder, { modelsDir: '', setting: 'ASR_MODEL' })).toMatchObject({
      row,
      folder,
      bridge: null,
    });
  });

  it.each([
    [
      'a name that nothing has',
      'yours',
      'model_missing',
      /^ASR_MODEL: got "yours", expected one of moonshine-tiny, tone/,
    ],
    ['the name of a family', 'whisper', 'model_missing', /or a model that is installed in/],
    ['a folder that does not exist', '/no/such/folder', 'model_missing', /cannot be read: ENOENT/],
  ])('refuses %s', (_, wanted, code, message) => {
    install('mine', {});
    expect(refusalOf(wanted, modelsDir)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('refuses an installed voice', () => {
    install('heart', { family: 'hibari' });
    expect(refusalOf('heart', modelsDir)).toMatchObject({
      code: 'bad_settings',
      message: 'heart is a model of the family hibari, expected a recogniser',
    });
  });

  const parakeet = ['encoder-model.onnx', 'decoder_joint-model.onnx', 'vocab.txt'];

  it.each([
    ['is a pipe', (path: string) => execFileSync('mkfifo', [path]), 'bad_settings', /vocab\.txt is no file$/],
    ['is a folder', (path: string) => mkdirSync(path), 'bad_settings', /vocab\.txt is no file$/],
    ['links to nothing', (path: string) => symlinkSync('gone', path), 'model_missing', /vocab\.txt is a link to/],
    ['links to itself', (path: string) => symlinkSync(path, path), 'model_missing', /vocab\.txt cannot be read: ELOOP/],
  ])('refuses a folder of which a file %s', (_, make, code, message) => {
    const folder = install('mine', null, parakeet);
    rmSync(join(folder, 'vocab.txt'));
    make(join(folder, 'vocab.txt'));
    expect(refusalOf(folder, '')).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('refuses a graph that is larger than the format can be, without reading it', () => {
    const folder = install('mine', null, parakeet);
    truncateSync(join(folder, 'encoder-model.onnx'), 10 * 2 ** 30);
    expect(refusalOf(folder, '').message).toMatch(/encoder-model.onnx: got 10737418240 bytes, expected at most 2147/);
  });

  it('names the file that says what a folder is, when that is wrong', () => {
    const folder = install('mine', null, ['bridge.json']);
    expect(refusalOf(folder, '')).toMatchObject({
      code: 'bad_settings',
      message: `${folder}/bridge.json: got something that is not JSON, expected an object`,
    });
  });

  it('refuses a folder with other files', () => {
    const folder = install('mine', null, ['photo.jpg']);
    expect(refusalOf(folder, '')).toMatchObject({
      code: 'bad_settings',
      message: expect.stringMatching(
        /has the files of no recogniser, and no bridge.json; expected a folder of .*whisper$/,
      ),
    });
  });
});

function refusalOf(wanted: string, where: string): Refusal {
  try {
    findRecogniser(TABLE, wanted, { modelsDir: where, setting: 'ASR_MODEL' });
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
