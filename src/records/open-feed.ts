/** Opens the feed, redacted as the settings say. */
import { randomUUID } from 'node:crypto';
import type { FeedExchange } from '../calls/feed/exchange.ts';
import { Feed } from '../calls/feed/feed.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { readPatternsFile } from './patterns-file.ts';
import { mayBePrivate } from './redaction/private-text.ts';
import { FeedRedaction } from './redaction/redaction.ts';

type OpenSettings = Pick<Settings, 'FEED_HISTORY' | 'REDACT' | 'REDACT_PATTERNS_FILE'>;

interface OpenOptions {
  /** A name for this run of the program, different at each start; left out = a new one. */
  readonly epoch?: string | undefined;
  /** The feed of several gateways; left out = this one's is its own. */
  readonly exchange?: FeedExchange | null;
  readonly clock: Clock;
}

/** A feed, and what ends its timers. */
interface OpenedFeed {
  readonly feed: Feed;
  close(): void;
}

/**
 * The feed of all calls; with `REDACT=feed` nobody reads in it what is masked.
 * @throws ConfigError when REDACT_PATTERNS_FILE cannot be read, or a pattern in it cannot be used
 */
export function openFeed(
  { FEED_HISTORY: history, REDACT, REDACT_PATTERNS_FILE }: OpenSettings,
  { epoch = randomUUID(), exchange = null, clock }: OpenOptions,
): OpenedFeed {
  const options = { history, epoch, exchange };
  if (REDACT !== 'feed') return { feed: new Feed(options), close: () => undefined };
  const patterns = readPatternsFile(REDACT_PATTERNS_FILE);
  const redaction = new FeedRedaction({ clock, patterns }, (event) => feed.publish(event));
  const feed = new Feed({ ...options, rewrite: (event) => redaction.rewrite(event) });
  return { feed, close: () => redaction.close() };
}

/**
 * Which sentences of calls may be cached, as REDACT says: a masked one could not be found when its call is deleted.
 * @throws ConfigError when REDACT_PATTERNS_FILE cannot be used
 */
export function sentenceFilter({
  REDACT,
  REDACT_PATTERNS_FILE,
}: Pick<OpenSettings, 'REDACT' | 'REDACT_PATTERNS_FILE'>): (sentence: string) => boolean {
  if (REDACT === 'off') return () => true;
  const patterns = readPatternsFile(REDACT_PATTERNS_FILE);
  return (sentence) => !mayBePrivate(sentence, patterns);
}
