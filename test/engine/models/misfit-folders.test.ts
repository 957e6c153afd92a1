import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FromEngine } from '../../../engine/contract.ts';
import { EngineHost } from '../../../engine/host.ts';
import { openFolder } from '../../../engine/refusal.ts';
import { systemTime } from '../../../engine/time.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { TONE } from '../settings.ts';

let folder = '';

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'trunkline-misfit-')), 'mine');
});

afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

/** What an engine says in the end that is to read with the folder. */
function lastWord(): Promise<FromEngine> {
  return new Promise((resolve) => {
    const send = (message: FromEngine) => !['progress', 'loading'].includes(message.kind) && resolve(message);
    const host = new EngineHost({ time: systemTime, outlet: { send, leave: () => undefined } });
    host.receive({ kind: 'configure', settings: { ...TONE, role: 'final', asrModel: folder } });
  });
}

const copy = (family: string, layout: string) =>
  cpSync(packagePath('fixtures', 'models', family, layout), folder, { recursive: true });

const VOCABULARY = 'vocab.txt';
const words = (count: number) => Array.from({ length: count }, (_, token) => `w${token} ${token}\n`).join('');

describe('a folder whose files are sound but do not fit one another', () => {
  it.each([
    ['other features than its encoder takes', 'config.json', '{"features_size": 64}', /invalid dimensions/],
    ['a vocabulary that is too short', VOCABULARY, `${words(2)}<blk> 2\n`, /numbers for each step, expected one for/],
    ['a vocabulary that is too long', VOCABULARY, `${words(900)}<blk> 900\n`, /out of data bounds/],
  ])('is refused by its name: %s', async (_, file, text, reason) => {
    copy('parakeet-tdt', 'int8');
    writeFileSync(join(folder, file), text);
    const refused = await lastWord();
    expect(refused).toMatchObject({ kind: 'refused', code: 'bad_settings', message: expect.stringMatching(reason) });
    expect(refused).toMatchObject({ message: expect.stringContaining(`the recogniser in ${folder} cannot be used: `) });
  });

  it('is refused where the graphs have changed places', async () => {
    copy('parakeet-tdt', 'sherpa');
    cpSync(packagePath('fixtures', 'models', 'parakeet-tdt', 'sherpa', 'joiner.onnx'), join(folder, 'decoder.onnx'));
    expect(await lastWord()).toMatchObject({ kind: 'refused', message: expect.stringContaining('decoder.onnx') });
  });

  it('is refused where its numbers are of another model', async () => {
    copy('moonshine-streaming', 'onnx');
    const config = { depth: 7, nheads: 2, head_dim: 16, vocab_size: 900 };
    writeFileSync(join(folder, 'streaming_config.json'), JSON.stringify(config));
    expect(await lastWord()).toMatchObject({ kind: 'refused', message: expect.stringContaining(folder) });
  });
});

describe("Qwen3-ASR's folder with files of another model", () => {
  const change = (file: string, edit: (json: Record<string, unknown>) => void) => {
    const path = join(folder, file);
    const json = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    edit(json);
    writeFileSync(path, JSON.stringify(json));
  };

  it.each([
    ['hiddenSize', 64, /the encoder gave \[\d+, 32\], expected \[\d+, 64\]/],
    ['melBins', 80, /invalid dimensions for input: mel/],
    ['audioPadToken', 3, /aligner\/tokenizer.json: <\|audio_pad\|>: got 315, expected 3/],
  ])('is refused where its aligner has another %s', async (property, value, reason) => {
    copy('qwen3-asr', 'float');
    change('aligner/config.json', (json) => Object.assign(json, { [property]: value }));
    expect(await lastWord()).toMatchObject({ kind: 'refused', message: expect.stringMatching(reason) });
  });

  it('is refused where its aligner has the graph of a recogniser', async () => {
    copy('qwen3-asr', 'float');
    cpSync(join(folder, 'encoder.onnx'), join(folder, 'aligner', 'classifier.onnx'));
    expect(await lastWord()).toMatchObject({ kind: 'refused', message: expect.stringContaining('classifier.onnx') });
  });

  it('is refused where its tokenizer has more tokens than its graphs', async () => {
    copy('qwen3-asr', 'int8');
    change('config.json', (json) => Object.assign(json, { vocabularySize: 400 }));
    change('tokenizer.json', (json) => Object.assign((json['model'] as { vocab: object }).vocab, { zzz: 399 }));
    expect(await lastWord()).toMatchObject({ kind: 'refused', message: expect.stringContaining(folder) });
  });
});

describe('openFolder', () => {
  const fail = (message: string) => () => Promise.reject(new Error(message));

  it('leaves errors of the machine, which pass, and those of models without a folder', async () => {
    await expect(openFolder('/m', fail('std::bad_alloc'))).rejects.toThrow(/^std::bad_alloc$/);
    await expect(openFolder(null, fail('it is broken'))).rejects.toThrow(/^it is broken$/);
    await expect(openFolder('/m', fail('it is broken'))).rejects.toThrow(/^the recogniser in \/m cannot be used/);
  });
});
