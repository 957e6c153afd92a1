import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergeMetadata, readMetadata } from '../../../src/carriers/sip/wire/siprec/metadata.ts';
import { recordedParties } from '../../../src/carriers/sip/wire/siprec/recorded-parties.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/wire/siprec');
const seeds = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.sip'))
  .flatMap((file) => {
    const [xml] = /<\?xml.*<\/[\w:]+>/s.exec(readFileSync(join(FOLDER, file), 'utf8')) ?? [];
    return xml === undefined ? [] : [Buffer.from(xml)];
  });

/** Only coded errors; whatever is read is bounded, merges with itself, and names two parties and one of two streams. */
export const target: FuzzTarget = {
  name: 'recording-metadata',
  seeds,
  words: [
    '<',
    '/>',
    '<send>',
    'participant_id="',
    '<!DOCTYPE',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '&#x',
    '&lt;',
    '<x:',
    'partial',
  ],
  run(input) {
    try {
      const metadata = readMetadata(Buffer.from(input).toString());
      assert(metadata.participants.length <= 256 && metadata.streams.length <= 256);
      const ids = metadata.participants.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, 'a participant twice');
      const twice = mergeMetadata(metadata, { ...metadata, isPartial: true });
      assert.deepEqual(twice.participants, metadata.participants);
      for (const labels of [['1'], ['1', '2'], ['2', null]]) {
        const { caller, callee, callerStream } = recordedParties(metadata, labels);
        assert(callerStream === 0 || callerStream === 1, `stream ${callerStream}`);
        for (const text of [caller.user, caller.name, callee.user, callee.name])
          assert((text ?? 'x').length > 0 && (text ?? '').length <= 256, 'a party without bounds');
      }
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
    }
  },
};
