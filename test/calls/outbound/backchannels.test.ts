import { describe, expect, it } from 'vitest';
import { isBackchannel } from '../../../src/calls/outbound/backchannels.ts';

describe('what a listener says into our speech', () => {
  it.each([
    ...['Mm-hm.', 'mhm', 'Uh-huh.', 'Uh huh.', 'Hmm.', 'Okay.', 'OK, yeah.', 'Right, right.', 'Yeah, yeah.', 'Sure!'],
    ...[
      'I see.',
      'Oh, I see.',
      'Got it.',
      'Of course,',
      'Go on.',
      'All right.',
      'Yes, that makes sense.',
      'Thank you.',
    ],
    // As Moonshine writes hums.
    ...['Mum,', 'Mhem.', 'Imhun,', 'Um.', 'Aha, yeah.'],
  ])('goes on listening: %j', (text) => {
    expect(isBackchannel(text)).toBe(true);
  });

  it.each([
    ...[
      'No.',
      'No, no.',
      'Stop.',
      'Wait.',
      'Okay, stop.',
      'Yeah, but no.',
      'Hold on.',
      'Excuse me.',
      'What?',
      'Agent.',
    ],
    ...[
      "Okay, that's enough.",
      'Right, I would like',
      'I know that one',
      'Good bye',
      'Thanks, but',
      'Hello?',
      'Cancel.',
    ],
    ...['See', 'one', 'I would', 'Go away'],
  ])('interrupts: %j', (text) => {
    expect(isBackchannel(text)).toBe(false);
  });

  it.each(['I', 'Oh, I', 'Got', 'Yeah, that makes'])('may still become agreement: %j', (text) => {
    expect(isBackchannel(text)).toBe(true);
  });

  it.each(['', '…'])('is nothing: %j', (text) => {
    expect(isBackchannel(text)).toBe(false);
  });
});
