import { defineConfig } from 'vitest/config';

/** They load the machine or judge times of calls: nothing runs beside them. The others wait most of their time. */
const ALONE = [
  'test/e2e/{audiosocket,capacity,cluster-load,ivr,many-sockets,phone,registrations}.test.ts',
  'test/e2e/{soak,turns,two-recognisers}.test.ts',
];

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
          include: ['test/e2e/**/*.test.ts'],
          exclude: ALONE,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
