import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/e2e/**', 'test/browser/**', 'test/attacks/**', 'node_modules/**'],
    // Ends what hangs, on the slowest of machines too: no test takes a tenth of it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 5 } },
    // By default one core is left idle, of two as well.
    maxWorkers: '100%',
  },
});
