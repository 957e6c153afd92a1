/** The package as other programs import it, from its build. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { writeWav } from '../src/audio/wav.ts';
import { packagePath } from '../src/foundation/folders/paths.ts';
import { cliEnvironment, runBuiltCli } from './helpers/cli.ts';
import { eventually } from './helpers/eventually.ts';

const EXAMPLE = packagePath('examples', 'embed.mjs');
const folder = mkdtempSync(join(tmpdir(), 'trunkline-api-'));
let child: ChildProcess | undefined;

afterAll(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** What the compiler says of a program that lies in the package, so that it can import it by its name. */
function compile(path: string): string {
  const checks = ['--noEmit', '--strict', '--allowJs', '--checkJs', '--skipLibCheck', '--types', 'node'];
  const target = ['--target', 'es2023', '--module', 'nodenext', '--ignoreConfig'];
  return spawnSync(packagePath('node_modules', '.bin', 'tsc'), [...checks, ...target, path], { encoding: 'utf8' })
    .stdout;
}

describe('the example that embeds a gateway', () => {
  it('prints the captions of a call, and ends when it is told to', { timeout: 60_000 }, async () => {
    const RATE_HZ = 16_000;
    const samples = new Int16Array(2 * RATE_HZ);
    for (let i = 0; i < RATE_HZ; i++)
      samples[RATE_HZ / 2 + i] = Math.round(8000 * Math.sin((2 * Math.PI * 400 * i) / RATE_HZ));
    const wav = join(folder, 'tone.wav');
    writeFileSync(wav, writeWav([samples], RATE_HZ));

    child = spawn(process.execPath, [EXAMPLE], {
      env: cliEnvironment({ PORT: '0' }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => lines.push(line));
    const exited = new Promise((resolve) => child?.once('exit', resolve));
    await eventually(() => expect(lines).toHaveLength(1));
    const url = lines[0]?.replace('listening on http', 'ws');
    expect((await runBuiltCli(['call', wav, '--url', `${url}/twilio/media`])).code).toBe(0);

    await eventually(() => expect(lines.at(-1)).toMatch(/: hangup after \d+ ms$/));
    expect(lines[1]).toMatch(/: call from \+15550100$/);
    expect(lines[2]).toMatch(/: inbound: alpha( alpha)*$/);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  it('agrees with the types of the package', () => {
    expect(compile(EXAMPLE)).toBe('');
  });
});

describe('the types of the package', () => {
  it('are those of events, calls and settings, and refuse what does not exist', () => {
    const path = packagePath('dist', 'consumer.ts');
    const source = `
import { readSettings, runGateway, type CallView, type FeedEvent, type Gateway, type Settings } from 'trunkline';
const settings: Settings = readSettings({});
const port: number = settings.PORT;
const gateway: Gateway = await runGateway(settings, { onListening: (url: string) => url.length });
gateway.subscribe((event: FeedEvent) => event.type === 'caption' && event.text.length);
const calls: readonly CallView[] = gateway.calls();
export const wrong: string = settings.PORT;
export const unknown = settings.NO_SUCH_SETTING;
export { calls, port };
`;
    writeFileSync(path, source);
    try {
      const complaints = compile(path).trim().split('\n');
      expect(complaints).toEqual([
        expect.stringMatching(/consumer\.ts.*Type 'number' is not assignable to type 'string'/),
        expect.stringMatching(/consumer\.ts.*Property 'NO_SUCH_SETTING' does not exist/),
      ]);
    } finally {
      rmSync(path);
    }
  });
});
