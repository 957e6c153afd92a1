import assert from 'node:assert/strict';
import { formatFeedPosition, readFeedPosition } from '../../../src/calls/feed/feed-position.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SEEDS = ['f11e4e5e-6649-41c2-ab75-7f6d46d249ee-6', 'e-7~g-3', '0-0~0-0'];

/** What a reader of the feed says that it has is an id of ours, as we write it, or none. */
export const target: FuzzTarget = {
  name: 'feed-id',
  seeds: SEEDS.map((seed) => Buffer.from(seed)),
  words: ['-', '~', '0', '9007199254740993', '--', '~~', '%7e', '\n'],
  run(input) {
    const id = Buffer.from(input).toString();
    const position = readFeedPosition(id);
    if (position === null) return;
    assert.equal(formatFeedPosition(position), id);
    assert(Number.isSafeInteger(position.number) && Number.isSafeInteger(position.ahead?.localNumber ?? 0));
  },
};
