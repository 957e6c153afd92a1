import { expect, it } from 'vitest';
import { synthesizeLive } from '../../../src/http/speech/synthesize.ts';

type Arguments = Parameters<typeof synthesizeLive>;

/** As what was spoken before: no piece waits for an engine. */
const KNOWN = {
  async *synthesize() {
    async function* parts() {
      yield new Uint8Array(1);
    }
    for (let n = 0; n < 1000; n++) yield { text: 'Yes. ', parts: parts() };
  },
} as unknown as Arguments[0];

it('lets other work go first now and then where all was spoken before', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  count();
  let parts = 0;
  const asked = { onSpoken: () => undefined } as unknown as Arguments[1];
  for await (const part of synthesizeLive(KNOWN, asked)) parts += part.length;
  isOver = true;
  expect(parts).toBe(1000);
  expect(turns).toBeGreaterThan(50);
});
