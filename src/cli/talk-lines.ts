/**
 * What the simulated caller says. The demo shows the captions, so these are sentences that are recognised correctly.
 */

/** In the order of the talk. */
export const TALK_LINES = {
  first: 'I would like to order two tickets for tomorrow evening.',
  second: 'Please tell me everything about the weather in the mountains this week.',
  interruption: 'No, I want to talk about the garden.',
  last: 'Thank you, goodbye.',
} as const;

/** Not the app's voice, so that listeners can tell the two apart. */
export const TALK_VOICE = 'kal16';
