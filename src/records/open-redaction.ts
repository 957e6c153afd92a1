/** What is redacted, as the settings say. */
import { readFileSync, statSync } from 'node:fs';
import type { FeedEvent } from '../calls/feed/events.ts';
import type { Clock } from '../foundation/clock.ts';
import { networkCode } from '../foundation/guarded-fetch.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Recorder } from './recorder.ts';
import { NO_PATTERNS, type OwnPatterns, readOwnPatterns } from './redaction/own-patterns.ts';
import { FeedRedaction, StoreRedaction } from './redaction/redaction.ts';

const FILE_MAX_BYTES = 262_144;

interface RedactionOptions {
  readonly settings: Pick<Settings, 'REDACT' | 'REDACT_PATTERNS_FILE'>;
  readonly clock: Clock;
  /** Publishes a revision that gives text back. */
  readonly publish: (event: FeedEvent) => void;
}

/** The redaction of one gateway. */
export interface Redaction {
  /** What the feed publishes in place of an event; undefined = the feed is not redacted. */
  readonly rewrite: ((event: FeedEvent) => readonly FeedEvent[]) | undefined;
  /** Has what `recorder` stores redacted, where the feed is not. */
  guard(recorder: Pick<Recorder, 'redact' | 'rewrite'>): void;
  close(): void;
}

/** @throws ConfigError when REDACT_PATTERNS_FILE cannot be read, or a pattern in it cannot be used */
export function openRedaction({ settings, clock, publish }: RedactionOptions): Redaction {
  const patterns = readPatternsFile(settings.REDACT_PATTERNS_FILE);
  if (settings.REDACT === 'feed') {
    const redaction = new FeedRedaction({ clock, patterns }, publish);
    return {
      rewrite: (event) => redaction.rewrite(event),
      guard: () => undefined,
      close: () => redaction.close(),
    };
  }
  const opened: StoreRedaction[] = [];
  return {
    rewrite: undefined,
    guard: (recorder) => {
      if (settings.REDACT === 'off') return;
      const redaction = new StoreRedaction({ clock, patterns }, (rewrites) => recorder.rewrite(rewrites));
      recorder.redact = (id, event) => redaction.take(id, event);
      opened.push(redaction);
    },
    close: () => {
      for (const redaction of opened) redaction.close();
    },
  };
}

function readPatternsFile(path: string): OwnPatterns {
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
