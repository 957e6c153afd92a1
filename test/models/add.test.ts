import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findInstalled } from '../../engine/models/installed.ts';
import { type AddContext, addModels } from '../../src/cli/models/add.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { packModels } from '../../src/models/pack.ts';
import {
  type Answer,
  LARK_FILES,
  LARK_VOICE,
  larkCatalog,
  larkWheel,
  noise,
  type Publisher,
  publish,
  sendRange,
} from '../helpers/models.ts';
import { captureTerminal } from '../helpers/terminal.ts';

let folder = '';
let modelsDir = '';
let publisher: Publisher | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-models-'));
  modelsDir = join(folder, 'state', 'models');
  // No pip, uv or npm, unless a test has one of its own.
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', join(folder, 'bin'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await publisher?.close();
  publisher = null;
  rmSync(folder, { recursive: true });
});

/** No folder of these tests is a recogniser's. */
const openRecogniser = () => Promise.reject(new Error('nothing is to be opened'));

interface Added {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function add(
  from: readonly string[],
  { names = ['lark'], yes = true, ...context }: Partial<AddContext> & { names?: string[]; yes?: boolean } = {},
): Promise<Added> {
  const { terminal, out, err } = captureTerminal();
  const catalog = larkCatalog(publisher?.url);
  const all = { modelsDir, terminal, confirm: null, catalog, allowPrivate: true, openRecogniser, ...context };
  const code = await addModels(names, { from, yes, json: false }, all);
  return { code, out: out.text, err: err.text };
}

function put(name: string, data: Buffer): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, data);
  return path;
}

/** The files of the installed model by their paths. */
function installed(): Record<string, Buffer> {
  const place = join(modelsDir, 'lark');
  const paths = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.includes('.') || path === 'LICENSE',
  );
  return Object.fromEntries(
    paths.filter((path) => path !== 'bridge.json').map((path) => [path, readFileSync(join(place, path))]),
  );
}

const isThere = (): boolean => existsSync(join(modelsDir, 'lark'));

/** A pip that copies `wheel`, or fails as one without network does. */
function installPip(wheel: string | null): void {
  const script = `#!${process.execPath}
const { copyFileSync, readFileSync } = require('node:fs');
const args = process.argv.slice(2);
const list = args[args.indexOf('--requirement') + 1];
if (!args.includes('--require-hashes') || !/^lark-tts==1\\.0 --hash=sha256:[0-9a-f]{64}\\n$/.test(readFileSync(list, 'utf8'))) process.exit(9);
const wheel = ${JSON.stringify(wheel)};
if (wheel === null) { console.error('WARNING: Retrying\\nERROR: No matching distribution found'); process.exit(1); }
copyFileSync(wheel, args[args.indexOf('--dest') + 1] + '/lark_tts-1.0-py3-none-any.whl');
`;
  put('bin/pip3', Buffer.from(script));
  chmodSync(join(folder, 'bin/pip3'), 0o755);
}

describe('trunkline models add --from', () => {
  it('takes a wheel and leaves files that nobody else may read', async () => {
    const { code, out } = await add([put('lark.whl', larkWheel())]);
    expect([code, out]).toEqual([0, expect.stringContaining(`lark 1.0 is installed: ${modelsDir}/lark`)]);
    expect(installed()).toEqual(LARK_FILES);
    expect(findInstalled(modelsDir, 'hibari')[0]?.bridge).toMatchObject({ name: 'lark', licence: 'MIT' });
    const modes = ['', 'voices', 'lark.onnx', 'bridge.json'].map(
      (path) => statSync(join(modelsDir, 'lark', path)).mode,
    );
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o600]);
    expect(readdirSync(join(modelsDir, '.work'))).toEqual(['owner.txt']);
  });

  it('takes a folder of wheels, an unpacked folder, and a bundle with its own name', async () => {
    put('wheels/notes.txt', Buffer.from('notes'));
    put('wheels/deep/lark.whl', larkWheel());
    expect((await add([join(folder, 'wheels')])).code).toBe(0);
    renameSync(join(modelsDir, 'lark'), join(folder, 'unpacked'));
    expect((await add([join(folder, 'unpacked')])).code).toBe(0);
    expect(installed()).toEqual(LARK_FILES);
    await packModels(findInstalled(modelsDir, 'hibari'), join(folder, 'bundle.tar'), () => undefined);
    rmSync(join(modelsDir, 'lark'), { recursive: true });
    expect((await add([join(folder, 'bundle.tar')], { names: [] })).code).toBe(0);
    expect(installed()).toEqual(LARK_FILES);
  });

  it('takes a further voice beside what is installed, and keeps it', async () => {
    await add([put('lark.whl', larkWheel())]);
    await add([put('anything', LARK_VOICE)]);
    expect(installed()).toEqual({ ...LARK_FILES, 'more.onnx': LARK_VOICE });
    await add([put('lark.whl', larkWheel())]);
    expect(findInstalled(modelsDir, 'hibari')[0]?.bridge.files).toHaveProperty('more.onnx');
  });

  it('takes a model that the table has not, by its own bridge.json', async () => {
    await add([put('lark.whl', larkWheel())]);
    renameSync(join(modelsDir, 'lark'), join(folder, 'own'));
    const { code, err } = await add([join(folder, 'own')], { names: [], catalog: [] });
    expect([code, err]).toEqual([0, expect.stringContaining('a model of your own')]);
    expect(installed()).toEqual(LARK_FILES);
  });

  it('writes nowhere but in its folder, whatever an archive calls its files', async () => {
    const model = LARK_FILES['lark.onnx'] as Buffer;
    const wheel = larkWheel({
      'lark/assets/model.onnx': Buffer.from('not this one'),
      '../../../evil.onnx': model,
      '/tmp/trunkline-evil': Buffer.from('evil'),
      'lark/../../evil': Buffer.from('evil'),
    });
    const before = readdirSync(folder);
    expect((await add([put('lark.whl', wheel)])).code).toBe(0);
    expect(installed()).toEqual(LARK_FILES);
    expect(readdirSync(folder).sort()).toEqual([...before, 'lark.whl', 'state'].sort());
    expect(existsSync('/tmp/trunkline-evil')).toBe(false);
  });

  it('says which file has other bytes, and which packages have the right ones', async () => {
    const wrong = larkWheel({ 'lark/assets/model.onnx': noise(300_000, 99), 'lark/lark.onnx': noise(300_000, 98) });
    await expect(add([put('lark.whl', wrong)])).rejects.toThrow(
      /^lark: 1 of 4 files are not in .*lark\.whl:\n {2}lark\.onnx \(300 kB; one of that name has other bytes\)\nThese have them all:\n {2}pip download --no-deps .* lark-tts==1\.0$/,
    );
    expect(isThere()).toBe(false);
  });

  it.each([
    ['a path that does not exist', 'nowhere', /nowhere: there is no such file or folder$/],
    ['a damaged archive', 'broken.whl', /broken\.whl: it is not a whole zip file/],
  ])('says what is wrong with %s', async (_, name, message) => {
    put('broken.whl', larkWheel().subarray(0, -100));
    await expect(add([join(folder, name)])).rejects.toThrow(message);
  });

  it('refuses another version than the release knows, and a name that nobody knows', async () => {
    await add([put('lark.whl', larkWheel())]);
    renameSync(join(modelsDir, 'lark'), join(folder, 'old'));
    const catalog = larkCatalog(undefined, '2.0');
    await expect(add([join(folder, 'old')], { catalog })).rejects.toThrow('lark: got version 1.0, expected 2.0');
    await expect(add([], { names: ['wren'] })).rejects.toThrow(
      'wren: there is no such model: expected a name of trunkline models list',
    );
    await expect(add([], { names: [] })).rejects.toThrow('which model?');
  });
});

describe('trunkline models add without --from', () => {
  it('fetches nothing unasked: it tells licence and size, and asks', async () => {
    publisher = await publish();
    await expect(add([], { yes: false })).rejects.toThrow('nothing was fetched, for there is no terminal to ask on');
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question);
      return asked.length > 1;
    };
    const declined = await add([], { yes: false, confirm });
    expect(declined).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was fetched.') });
    expect(declined.err).toMatch(
      /^lark 1\.0: a bird\n {2}licence {2}MIT, Nobody\n {2}fetches {2}\d+ kB: lark-tts 1\.0\n/,
    );
    expect(publisher.ranges).toEqual([]);
    expect((await add([], { yes: false, confirm })).code).toBe(0);
    expect(asked).toEqual(Array(2).fill('Fetch it, and accept the licence? [y/N] '));
    expect(installed()).toEqual(LARK_FILES);
  });

  it('asks pip first, which checks the SHA-256 itself', async () => {
    publisher = await publish();
    installPip(put('right.whl', larkWheel()));
    expect((await add([])).code).toBe(0);
    expect(publisher.ranges).toEqual([]);
    expect(installed()).toEqual(LARK_FILES);
  });

  it.each([
    ['fails', null],
    ['brings something else', 'wrong.whl'],
  ])('goes to the publisher when pip %s', async (_, wheel) => {
    publisher = await publish();
    installPip(wheel === null ? null : put(wheel, larkWheel({ extra: Buffer.from('extra') })));
    expect((await add([])).code).toBe(0);
    expect(publisher.ranges).toEqual(['']);
    expect(installed()).toEqual(LARK_FILES);
  });

  it('says what it tried and what to type elsewhere when there is no network', async () => {
    installPip(null);
    await expect(add([])).rejects.toThrow(
      new Error(
        [
          'lark: lark-tts 1.0 could not be fetched',
          '  pip3: ERROR: No matching distribution found',
          '  uv: not installed',
          '  127.0.0.1:1: unreachable (ECONNREFUSED)',
          'On a machine with a network:',
          '  pip download --no-deps --only-binary=:all: --python-version 3.12 --dest trunkline-models lark-tts==1.0',
          'Copy that folder to this machine, then:',
          '  trunkline models add lark --from trunkline-models',
        ].join('\n'),
      ),
    );
    expect(isThere()).toBe(false);
  });

  it("refuses a publisher in a private network, where an answer could be anybody's", async () => {
    publisher = await publish();
    await expect(add([], { allowPrivate: false })).rejects.toThrow(/127\.0\.0\.1:\d+: .*private/);
    expect(publisher.ranges).toEqual([]);
  });

  it('says that the model is there already, and mends one that is not whole from what is right of it', async () => {
    publisher = await publish();
    await add([]);
    expect((await add([])).out).toContain('lark 1.0 is there already, and whole');
    expect(publisher.ranges).toHaveLength(1);
    writeFileSync(join(modelsDir, 'lark', 'lark.onnx'), noise(300_000, 5));
    writeFileSync(join(modelsDir, 'lark', 'notes.txt'), 'mine');
    expect((await add([])).code).toBe(0);
    expect(installed()).toEqual({ ...LARK_FILES, 'notes.txt': Buffer.from('mine') });
  });
});

describe('a download', () => {
  const half = larkWheel().length >> 1;

  it('goes on where the connection broke', async () => {
    const answer: Answer = (request, response, wheel, nth) => {
      if (nth > 1) sendRange(request, response, wheel, nth);
      else
        response
          .writeHead(200, { 'content-length': wheel.length })
          .write(wheel.subarray(0, half), () => response.destroy());
    };
    publisher = await publish(answer);
    expect((await add([])).code).toBe(0);
    expect(publisher.ranges).toEqual(['', expect.stringMatching(/^bytes=\d{5,6}-$/)]);
    expect(installed()).toEqual(LARK_FILES);
  });

  it('begins again where the server knows no ranges', async () => {
    publisher = await publish((_, response, wheel, nth) => {
      if (nth > 1) response.end(wheel);
      else
        response
          .writeHead(200, { 'content-length': wheel.length })
          .write(wheel.subarray(0, half), () => response.destroy());
    });
    expect((await add([])).code).toBe(0);
    expect(installed()).toEqual(LARK_FILES);
  });

  it.each<[string, Answer, RegExp]>([
    [
      'other bytes',
      (_, response, wheel) => response.end(noise(wheel.length, 8)),
      /what came has the SHA-256 [0-9a-f]{64}, expected/,
    ],
    [
      'too many bytes',
      (_, response, wheel) => response.end(Buffer.concat([wheel, wheel])),
      /more came than the \d+ bytes/,
    ],
    ['no such page', (_, response) => response.writeHead(404).end(), /the server answered 404, expected 200/],
    [
      'a wrong range',
      (_, response) => response.writeHead(206, { 'content-range': 'bytes 5-9/10' }).end('12345'),
      /206 with bytes 5-9/,
    ],
  ])('is refused when the server sends %s', async (_, answer, message) => {
    publisher = await publish(answer);
    await expect(add([])).rejects.toThrow(message);
    expect(isThere()).toBe(false);
  });
});

describe('a models folder', () => {
  it('is changed by one command at a time, and the second finds what the first has added', async () => {
    publisher = await publish();
    const [first, second] = await Promise.all([add([]), add([])]);
    const outs = [first.out, second.out].sort();
    expect(outs[0]).toContain('is installed');
    expect(outs[1]).toContain('is there already');
    expect(publisher.ranges).toHaveLength(1);
  });

  it('has no half model when an add is killed, and the next one goes on', async () => {
    publisher = await publish((request, response, wheel, nth) => {
      if (nth > 1) sendRange(request, response, wheel, nth);
      else response.writeHead(200, { 'content-length': wheel.length }).write(wheel.subarray(0, 100_000));
    });
    const catalog = JSON.stringify(larkCatalog(publisher.url));
    const child = spawn(process.execPath, [packagePath('test', 'fakes', 'models-add.mjs'), modelsDir, catalog], {
      env: { PATH: join(folder, 'bin') },
      stdio: 'ignore',
    });
    const part = join(modelsDir, '.work', 'lark', 'downloads', 'lark_tts-1.0-py3-none-any.whl.part');
    await expect.poll(() => (existsSync(part) ? statSync(part).size : 0)).toBe(100_000);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isThere()).toBe(false);
    expect((await add([])).code).toBe(0);
    expect(publisher.ranges).toEqual(['', 'bytes=100000-']);
    expect(installed()).toEqual(LARK_FILES);
  });

  it("gets a model back that was moved aside when a command was killed, and others' files too", async () => {
    const wheel = put('lark.whl', larkWheel());
    const old = join(modelsDir, '.work', 'lark', 'old');
    await add([wheel]);
    mkdirSync(join(old, '..'), { recursive: true });
    renameSync(join(modelsDir, 'lark'), old);
    const { out } = await add([], {});
    expect(out).toContain('lark 1.0 is there already');
    mkdirSync(join(old, 'voices'), { recursive: true });
    writeFileSync(join(old, 'voices', 'mine.bin'), 'mine');
    writeFileSync(join(old, 'LICENSE'), 'an old one');
    await add([wheel]);
    expect(installed()).toEqual({ ...LARK_FILES, 'voices/mine.bin': Buffer.from('mine') });
    expect(readdirSync(join(modelsDir, '.work'))).toEqual(['owner.txt']);
  });

  it('that cannot be made is named, with what helps', async () => {
    const inside = put('file', Buffer.from(''));
    await expect(add([put('lark.whl', larkWheel())], { modelsDir: join(inside, 'models') })).rejects.toThrow(
      /file\/models cannot be written \((ENOTDIR|EEXIST)\): .*set MODELS_DIR to another folder$/,
    );
  });

  it('needs room on its disk', async () => {
    const [model] = larkCatalog();
    const huge = { path: 'huge.onnx', bytes: 1e18, sha256: 'f'.repeat(64) };
    const catalog = model === undefined ? [] : [{ ...model, files: [...model.files, huge] }];
    await expect(add([], { catalog })).rejects.toThrow(
      /^lark: it needs \d+ GB in .*models, and the disk has [\d.]+ [MG]B left: make room, or set MODELS_DIR/,
    );
  });

  it('has a model whose file was cut short mended', async () => {
    const wheel = put('lark.whl', larkWheel());
    await add([wheel]);
    truncateSync(join(modelsDir, 'lark', 'lark.onnx'), 10);
    await add([wheel]);
    expect(installed()).toEqual(LARK_FILES);
  });
});
