/** Of flite's voices over the sentences of test/bench/phone-sentences.ts; short sentences have longer pauses. */
const USUAL_BASE_MS = 300;
const USUAL_CHAR_MS = 65;

/** How long `spoken`, the text as it is read, usually takes at `speed`. A third or three times as long is possible. */
export function usualSpeechMs(spoken: string, speed: number): number {
  return (USUAL_BASE_MS + spoken.length * USUAL_CHAR_MS) / speed;
}
