/** A client in TypeScript that a generator makes of docs/reference/openapi.yaml, and the guide's program with it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { written } from '../fakes/engine.ts';
import { type RecordingServer, speechFile, startRecordingServer } from './recording-server.ts';
import { liveCall } from './test-server.ts';

const KEY = 'a-key-of-a-generated-client';
const GENERATOR = packagePath('node_modules', 'oazapfts', 'dist', 'cli.js');
const COMPILER = packagePath('node_modules', 'typescript', 'bin', 'tsc');
const SETTINGS = '--strict --noUncheckedIndexedAccess --target es2023 --module nodenext --types node --skipLibCheck';

let folder: string;
let server: RecordingServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-client-'));
  symlinkSync(packagePath('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  server = await startRecordingServer({ API_KEYS: KEY });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What Node prints that runs `file` in the folder of the client. */
async function run(file: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, TRUNKLINE_URL: server.url, TRUNKLINE_KEY: KEY };
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { cwd: folder, env });
  return stdout;
}

/** What the compiler says against `program` beside the client; empty = nothing. It leaves JavaScript. */
async function compile(program: string): Promise<string> {
  writeFileSync(join(folder, 'program.ts'), program);
  return run(COMPILER, ...SETTINGS.split(' '), 'program.ts').catch((error: { stdout: string }) => error.stdout);
}

it('lists calls, has a recording transcribed and knows the codes of errors', async () => {
  const guide = readFileSync(packagePath('docs', 'guide', 'api-clients.md'), 'utf8');
  const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(guide) ?? [];
  await run(GENERATOR, packagePath('docs', 'reference', 'openapi.yaml'), 'trunkline.ts');

  const wrong = `${program}
    if (ended.status === 404 && ended.data.error.code === 'no_such_code') trunkline.endTheCall();
  `;
  const found = await compile(wrong);
  expect(found).toMatch(/program\.ts.*'"no_such_code"' have no overlap/);
  expect(found).toMatch(/program\.ts.*'endTheCall' does not exist/);
  expect(found.match(/error TS/g)).toHaveLength(2);

  expect(await compile(program)).toBe('');
  writeFileSync(join(folder, 'call.wav'), Buffer.from(await speechFile([1, 2]).arrayBuffer()));
  server.calls.views.push(liveCall('CA1'));
  expect((await run('program.js')).split('\n')).toEqual([
    'CA1 +14155550100 1280',
    written([1, 2]),
    'call_not_found',
    '',
  ]);
});
