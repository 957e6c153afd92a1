/**
 * What the simulated caller of the talk says. A newcomer reads what the recogniser makes of it, so these are sentences
 * that it gets right.
 */

/** In the order of the talk. */
export const TALK_LINES = {
  first: 'I would like to order two tickets for tomorrow evening.',
  second: 'Please tell me everything about the weather in the mountains this week.',
  interruption: 'No, I want to talk about the garden.',
  last: 'Thank you, goodbye.',
} as const;

/** Another one than the app's, so that it is heard who speaks. */
export const TALK_VOICE = 'kal16';
