/** What one Trunkline tells another that recognises for it, beside what OpenAI's transcriptions have. */

/**
 * A request with this header has speech in it that somebody waits for: it is read as it is, without looking for speech
 * in it, as urgently as the header says. Other servers ignore it.
 */
export const URGENCY_HEADER = 'x-trunkline-urgency';

/** What the header may say. */
export const STRETCH_URGENCIES = ['final', 'eager', 'partial', 'batch'] as const;
export type StretchUrgency = (typeof STRETCH_URGENCIES)[number];
