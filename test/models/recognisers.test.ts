/** `trunkline models add` with recognisers: from their publisher's address, file by file, and from folders. */
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findInstalledNamed } from '../../engine/models/installed.ts';
import { type AddContext, addModels } from '../../src/cli/models/add.ts';
import { listModels, verifyModels } from '../../src/cli/models/manage.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { formatBytes } from '../../src/foundation/format-bytes.ts';
import { COMMUNITY_LICENCE, PUBLISHED_RECOGNISERS } from '../../src/foundation/published-recognisers.ts';
import { adviceFor } from '../../src/foundation/recogniser-languages.ts';
import { CATALOG } from '../../src/models/catalog.ts';
import { bytesOf, type CatalogFile, type CatalogModel } from '../../src/models/catalog-model.ts';
import { Checksum, checksumsOf } from '../../src/models/checksum.ts';
import { type Answer, noise, type Publisher, publishFiles, sendRange } from '../helpers/models.ts';
import { captureTerminal } from '../helpers/terminal.ts';

const STREAMING = packagePath('fixtures', 'models', 'moonshine-streaming', 'ort-split');
const PARAKEET = packagePath('fixtures', 'models', 'parakeet-tdt', 'int8');
const QWEN = packagePath('fixtures', 'models', 'qwen3-asr', 'int8');
const SHERPA = packagePath('fixtures', 'models', 'parakeet-tdt', 'sherpa');

const FILES: Readonly<Record<string, Buffer>> = {
  'encoder.ort': noise(200_000, 11),
  'decoder.ort': noise(90_001, 12),
  'tokenizer.bin': noise(500, 13),
};

let folder = '';
let modelsDir = '';
const publishers: Publisher[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-recognisers-'));
  modelsDir = join(folder, 'models');
});

afterEach(async () => {
  for (const publisher of publishers.splice(0)) await publisher.close();
  rmSync(folder, { recursive: true });
});

async function publishAll(answer?: Answer, files = FILES): Promise<string> {
  const publisher = await publishFiles(files, answer);
  publishers.push(publisher);
  return publisher.url;
}

/** A table with one recogniser of {@link FILES}; the publisher tells the SHA-256 of the tokenizer alone. */
function wrenCatalog(addresses: readonly string[]): readonly CatalogModel[] {
  const files = Object.entries(FILES).map(([path, data]): CatalogFile => {
    const sum = new Checksum();
    sum.add(data);
    const { bytes, sha256, crc32c } = sum.finish();
    return path === 'tokenizer.bin' ? { path, bytes, sha256 } : { path, bytes, crc32c };
  });
  return [
    {
      name: 'wren',
      family: 'moonshine-streaming',
      version: '1',
      about: 'recogniser for captions',
      accuracy: 'WER 1 %',
      licence: 'CC-BY-4.0',
      obligation: 'name the wren',
      owner: 'Nobody',
      languages: ['de'],
      isAdvised: false,
      setting: 'ASR_MODEL',
      files,
      extras: [],
      packages: [],
      addresses,
    },
  ];
}

async function add(
  names: readonly string[],
  from: readonly string[],
  context: Partial<AddContext> = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const { terminal, out, err } = captureTerminal();
  const openRecogniser = () => Promise.resolve(['en']);
  const all = { modelsDir, terminal, confirm: null, allowPrivate: true, openRecogniser, ...context };
  const code = await addModels(names, { from, yes: true, json: false }, all);
  return { code, out: out.text, err: err.text };
}

const settings = () => ({
  MODELS_DIR: modelsDir,
  TTS_MODEL: 'installed',
  TURN_MODEL: 'auto',
  ASR_MODEL: 'wren',
  ASR_FINAL_MODEL: '',
});

describe('checksums', () => {
  it('are SHA-256 and CRC-32C, whole or in chunks of any length', async () => {
    const sum = (...chunks: Uint8Array[]) => {
      const made = new Checksum();
      for (const chunk of chunks) made.add(chunk);
      return made.finish().crc32c;
    };
    // RFC 3720, B.4, and the check value of CRC-32/ISCSI.
    expect(sum(Buffer.from('123456789'))).toBe('e3069283');
    expect(sum(Buffer.alloc(32))).toBe('8a9136aa');
    expect(sum(Buffer.alloc(32, 0xff))).toBe('62a8ab43');
    const data = noise(1000, 5);
    expect(sum(data.subarray(0, 3), data.subarray(3, 500), data.subarray(500))).toBe(sum(data));
    writeFileSync(join(folder, 'file'), 'abc');
    expect(await checksumsOf(join(folder, 'file'))).toMatchObject({
      bytes: 3,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    });
  });
});

describe('the table', () => {
  it('has files and addresses of every recogniser that the messages name', () => {
    for (const { name, use } of PUBLISHED_RECOGNISERS) {
      const model = CATALOG.find((one) => one.name === name);
      expect(model?.setting, name).toBe(use === 'live' ? 'ASR_MODEL' : 'ASR_FINAL_MODEL');
      expect(model?.files.length, name).toBeGreaterThan(2);
      for (const address of model?.addresses ?? []) expect(address).toMatch(/^https:\/\/[a-z.]+\/[\w./-]+[^/]$/);
      expect(model?.addresses.length, name).toBeGreaterThan(0);
    }
  });

  it('knows every file by a checksum, and models by their sizes', () => {
    const files = CATALOG.flatMap((model) => [...model.files, ...model.extras]);
    for (const file of files) {
      const [checksum, length] = 'sha256' in file ? [file.sha256, 64] : [file.crc32c, 8];
      expect(checksum, file.path).toMatch(new RegExp(`^[0-9a-f]{${length}}$`));
    }
    const sizes = Object.fromEntries(CATALOG.map((model) => [model.name, bytesOf(model)]));
    expect(sizes).toMatchObject({
      'moonshine-streaming-tiny-en': 45_233_659,
      'moonshine-streaming-small-en': 142_300_974,
      'moonshine-streaming-medium-en': 269_141_623,
      'moonshine-streaming-small-ja': 121_803_780,
      'moonshine-streaming-tiny-zh': 32_290_152,
      'qwen3-asr-0.6b': 987_015_347,
      'qwen3-asr-1.7b': 2_404_222_421,
      'moonshine-base-en': 141_001_190,
      'moonshine-base-es': 64_818_159,
      'whisper-base': 79_381_170,
    });
  });

  it('is what the guide says', () => {
    const lines = readFileSync(packagePath('docs', 'guide', 'models.md'), 'utf8').split('\n');
    for (const { name, accuracy, licence } of PUBLISHED_RECOGNISERS) {
      const model = CATALOG.find((one) => one.name === name);
      const size = `| ${formatBytes(model === undefined ? 0 : bytesOf(model))} |`;
      // A table in one look before it names some of them, too, without their sizes.
      const rows = lines.filter((line) => line.startsWith('|') && line.includes(`\`${name}\``));
      const [row = '', ...others] = rows.filter((line) => line.includes(size));
      expect(others, name).toEqual([]);
      expect(row).toContain(`| ${accuracy}`);
      if (licence !== COMMUNITY_LICENCE) expect(row).toContain(`| ${licence} |`);
    }
  });

  it('is what messages about languages advise', () => {
    expect(adviceFor('es-MX')).toBe(
      '; moonshine-streaming-small-es (ASR_MODEL) and parakeet-tdt-0.6b-v3 (ASR_FINAL_MODEL) can be installed for ' +
        'it: trunkline models add moonshine-streaming-small-es',
    );
    // Those whose licence is not for business are named only where there is no other one.
    expect(adviceFor('uk')).toMatch(/^; parakeet-tdt-0\.6b-v3 \(ASR_FINAL_MODEL\) can be installed/);
    expect(adviceFor('ko')).toMatch(/^; qwen3-asr-0\.6b \(ASR_FINAL_MODEL\) can be installed/);
    expect(adviceFor('eu')).toMatch(/^; whisper-small \(ASR_FINAL_MODEL\) can be installed/);
    expect(adviceFor('qu')).toBe('');
  });
});

describe('a recogniser from its publisher', () => {
  it('comes file by file; what it asks for and the setting that uses it are told', async () => {
    const address = await publishAll();
    const { code, out, err } = await add(['wren'], [], { catalog: wrenCatalog([address]) });
    expect(code).toBe(0);
    expect(err).toContain(`  licence  CC-BY-4.0, Nobody\n           name the wren\n`);
    expect(err).toContain(`  fetches  291 kB: 3 files of ${address}\n`);
    expect(err).toMatch(/ {2}keeps {4}291 kB in .*wren \([\d.]+ [MG]B are free\)\n/);
    expect(err).toContain('whose SHA-256 this release does not know');
    expect(out).toContain('A server uses wren with ASR_MODEL=wren, from its start on.');
    for (const [path, data] of Object.entries(FILES))
      expect(readFileSync(join(modelsDir, 'wren', path)).equals(data), path).toBe(true);
  });

  it('has the SHA-256 of what came in its bridge.json, by which later damage is found', async () => {
    const catalog = wrenCatalog([await publishAll()]);
    await add(['wren'], [], { catalog });
    const encoder = join(modelsDir, 'wren', 'encoder.ort');
    const { sha256 } = await checksumsOf(encoder);
    expect(findInstalledNamed(modelsDir, 'wren')?.bridge.files['encoder.ort']).toBe(sha256);
    const verify = () =>
      verifyModels([], { settings: settings(), terminal: captureTerminal().terminal, json: false, catalog });
    expect(await verify()).toBe(0);
    writeFileSync(encoder, noise(200_000, 99));
    expect(await verify()).toBe(1);
    expect((await add(['wren'], [], { catalog })).code).toBe(0);
    expect(await verify()).toBe(0);
  });

  it('goes on where the connection broke, and fetches no file twice', async () => {
    const address = await publishAll((request, response, data, nth) => {
      if (nth !== 1) sendRange(request, response, data, nth);
      else
        response
          .writeHead(200, { 'content-length': data.length })
          .write(data.subarray(0, 100_000), () => response.destroy());
    });
    expect((await add(['wren'], [], { catalog: wrenCatalog([address]) })).code).toBe(0);
    expect(publishers[0]?.ranges).toEqual(['', expect.stringMatching(/^bytes=\d{5,6}-$/), '', '']);
  });

  it('goes on within a file when the command is given again', async () => {
    const address = await publishAll((request, response, data, nth) => {
      if (nth > 2) sendRange(request, response, data, nth);
      else if (nth === 2) response.writeHead(503).end();
      else
        response
          .writeHead(200, { 'content-length': data.length })
          .write(data.subarray(0, 100_000), () => response.destroy());
    });
    const catalog = wrenCatalog([address]);
    await expect(add(['wren'], [], { catalog })).rejects.toThrow('503, expected 200');
    expect((await add(['wren'], [], { catalog })).code).toBe(0);
    expect(publishers[0]?.ranges[2]).toMatch(/^bytes=\d{5,6}-$/);
  });

  it('comes from the next address where the first has it not, or has something else', async () => {
    const nothing = await publishAll((_, response) => response.writeHead(403).end());
    const wrong = await publishAll((_, response, data) => response.end(noise(data.length, 7)));
    const address = await publishAll();
    expect((await add(['wren'], [], { catalog: wrenCatalog([nothing, wrong, address]) })).code).toBe(0);
    await expect(
      add(['wren'], [], { catalog: wrenCatalog([nothing, wrong]), modelsDir: join(folder, 'b') }),
    ).rejects.toThrow(
      /^wren: encoder\.ort could not be fetched\n.*403, expected 200\n.*what came has the CRC-32C [0-9a-f]{8}, expected [0-9a-f]{8}\nOn a machine with a network:\n {2}curl -fL --create-dirs --output-dir trunkline-models -O 'http.*\/\{encoder\.ort,decoder\.ort,tokenizer\.bin\}'\n/,
    );
    expect(existsSync(join(folder, 'b', 'wren'))).toBe(false);
  });

  it('is taken from a folder that somebody has downloaded himself', async () => {
    const own = join(folder, 'own');
    mkdirSync(own);
    for (const [path, data] of Object.entries(FILES)) writeFileSync(join(own, path), data);
    writeFileSync(join(own, 'README.md'), 'hello');
    const catalog = wrenCatalog(['https://example.com/model']);
    expect((await add(['wren'], [own], { catalog })).code).toBe(0);
    expect(Object.keys(findInstalledNamed(modelsDir, 'wren')?.bridge.files ?? {})).toEqual(Object.keys(FILES).sort());
    writeFileSync(join(own, 'decoder.ort'), noise(90_001, 42));
    rmSync(join(modelsDir, 'wren'), { recursive: true });
    await expect(add(['wren'], [own], { catalog })).rejects.toThrow(
      /decoder\.ort \(90 kB; one of that name has other bytes\)\n.*\n.*curl .*\n.*under a name of your own:\n {2}trunkline models add my-wren --from /,
    );
  });
});

describe("a recogniser's folder of somebody's own", () => {
  /** A copy without its bridge.json, as published folders are. */
  function copyOf(source: string, ...without: string[]): string {
    const own = join(folder, 'own');
    cpSync(source, own, { recursive: true });
    for (const file of ['bridge.json', ...without]) rmSync(join(own, file));
    return own;
  }

  it.each([
    ['moonshine-streaming', STREAMING, 9],
    ['parakeet-tdt', PARAKEET, 4],
    ['parakeet-tdt', SHERPA, 4],
    ['qwen3-asr', QWEN, 4],
  ])('is known by its files: %s', async (family, source, files) => {
    const own = copyOf(source);
    writeFileSync(join(own, 'notes.txt'), 'not read');
    writeFileSync(join(own, 'decoder.int8.onnx.data'), 'weights of no graph that is read');
    const opened: string[] = [];
    const openRecogniser = async (path: string) => {
      opened.push(path);
      return ['fr'];
    };
    const { code, err, out } = await add(['mine'], [own], { openRecogniser });
    expect([code, opened]).toEqual([0, [own]]);
    expect(err).toContain('the speech engine opens');
    expect(out).toContain('ASR_MODEL=mine');
    const { bridge } = findInstalledNamed(modelsDir, 'mine') ?? {};
    expect(bridge).toMatchObject({ family, name: 'mine', languages: ['fr'], licence: 'not stated' });
    expect(Object.keys(bridge?.files ?? {})).toHaveLength(files);
  });

  it('is of the language that its new name ends in, and keeps its licence', async () => {
    const own = copyOf(STREAMING);
    writeFileSync(join(own, 'LICENSE'), 'Sing.');
    await add(['mine-de'], [own]);
    const { bridge } = findInstalledNamed(modelsDir, 'mine-de') ?? {};
    expect(bridge?.languages).toEqual(['de']);
    expect(bridge?.files).toHaveProperty('LICENSE');
  });

  it.each([
    ['a Moonshine folder', STREAMING, 'encoder.ort', /moonshine-streaming, but lacks encoder\.onnx or encoder\.ort$/],
    ['a Parakeet folder', PARAKEET, 'vocab.txt', /parakeet-tdt, but lacks vocab\.txt$/],
    ['a Qwen3-ASR folder', QWEN, 'tokenizer.json', /qwen3-asr, but lacks tokenizer\.json$/],
    ['one of sherpa-onnx', SHERPA, 'joiner.onnx', /parakeet-tdt, but lacks joiner\.int8\.onnx or joiner\.onnx$/],
  ])('is refused with what is missing: %s', async (_, source, without, message) => {
    await expect(add(['mine'], [copyOf(source, without)])).rejects.toThrow(message);
    expect(existsSync(join(modelsDir, 'mine'))).toBe(false);
  });

  it('is refused when the engine does not open it, when it is none, and under a name that cannot be', async () => {
    const own = copyOf(PARAKEET);
    const openRecogniser = () => Promise.reject(new Error('got a picture'));
    await expect(add(['mine'], [own], { openRecogniser })).rejects.toThrow(/does not open it: got a picture$/);
    mkdirSync(join(folder, 'empty'));
    await expect(add(['mine'], [join(folder, 'empty')])).rejects.toThrow('the files of no recogniser');
    await expect(add(['My Model'], [own])).rejects.toThrow('My Model: expected lower-case letters');
    copyFileSync(join(PARAKEET, 'vocab.txt'), join(folder, 'vocab.txt'));
    await expect(add(['mine'], [join(folder, 'vocab.txt')])).rejects.toThrow('mine: there is no such model');
  });

  it('of our exporters is taken by its bridge.json, which says what it is', async () => {
    const { code, out } = await add([], [STREAMING]);
    expect([code, out]).toEqual([0, expect.stringContaining('ASR_MODEL=streaming-fixture-ort')]);
    await expect(add(['mine'], [STREAMING])).rejects.toThrow('(it has streaming-fixture-ort)');
  });
});

describe('trunkline models list', () => {
  const list = async (catalog: readonly CatalogModel[]) => {
    const { terminal, out } = captureTerminal();
    await listModels({ settings: settings(), terminal, json: false, catalog });
    return out.text.split('\n');
  };

  it('has the real table in 80 columns, a line for each recogniser', async () => {
    const lines = await list(CATALOG);
    for (const line of lines.filter((one) => !one.startsWith('In '))) expect(line.length, line).toBeLessThanOrEqual(80);
    for (const { name, accuracy } of PUBLISHED_RECOGNISERS)
      expect(lines.filter((line) => line.trim().startsWith(`${name} `) && line.endsWith(accuracy))).toHaveLength(1);
    expect(lines).toContain('  licence CC-BY-4.0: name NVIDIA as its author where people can read it');
    expect(lines).toContain('  licence MIT (moonshine-base-en)');
    expect(lines.join(' ')).toMatch(/Moonshine-Community \(the others\): no business use without a +registration/);
  });

  it('says of an installed one what uses it', async () => {
    const catalog = wrenCatalog([await publishAll()]);
    expect(await list(catalog)).toContain('  wren  291 kB  de  WER 1 %');
    await add(['wren'], [], { catalog });
    expect((await list(catalog)).slice(0, 4)).toEqual([
      'wren 1  installed, used for captions',
      '  291 kB, CC-BY-4.0, de',
      '  recogniser for captions',
      '  name the wren',
    ]);
  });
});
