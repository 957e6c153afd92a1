import { defineConfig } from 'vitest/config';

/**
 * Tests with a clock of their own: no process, no thread, no network, no built file. `npm run check` runs these alone.
 */
const PURE = [
  'test/{audio,bench,docs,fuzz,protocols,transcription,wer}/**/*.test.ts',
  'test/calls/*.test.ts',
  'test/calls/{admission,feed,inbound,outbound}/**/*.test.ts',
  'test/calls/app/{frames,late-text,request,session*}.test.ts',
  'test/foundation/*.test.ts',
  'test/foundation/{log,machine,settings}/**/*.test.ts',
  'test/speech/!(prompt-files).test.ts',
  'test/{packages,rules,start-lines}.test.ts',
];

/** Tests that replace a module, and those that load models into their process. All others share a process. */
const ISOLATED = [
  'test/calls/app/recording.test.ts',
  'test/calls/outbound/sounds.test.ts',
  'test/foundation/guarded-fetch.test.ts',
  'test/engine/**/*.test.ts',
];

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
        },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED, exclude: ELSEWHERE } },
    ],
  },
});
