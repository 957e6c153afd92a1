import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AsteriskDialect } from '../../../src/carriers/asterisk/wire/chan-websocket.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { CarrierEvent } from '../../../src/protocols/dialect.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** A close frame's reason is cut from it, and it goes into logs. */
const MESSAGE_MAX_CHARACTERS = 400;
const FOLDER = join(import.meta.dirname, '../../../fixtures/calls/asterisk');

/** What Asterisk said in a recording, a message a line; a line that begins with a NUL stands for a binary message. */
function seedFrom(name: string): Uint8Array {
  const lines = readFileSync(join(FOLDER, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { dir?: string; op?: string; data?: string });
  const said = lines.filter(({ dir }) => dir === 'ast>us').slice(0, 40);
  return Buffer.from(said.map(({ op, data }) => (op === 'text' ? data : '\u0000sound')).join('\n'));
}

function receive(dialect: AsteriskDialect, line: string): CarrierEvent | null {
  try {
    return dialect.receive(line.startsWith('\u0000') ? Buffer.from(line.slice(1)) : line);
  } catch (error) {
    assert(error instanceof TrunklineError, error as Error);
    assert(error.message.length <= MESSAGE_MAX_CHARACTERS, `error of ${error.message.length} characters`);
    return null;
  }
}

/** Whole channels, one message a line. */
/** What may come before the start: the call keeps it. */
const EARLY = ['audio', 'dtmf'];

export const target: FuzzTarget = {
  name: 'asterisk',
  seeds: [
    'd-dtmf-plain',
    'd-dtmf-json',
    'd-codec-slin48',
    'b7-bad-commands-plain',
    'b7j-bad-commands-json',
    't6-sip-vars-and-uri',
  ].map((name) => seedFrom(`${name}.jsonl`)),
  words: [
    'MEDIA_START',
    'DTMF_END digit:',
    'channel_id:',
    'format:slin',
    '__TRUNKLINE_',
    'd(in)',
    '"channel_variables":{',
    '__proto__',
    '\n',
    '\u0000',
  ],
  run(input) {
    const dialect = new AsteriskDialect();
    let started = false;
    let sequence = 0;
    for (const line of Buffer.from(input).toString().split('\n')) {
      const event = receive(dialect, line);
      if (event === null || event.type === 'ignored') continue;
      if (event.type === 'start') {
        assert(!started, 'a second start');
        for (const value of Object.values(event.start.parameters)) assert.equal(typeof value, 'string');
      } else assert(started || EARLY.includes(event.type), `${event.type} before start`);
      started ||= event.type === 'start';
      if (event.type !== 'audio') continue;
      assert(event.sequence > sequence && event.bytes.length > 0);
      sequence = event.sequence;
    }
  },
};
