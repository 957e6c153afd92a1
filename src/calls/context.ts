import type { Clock } from '../clock.ts';
import type { Engine } from '../link/engine.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import type { Prompter } from '../speech/prompter.ts';
import type { FetchRecording } from './app/recording.ts';
import type { Feed } from './feed.ts';

/** What all calls of one gateway share. */
export interface CallContext {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly prompter: Prompter;
  readonly fetchRecording: FetchRecording;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly log: Log;
  readonly metrics: Metrics;
}
