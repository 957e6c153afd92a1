import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { SentenceSynthesizer } from '../speech/sentence-synthesizer.ts';
import type { TranscriberSettings } from '../transcription/live-transcriber.ts';
import type { CallClaims } from './admission/call-claims.ts';
import type { OneUseStore } from './admission/shared-one-use.ts';
import type { MessageWebhooks } from './app/message-webhooks.ts';
import type { AppSettings } from './app/request.ts';
import type { AppServices } from './app/services.ts';
import type { CallTracer } from './call-tracer.ts';
import type { FeedArchive } from './feed/archive.ts';
import type { Feed } from './feed/feed.ts';
import type { Numbers } from './language/numbers.ts';
import type { SoundTap } from './sound/sound-tap.ts';

/** The settings of calls. */
export type CallSettings = AppSettings &
  TranscriberSettings &
  Pick<
    Settings,
    | 'APP_CONNECT_TIMEOUT_MS'
    | 'APP_FLUSH_MS'
    | 'APP_GONE'
    | 'APP_GONE_TEXT'
    | 'APP_RECONNECT_MS'
    | 'APP_SIGNING_KEY'
    | 'BARGE_IN'
    | 'BARGE_IN_CONFIRM_MS'
    | 'BARGE_IN_WORDS'
    | 'BACKGROUND_VOICES'
    | 'CALLS_KEPT'
    | 'CLUSTER_KEY'
    | 'DEFAULT_LANGUAGE'
    | 'ECHO_CANCELLER'
    | 'ENDPOINT_CAPTIONS_MS'
    | 'FLOW_SIGNING_KEY'
    | 'GAP_MAX_MS'
    | 'LIVE_LAG_MAX_MS'
    | 'MAX_CALLS'
    | 'isMaxCallsMeasured'
    | 'MESSAGE_MAX_BYTES'
    | 'OUTBOUND_ALLOW'
    | 'PLAYOUT_LEAD_MS'
    | 'RECORD'
    | 'RECORD_ANNOUNCEMENT'
    | 'RECORD_PAUSE_KEY'
    | 'REDACT'
    | 'REORDER_MS'
    | 'SEND_BUFFER_MAX_BYTES'
    | 'STALL_MS'
    | 'TWILIO_AUTH_TOKEN'
    | 'WEBHOOK_SECRET'
  >;

/** What all calls of one gateway share. */
export interface CallContext {
  readonly settings: CallSettings;
  readonly engine: Engine;
  readonly synthesizer: SentenceSynthesizer;
  readonly apps: AppServices;
  readonly clock: Clock;
  /** What is known of called numbers; absent = nothing. */
  readonly numbers?: Pick<Numbers, 'find'>;
  readonly feed: Feed;
  /** Where calls are stored, whose ids are taken; absent or null = nowhere. */
  readonly archive?: Pick<FeedArchive, 'latestCallIds'> | null;
  /** Where the ids of calls are claimed; absent or null = no other gateway gives any. */
  readonly claims?: CallClaims | null;
  /** Where any gateway finds what may be used once; absent or null = there is no other. */
  readonly oneUse?: OneUseStore | null;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Share of its time that the thread of the gateway worked of late, 0 to 1; absent = nobody measures it. */
  readonly threadUse?: () => number;
  /** Keeps the sound of calls; null = nothing does. */
  readonly soundTap: SoundTap | null;
  /** Sends webhooks of messages; absent or null = nothing does. */
  readonly messageWebhooks?: MessageWebhooks | null;
  /** Follows calls in time; absent or null = nothing does. */
  readonly tracer?: CallTracer | null;
}
