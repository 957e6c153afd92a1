/** Opens the hints beside calls, as the settings say. */
import { resolve } from 'node:path';
import type { FeedEvent } from '../calls/feed/events.ts';
import type { Feed } from '../calls/feed/feed.ts';
import type { CallRegistry } from '../calls/registry.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { WatchedFile } from '../foundation/watched-file.ts';
import { FileError } from '../foundation/yaml-text.ts';
import { readPatternsFile } from '../records/patterns-file.ts';
import { FeedRedaction } from '../records/redaction/redaction.ts';
import { CardDeck } from './card-deck.ts';
import { CardHints } from './card-hints.ts';
import { CARDS_FILE_MAX_BYTES, type CardsFile, parseCards } from './cards.ts';
import { ModelHints } from './model-hints.ts';

type HintSettings = Pick<
  Settings,
  | 'HINTS_FILE'
  | 'HINTS_BASE_URL'
  | 'HINTS_API_KEY'
  | 'HINTS_MODEL'
  | 'HINTS_TIMEOUT_MS'
  | 'HINTS_EVERY'
  | 'HINTS_INTERVAL_MS'
  | 'REDACT'
  | 'REDACT_PATTERNS_FILE'
>;

interface OpenOptions {
  readonly settings: HintSettings;
  readonly feed: Feed;
  readonly registry: Pick<CallRegistry, 'parameters'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What gives hints beside calls. */
export interface Hints {
  close(): Promise<void>;
}

/** What a model's hints are made of. Nothing else is redacted for them: a redaction would remember its call. */
const NEEDED: readonly FeedEvent['type'][] = [
  'call.started',
  'caption',
  'revision',
  'spoken',
  'app.muted',
  'app.unmuted',
  'call.ended',
  'call.deleted',
];

const NO_CARDS: CardsFile = { about: '', cards: [] };

/**
 * Reads HINTS_FILE, and follows the feed where the settings ask for hints.
 * @throws ConfigError when HINTS_FILE or REDACT_PATTERNS_FILE cannot be used
 */
export async function openHints(options: OpenOptions): Promise<Hints> {
  const { settings, feed, registry } = options;
  const metrics = options.metrics.hints;
  let { about, deck } = deckOf(NO_CARDS);
  const file = await watch(options, (read) => {
    ({ about, deck } = deckOf(read));
  });
  const wants = (callId: string): boolean => registry.parameters(callId)?.own.hints !== false;
  const cards = file === null ? null : new CardHints({ feed, deck: () => deck, wants, metrics });
  const model = settings.HINTS_BASE_URL === '' ? null : followModel(options, { about: () => about, wants });
  return {
    close: async () => {
      file?.close();
      cards?.close();
      await model?.close();
    },
  };
}

function deckOf(read: CardsFile): { about: string; deck: CardDeck } {
  return { about: read.about, deck: new CardDeck(read) };
}

/** Null = there is no file. */
async function watch(
  { settings, clock, log }: OpenOptions,
  take: (read: CardsFile) => void,
): Promise<WatchedFile | null> {
  if (settings.HINTS_FILE === '') return null;
  const path = resolve(settings.HINTS_FILE);
  try {
    return await WatchedFile.open({
      path,
      setting: 'HINTS_FILE',
      maxBytes: CARDS_FILE_MAX_BYTES,
      clock,
      log,
      take: (text) => {
        const read = parseCards(text, path);
        take(read);
        return { cards: read.cards.length };
      },
    });
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError([`HINTS_FILE: ${error.message}`]);
    throw error;
  }
}

type Asking = Pick<ConstructorParameters<typeof ModelHints>[0], 'about' | 'wants'>;

/** With REDACT=feed the feed is redacted already; with REDACT=store it is done here, before anything is sent. */
function followModel({ settings, feed, clock, log, metrics }: OpenOptions, asking: Asking): Hints {
  const model = new ModelHints({
    ...asking,
    feed,
    endpoint: {
      baseUrl: settings.HINTS_BASE_URL,
      apiKey: settings.HINTS_API_KEY,
      model: settings.HINTS_MODEL,
      timeoutMs: settings.HINTS_TIMEOUT_MS,
    },
    everyUtterances: settings.HINTS_EVERY,
    intervalMs: settings.HINTS_INTERVAL_MS,
    clock,
    log,
    metrics: metrics.hints,
  });
  const patterns = settings.REDACT === 'store' ? readPatternsFile(settings.REDACT_PATTERNS_FILE) : null;
  const redaction = patterns && new FeedRedaction({ clock, patterns }, (event) => model.take(event));
  const unsubscribe = feed.subscribeOwn({}, ({ event }) => {
    if (!isNeeded(event)) return;
    for (const redacted of redaction?.rewrite(event) ?? [event]) model.take(redacted);
  });
  return {
    close: async () => {
      unsubscribe();
      redaction?.close();
      await model.close();
    },
  };
}

function isNeeded(event: FeedEvent): boolean {
  return NEEDED.includes(event.type) && (event.type !== 'caption' || (event.final && event.background !== true));
}
