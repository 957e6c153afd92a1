import type { Clock } from '../clock.ts';
import type { Engine } from '../link/engine.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import type { Prompter } from '../speech/prompter.ts';
import type { FetchRecording } from './app/recording.ts';
import type { Feed } from './feed.ts';
import type { TwimlClient } from './twiml/client.ts';
import type { Handovers } from './twiml/handovers.ts';

/** What all calls of one gateway share. */
export interface CallContext {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly prompter: Prompter;
  readonly fetchRecording: FetchRecording;
  readonly twiml: TwimlClient;
  readonly handovers: Handovers;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly log: Log;
  readonly metrics: Metrics;
}
