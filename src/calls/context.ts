import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { SentenceSynthesizer } from '../speech/sentence-synthesizer.ts';
import type { FetchRecording } from './app/recording.ts';
import type { TwimlClient } from './app/twiml/client.ts';
import type { Handovers } from './app/twiml/handovers.ts';
import type { Feed } from './feed/feed.ts';

/** What all calls of one gateway share. */
export interface CallContext {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly synthesizer: SentenceSynthesizer;
  readonly fetchRecording: FetchRecording;
  readonly twiml: TwimlClient;
  readonly handovers: Handovers;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly log: Log;
  readonly metrics: Metrics;
}
