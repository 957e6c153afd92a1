import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAriEvent, readStasisRequest } from '../../../src/carriers/asterisk/wire/ari.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

const MESSAGE_MAX_CHARACTERS = 400;
const FOLDER = join(import.meta.dirname, '../../../fixtures/wire/ari');

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert(error instanceof TrunklineError, error as Error);
    assert(error.message.length <= MESSAGE_MAX_CHARACTERS, `error of ${error.message.length} characters`);
    return null;
  }
}

/** One event, and what the dialplan asked for in it. */
export const target: FuzzTarget = {
  name: 'ari',
  seeds: ['good', 'bad'].flatMap((kind) =>
    readdirSync(join(FOLDER, kind)).map((name) => readFileSync(join(FOLDER, kind, name))),
  ),
  words: [
    '"type":"StasisStart"',
    '"args":["assist","',
    '"channel":{"id":"',
    '"caller":{"number":"',
    'talk',
    '=',
    '__proto__',
  ],
  run(input) {
    const event = attempt(() => readAriEvent(Buffer.from(input).toString()));
    if (event === null || event.type !== 'entered') return;
    assert(/^[!-~]{1,128}$/.test(event.channel.id), 'an id that cannot stand in a path or a log line');
    const request = attempt(() => readStasisRequest(event.args));
    for (const [name, value] of Object.entries(request?.parameters ?? {}))
      assert(/^[A-Za-z]/.test(name) && typeof value === 'string');
  },
};
