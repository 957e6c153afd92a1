import { type FinalCaption, inOrder, type TranscriptItem } from './transcript.ts';

/** Captions may begin a little before the sound of what they are of. */
const EARLY_MS = 300;

/** The words of a stretch of a call, from those of its utterances, in the order of their start. */
export function saidBetween(
  utterances: readonly { readonly text: string; readonly startMs: number }[],
  startMs: number,
  endMs: number,
): string {
  return utterances
    .filter(({ text, startMs: atMs }) => text !== '' && atMs >= startMs - EARLY_MS && atMs < endMs)
    .toSorted((a, b) => a.startMs - b.startMs)
    .map(({ text }) => text)
    .join(' ');
}

/** The words of the caller in a stretch of a call, from its transcript. */
export function callerBetween(items: readonly TranscriptItem[], startMs: number, endMs: number): string {
  const said = inOrder(items).flatMap((item) => (isCallers(item) ? [item] : []));
  return saidBetween(said, startMs, endMs);
}

function isCallers(item: TranscriptItem): item is FinalCaption {
  return item.kind === 'caption' && item.track === 'inbound' && item.background !== true;
}
