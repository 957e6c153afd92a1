import { defineConfig } from 'vitest/config';

/** They take the machine's time, or judge how long a gateway takes under attack: nothing runs beside them. */
const ALONE = ['test/attacks/{connections,decompression,hung-engines,log-full,overload,rtp-spray}.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 180_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'pairs',
          include: ['test/attacks/**/*.test.ts'],
          exclude: ALONE,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
