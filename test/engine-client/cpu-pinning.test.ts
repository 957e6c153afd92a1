import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { findCpuProblem } from '../../src/engine-client/cpu-pinning.ts';
import { closeEngineClients, killEngine, open, restart, say } from '../helpers/engine-client.ts';

afterEach(closeEngineClients);

/** The processors that a process may use, as Linux writes them. */
const cpusOf = (pid: number | 'self'): string =>
  /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';

/** Those of the engines. A process is there before `taskset` has bound it. */
const cpusOfEngines = ({ status }: { readonly status: { readonly pids: readonly number[] } }) =>
  expect.poll(() => status.pids.map(cpusOf));

/** One of those that this process may use. */
const ONE = Number(/^\d+/.exec(cpusOf('self'))?.[0]);

describe('ENGINE_CPUS', () => {
  it('keeps an engine and its successor on them, and leaves the gateway alone', async () => {
    const { engineClient, clock } = open({ cpus: [ONE] });
    const before = cpusOf('self');
    await engineClient.start();
    await cpusOfEngines(engineClient).toEqual([String(ONE)]);
    expect(await say(engineClient, 'word')).not.toBe('');
    killEngine(engineClient);
    await restart(engineClient, clock);
    await cpusOfEngines(engineClient).toEqual([String(ONE)]);
    expect(cpusOf('self')).toBe(before);
  });

  it('are all processors unless they are named', async () => {
    const { engineClient } = open();
    await engineClient.start();
    expect(engineClient.status.pids.map(cpusOf)).toEqual([cpusOf('self')]);
  });
});

describe('findCpuProblem', () => {
  it('finds none where there is nothing to pin, or it can be pinned', () => {
    expect([findCpuProblem([]), findCpuProblem([ONE])]).toEqual([null, null]);
  });

  it('names the processors that are not there', () => {
    expect(findCpuProblem([ONE, 1023])).toBe(
      `ENGINE_CPUS: got ${ONE},1023, but this process may not use 1023: \`lscpu -e\` shows which there are`,
    );
    expect(findCpuProblem([1023])).toMatch(/^ENGINE_CPUS: got 1023, but this process may use none of them \(.+\): /);
  });

  it('says what to install where taskset is missing', () => {
    expect(findCpuProblem([ONE], '/nowhere/taskset')).toMatch(
      /^ENGINE_CPUS: got \d+, but \/nowhere\/taskset cannot be run \(.*ENOENT.*\): install util-linux, or unset it$/,
    );
  });
});
