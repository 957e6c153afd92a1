import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/attacks/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    fileParallelism: false,
  },
});
