import assert from 'node:assert/strict';
import { readAppFrame } from '../../../src/calls/app/frames.ts';
import { wireFixtures } from '../fixtures.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** It is sent back to the app. */
const DESCRIPTION_MAX_CHARACTERS = 300;

/** One message of an app. */
export const target: FuzzTarget = {
  name: 'app-frames',
  seeds: wireFixtures('relay', '.json'),
  words: [
    'text',
    'play',
    'sendDigits',
    'language',
    'end',
    '"token":',
    '"last":true',
    '"loop":0',
    'https://',
    'null',
    '1e999',
    '__proto__',
  ],
  run(input) {
    const frame = readAppFrame(Buffer.from(input).toString());
    switch (frame.type) {
      case 'malformed':
        assert(frame.description.length <= DESCRIPTION_MAX_CHARACTERS);
        return;
      case 'text':
        assert.equal(typeof frame.token, 'string');
        assert.equal(typeof frame.last, 'boolean');
        return;
      case 'play':
        assert.match(new URL(frame.source).protocol, /^https?:$/);
        assert(Number.isInteger(frame.loop) && frame.loop >= 1 && frame.loop <= 1000);
        return;
      case 'sendDigits':
        assert.match(frame.digits, /^[0-9*#w]{1,100}$/);
        return;
      case 'language':
        assert(frame.ttsLanguage !== undefined || frame.transcriptionLanguage !== undefined);
        return;
      case 'end':
        assert(frame.handoffData === undefined || typeof frame.handoffData === 'string');
    }
  },
};
