import { readdirSync, readFileSync } from 'node:fs';
import { posix, sep } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Tests with a clock of their own: no process, no thread, no network, no built file. `npm run check` runs these alone.
 */
const PURE = [
  'test/{carriers,clients}/*/wire/**/*.test.ts',
  'test/{audio,bench,day,deploy,docs,fuzz,protocols,transcription,wer}/**/*.test.ts',
  'test/calls/*.test.ts',
  'test/calls/{admission,feed,inbound,outbound,sound}/**/*.test.ts',
  'test/calls/app/{frames,late-text,request,session*}.test.ts',
  'test/flows/{speak,testing,understand}/*.test.ts',
  'test/foundation/*.test.ts',
  'test/hints/card*.test.ts',
  'test/records/redaction/*.test.ts',
  'test/foundation/{log,machine,settings}/**/*.test.ts',
  'test/speech/!(prompt-files).test.ts',
  'test/{packages,rules}.test.ts',
  'test/gateway/start-lines.test.ts',
];

/** Tests that replace a module find it loaded where files share a process, and models stay in memory there. */
const ISOLATED = [...testsThatReplaceModules(), 'test/engine/**/*.test.ts'];

function testsThatReplaceModules(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join('test', ...name.split(sep)))
    .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('vi.mock('));
}

/** They have configurations of their own. */
const ELSEWHERE = ['test/{attacks,browser,e2e}/**', 'node_modules/**'];

export default defineConfig({
  test: {
    // Ends what hangs, on the slowest of machines too: no test takes a tenth of it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 5 } },
    // By default one core is left idle, of two as well.
    maxWorkers: '100%',
    setupFiles: ['test/helpers/equal-bytes.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'pure', include: PURE, exclude: [...ELSEWHERE, ...ISOLATED], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: [...ELSEWHERE, ...PURE, ...ISOLATED],
          isolate: false,
          globalSetup: 'test/helpers/shared-servers.ts',
          // Each database has SQLite in a thread of its own, which it would spend more time to optimise than to run.
          execArgv: ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'],
        },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED, exclude: ELSEWHERE } },
    ],
  },
});
