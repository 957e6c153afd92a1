/** What the recorder stores in place of what was said, as the settings say. */
import type { FeedEvent } from '../calls/feed/events.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { readPatternsFile } from './patterns-file.ts';
import { maskAlone } from './redaction/call-redactor.ts';
import { StoreRedaction } from './redaction/redaction.ts';
import type { Rewrite, StoredRedaction } from './redaction/stored-call.ts';

/** Masks what is stored. Nothing of it throws. */
export interface RecordRedaction {
  /** What is stored in place of an event, and what changes of stored ones before it. */
  take(id: string, event: FeedEvent): StoredRedaction;
  /** What is stored in place of the value of a call's parameter. */
  maskText(text: string): string;
  /** Ends its timers. */
  close(): void;
}

/** `rewrite` is told of stored events whose content is another one now. */
export type OpenRedaction = (rewrite: (rewrites: readonly Rewrite[]) => void) => RecordRedaction;

/**
 * What REDACT asks of the records. With `feed` all events come masked, but the parameters of a call do not.
 * @throws ConfigError when REDACT_PATTERNS_FILE cannot be used
 */
export function recordRedaction(
  { REDACT, REDACT_PATTERNS_FILE }: Pick<Settings, 'REDACT' | 'REDACT_PATTERNS_FILE'>,
  clock: Clock,
): OpenRedaction {
  const asItIs = (_id: string, event: FeedEvent): StoredRedaction => ({ event, rewrites: [] });
  if (REDACT === 'off') return () => ({ take: asItIs, maskText: (text) => text, close: () => undefined });
  const patterns = readPatternsFile(REDACT_PATTERNS_FILE);
  const maskText = (text: string): string => maskAlone(text, patterns);
  if (REDACT === 'feed') return () => ({ take: asItIs, maskText, close: () => undefined });
  return (rewrite) => {
    const redaction = new StoreRedaction({ clock, patterns }, rewrite);
    return { take: (id, event) => redaction.take(id, event), maskText, close: () => redaction.close() };
  };
}
