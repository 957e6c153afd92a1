/** Opens the feed with what is redacted, as the settings say. */
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { FeedExchange } from '../calls/feed/exchange.ts';
import { Feed } from '../calls/feed/feed.ts';
import type { Clock } from '../foundation/clock.ts';
import { networkCode } from '../foundation/guarded-fetch.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Recorder } from './recorder.ts';
import { maskAlone } from './redaction/call-redactor.ts';
import { NO_PATTERNS, type OwnPatterns, readOwnPatterns } from './redaction/own-patterns.ts';
import { mayBePrivate } from './redaction/private-text.ts';
import { FeedRedaction, StoreRedaction } from './redaction/redaction.ts';

type OpenSettings = Pick<Settings, 'FEED_HISTORY' | 'REDACT' | 'REDACT_PATTERNS_FILE'>;

const FILE_MAX_BYTES = 262_144;

interface OpenOptions {
  /** A name for this run of the program, different at each start; left out = a new one. */
  readonly epoch?: string | undefined;
  /** The feed of several gateways; left out = this one's is its own. */
  readonly exchange?: FeedExchange | null;
  readonly clock: Clock;
  /** What stores the feed's events; null = nothing does. */
  readonly recorder: Pick<Recorder, 'redact' | 'redactText' | 'rewrite'> | null;
}

/** A feed, and what ends its timers. */
interface OpenedFeed {
  readonly feed: Feed;
  close(): void;
}

/**
 * The feed of all calls, redacted as REDACT says, or with what `recorder` stores redacted.
 * @throws ConfigError when REDACT_PATTERNS_FILE cannot be read, or a pattern in it cannot be used
 */
export function openFeed(
  { FEED_HISTORY: history, REDACT, REDACT_PATTERNS_FILE }: OpenSettings,
  { epoch = randomUUID(), exchange = null, clock, recorder }: OpenOptions,
): OpenedFeed {
  const options = { history, epoch, exchange };
  const patterns = readPatternsFile(REDACT_PATTERNS_FILE);
  if (REDACT !== 'off' && recorder !== null) recorder.redactText = (text) => maskAlone(text, patterns);
  if (REDACT === 'feed') {
    const redaction = new FeedRedaction({ clock, patterns }, (event) => feed.publish(event));
    const feed = new Feed({ ...options, rewrite: (event) => redaction.rewrite(event) });
    return { feed, close: () => redaction.close() };
  }
  const feed = new Feed(options);
  if (REDACT === 'off' || recorder === null) return { feed, close: () => undefined };
  const redaction = new StoreRedaction({ clock, patterns }, (rewrites) => recorder.rewrite(rewrites));
  recorder.redact = (id, event) => redaction.take(id, event);
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

/** The operator's patterns; none where `path` is empty. @throws ConfigError when they cannot be used */
export function readPatternsFile(path: string): OwnPatterns {
  if (path === '') return NO_PATTERNS;
  const { patterns, problems } = readOwnPatterns(readBoundedFile(path));
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `REDACT_PATTERNS_FILE: ${problem}`));
  return patterns;
}

function readBoundedFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > FILE_MAX_BYTES)
      throw new ConfigError([`REDACT_PATTERNS_FILE: got ${size} bytes, expected at most ${FILE_MAX_BYTES}`]);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([
      `REDACT_PATTERNS_FILE: got ${JSON.stringify(path)}, expected a file that can be read (${networkCode(error)})`,
    ]);
  }
}
