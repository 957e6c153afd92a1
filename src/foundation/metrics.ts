/** Every metric there is, with buckets chosen per stage. A test compares the names with docs/reference/metrics.md. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { LogState } from './log/log.ts';
import type { Descriptors } from './machine/descriptors.ts';
import { ClusterFeedMetrics } from './metrics/cluster-feed-metrics.ts';
import { ClusterMetrics } from './metrics/cluster-metrics.ts';
import { HintMetrics } from './metrics/hint-metrics.ts';
import { LaneMetrics } from './metrics/lane-metrics.ts';
import { LogMetrics } from './metrics/log-metrics.ts';
import { LAG_SECONDS, MetricMaker, SHORT_SECONDS } from './metrics/metric-maker.ts';
import { RecordMetrics } from './metrics/record-metrics.ts';
import { RemoteMetrics } from './metrics/remote-metrics.ts';
import { TracingMetrics } from './metrics/tracing-metrics.ts';
import { WayInMetrics } from './metrics/way-in-metrics.ts';

const WAIT_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800];
const START_SECONDS = [0.25, 0.5, 1, 2, 5, 10, 20, 40, 60];

/** The metrics of one gateway, in a registry of its own. */
export class Metrics {
  readonly registry = new Registry();
  readonly #make = new MetricMaker(this.registry);

  readonly connections = this.#make.gauge(
    'trunkline_http_connections',
    'Open HTTP connections, WebSockets included',
    [],
  );
  readonly connectionsClosed = this.#make.counter(
    'trunkline_http_connections_closed_total',
    'HTTP connections closed because there were too many, by why it was these',
    ['reason'],
  );

  readonly requestIds = this.#make.counter(
    'trunkline_request_ids_total',
    'HTTP requests, by whose request id they have',
    ['from'],
  );
  readonly qwenRequests = this.#make.counter(
    'trunkline_qwen_requests_total',
    "Requests of the Qwen3 servers' clients",
    ['route'],
  );

  readonly forwarded = this.#make.counter(
    'trunkline_forwarded_requests_total',
    'Requests passed on to the gateway that has the call, by what came of it',
    ['outcome'],
  );

  readonly calls = this.#make.gauge('trunkline_calls_live', 'Live calls', ['carrier']);
  readonly callsMax = this.#make.measured('trunkline_calls_max', 'Live calls that are taken at most (MAX_CALLS)');
  readonly callsEnded = this.#make.counter('trunkline_calls_ended_total', 'Ended calls', ['carrier', 'reason']);
  readonly refused = this.#make.counter(
    'trunkline_refused_total',
    'Requests, sockets and streams refused, by error code',
    ['code'],
  );
  readonly messages = this.#make.counter('trunkline_carrier_messages_total', 'Messages from carriers', [
    'carrier',
    'type',
  ]);
  readonly mediaConcealedMs = this.#make.counter(
    'trunkline_media_concealed_ms_total',
    'Ms of lost audio concealed by repetition',
    ['carrier'],
  );
  readonly mediaSilenceMs = this.#make.counter(
    'trunkline_media_silence_ms_total',
    'Ms of silence put where media was missing',
    ['carrier'],
  );
  readonly mediaLate = this.#make.counter('trunkline_media_late_total', 'Chunks that came too late and were dropped', [
    'carrier',
  ]);
  readonly mediaReordered = this.#make.counter(
    'trunkline_media_reordered_total',
    'Chunks that came out of order and were put in place',
    ['carrier'],
  );

  readonly sipDropped = this.#make.counter(
    'trunkline_sip_dropped_total',
    'SIP messages and connections thrown away without an answer',
    ['reason'],
  );
  readonly sipRefused = this.#make.counter(
    'trunkline_sip_refused_total',
    'SIP requests that we refused, by the status of our answer',
    ['status'],
  );
  readonly sipRegistered = this.#make.gauge(
    'trunkline_sip_registered',
    'Whether all SIP registrars have us registered',
    [],
  );
  readonly sipTrunkRegistered = this.#make.gauge(
    'trunkline_sip_trunk_registered',
    'Whether the registrar of a SIP trunk has us registered',
    ['trunk'],
  );
  readonly sipTrunkUp = this.#make.gauge(
    'trunkline_sip_trunk_up',
    'Whether a SIP trunk was there when it was asked or called last',
    ['trunk'],
  );
  readonly sipFailovers = this.#make.counter(
    'trunkline_sip_failovers_total',
    'Calls that a SIP trunk did not take and for which the next one was tried',
    ['trunk'],
  );
  readonly sipRegistrationFailures = this.#make.counter(
    'trunkline_sip_registration_failures_total',
    'Registrations that were refused, not answered or lost',
    ['reason'],
  );
  readonly sipRefreshes = this.#make.counter(
    'trunkline_sip_session_refreshes_total',
    'Refreshes of SIP sessions, and what came of them',
    ['by', 'result'],
  );

  readonly engineWait = this.#make.histogram(
    'trunkline_engine_wait_seconds',
    'Time a job waited before its first model run',
    ['urgency'],
    SHORT_SECONDS,
  );
  readonly engineRun = this.#make.histogram(
    'trunkline_engine_run_seconds',
    'Time a job spent inside model runs',
    ['urgency'],
    SHORT_SECONDS,
  );
  readonly engineRestarts = this.#make.counter(
    'trunkline_engine_restarts_total',
    'Engine processes that died or hung and were started again',
    [],
  );
  readonly engineJobsResent = this.#make.counter(
    'trunkline_engine_jobs_resent_total',
    'Jobs sent again because their engine died or gave no sign of life',
    [],
  );
  readonly engineStart = this.#make.histogram(
    'trunkline_engine_start_seconds',
    'Time an engine process took to load its models and warm them up',
    [],
    START_SECONDS,
  );
  readonly certificateExpires = this.#make.measured(
    'trunkline_tls_certificate_expires_timestamp_seconds',
    'When the certificate of TLS_CERT expires; 0 = there is none',
  );
  readonly enginesReady = this.#make.gauge('trunkline_engines_ready', 'Engine processes that can take work', []);

  readonly laneWait = this.#make.histogram(
    'trunkline_lane_wait_seconds',
    'Time a job waited in the gateway for an engine',
    ['lane'],
    WAIT_SECONDS,
  );
  readonly files = this.#make.gauge(
    'trunkline_files',
    'Recordings being transcribed, waiting for their turns included',
    [],
  );
  readonly fileSeconds = this.#make.counter(
    'trunkline_file_audio_seconds_total',
    'Audio of recordings that has been heard',
    [],
  );
  readonly uploadDiskBytes = this.#make.gauge(
    'trunkline_upload_disk_bytes',
    'Disk taken by recordings and what they are decoded into',
    [],
  );
  readonly uploadDiskRefused = this.#make.counter(
    'trunkline_upload_disk_refused_total',
    'Files that were not written for want of disk',
    ['reason'],
  );

  readonly batches = this.#make.gauge('trunkline_batches', 'Batches that are not at their end', []);
  readonly batchWaitSeconds = this.#make.measured(
    'trunkline_batch_wait_seconds',
    'How long no recording of a batch has come to its end, of the batch for which that is longest',
  );
  readonly batchFiles = this.#make.counter(
    'trunkline_batch_files_total',
    'Recordings of batches that came to their end',
    ['outcome'],
  );
  readonly diskWaits = this.#make.gauge(
    'trunkline_disk_waits',
    'Parts of batches that wait for a disk which is full or fails',
    [],
  );
  readonly diskRefusals = this.#make.counter(
    'trunkline_disk_refusals_total',
    'Times a disk that was full or failed had batches wait',
    [],
  );
  readonly webhooks = this.#make.counter('trunkline_webhooks_total', 'Attempts to tell of the end of a batch', [
    'outcome',
  ]);

  readonly partialLag = this.#make.histogram(
    'trunkline_partial_lag_seconds',
    'Last audio used to partial caption',
    [],
    LAG_SECONDS,
  );
  readonly finalLag = this.#make.histogram(
    'trunkline_final_lag_seconds',
    'Endpoint (silence held) to final caption',
    [],
    LAG_SECONDS,
  );
  readonly partialsDropped = this.#make.counter(
    'trunkline_partials_dropped_total',
    'Partial windows replaced by a newer one or given up',
    [],
  );
  readonly tracksBehind = this.#make.gauge(
    'trunkline_tracks_behind',
    'Tracks whose captions come more than a second late now',
    [],
  );
  readonly lags = this.#make.counter(
    'trunkline_lags_total',
    'Times that the captions of a track fell more than a second behind',
    [],
  );
  readonly finalsLost = this.#make.counter(
    'trunkline_finals_lost_total',
    'Stretches of received audio of which no final caption came',
    ['reason'],
  );
  readonly finals = this.#make.counter('trunkline_finals_total', 'Final captions, by how they were decoded', ['how']);
  readonly finalFallbacks = this.#make.counter(
    'trunkline_final_fallbacks_total',
    'Readings of ASR_MODEL in the place of ASR_FINAL_MODEL',
    ['reason'],
  );
  readonly jointReadings = this.#make.counter('trunkline_joint_readings_total', 'Groups of utterances read again', [
    'outcome',
  ]);
  readonly transcribeSockets = this.#make.gauge('trunkline_transcribe_sockets', 'Open sockets of /ws/transcribe', []);
  readonly listeners = this.#make.gauge('trunkline_listeners', 'Open listening sessions', ['kind']);
  readonly listenPacketsBroken = this.#make.counter(
    'trunkline_listen_packets_broken_total',
    'Packets of Opus from listening sessions that could not be decoded, in whose place sound was guessed',
    [],
  );
  readonly transcribeOrders = this.#make.counter(
    'trunkline_transcribe_orders_total',
    'Text messages to /ws/transcribe, by what they asked for',
    ['action'],
  );
  readonly feedReaders = this.#make.gauge('trunkline_feed_readers', 'Open caption feeds', ['kind']);
  readonly feedReadersCut = this.#make.counter(
    'trunkline_feed_readers_cut_total',
    'Caption readers cut off because they were too slow',
    [],
  );
  readonly feedReadersMissing = this.#make.counter(
    'trunkline_feed_readers_incomplete_total',
    'Caption readers that were told of missing events, because the record could not be read',
    [],
  );

  readonly firstFrame = this.#make.histogram(
    'trunkline_speech_first_frame_seconds',
    'From say to the first frame on the wire',
    [],
    LAG_SECONDS,
  );
  readonly speechFirstByte = this.#make.histogram(
    'trunkline_speech_first_byte_seconds',
    'From a request for speech to the first byte of its answer',
    [],
    LAG_SECONDS,
  );
  readonly speechRequests = this.#make.counter(
    'trunkline_speech_requests_total',
    'Requests for speech that were begun to be answered',
    ['format', 'outcome'],
  );
  readonly speechRequestsOpen = this.#make.gauge(
    'trunkline_speech_requests_open',
    'Requests for speech that are being served',
    [],
  );
  readonly speechCacheBytes = this.#make.gauge(
    'trunkline_speech_cache_bytes',
    'Memory held by sentences spoken over HTTP',
    [],
  );
  readonly utterances = this.#make.counter('trunkline_utterances_total', 'Things said to callers, by how they ended', [
    'how',
  ]);
  readonly sentencesSkipped = this.#make.counter(
    'trunkline_sentences_skipped_total',
    'Sentences that no engine could speak',
    [],
  );
  readonly turns = this.#make.counter('trunkline_turns_total', "Callers' turns that ended, by what ended them", ['by']);
  readonly turnsContinued = this.#make.counter(
    'trunkline_turns_continued_total',
    'Turns held whose caller went on',
    [],
  );
  readonly turnAnswers = this.#make.counter('trunkline_turn_answers_total', 'Questions to the turn model', ['answer']);
  readonly bargeIns = this.#make.counter(
    'trunkline_barge_ins_total',
    'Times a caller spoke or pressed a key into playback, by what came of it',
    ['outcome'],
  );
  readonly answered = this.#make.counter(
    'trunkline_answered_total',
    'Calls that we made and whose answerer was looked for, by who that was',
    ['by'],
  );
  readonly echoes = this.#make.counter(
    'trunkline_echoes_total',
    'Captions kept back because the caller only echoed what was played',
    [],
  );
  readonly backgroundFinals = this.#make.counter(
    'trunkline_background_finals_total',
    'Final captions that were marked as background: said far below the level of whoever speaks into the phone.',
    [],
  );
  readonly marksLost = this.#make.counter('trunkline_marks_lost_total', 'Marks that a carrier did not return', [
    'carrier',
  ]);
  readonly ariConnected = this.#make.gauge(
    'trunkline_ari_connected',
    'Whether events come from the Asterisk at ARI_URL: 1, or 0',
    [],
  );
  readonly prompts = this.#make.counter(
    'trunkline_prompts_total',
    'Spoken sentences asked for, by where they came from',
    ['from'],
  );
  readonly promptFilesFailed = this.#make.counter(
    'trunkline_prompt_files_failed_total',
    'Files of PROMPT_CACHE_DIR that could not be used',
    ['reason'],
  );
  readonly appConnections = this.#make.counter(
    'trunkline_app_connections_total',
    'Connections to apps, by what became of them',
    ['outcome'],
  );
  readonly appMessages = this.#make.counter('trunkline_app_messages_total', 'Messages from apps', ['type']);
  readonly appFlushes = this.#make.counter(
    'trunkline_app_flushes_total',
    'Times an app fell silent in the midst of an answer, and what there was of it was said',
    [],
  );
  readonly voicesMissing = this.#make.counter(
    'trunkline_voices_missing_total',
    'Texts for which a call asked for a voice that is not there',
    [],
  );
  readonly twimlRequests = this.#make.counter(
    'trunkline_twiml_requests_total',
    "Requests for an app's own TwiML, by what became of them",
    ['outcome'],
  );
  readonly promptCacheBytes = this.#make.gauge('trunkline_prompt_cache_bytes', 'Memory held by spoken sentences', []);

  readonly waysIn = new WayInMetrics(this.#make);
  readonly records = new RecordMetrics(this.#make);
  readonly clusterFeed = new ClusterFeedMetrics(this.#make);
  readonly cluster = new ClusterMetrics(this.#make);
  readonly hints = new HintMetrics(this.#make);
  readonly tracing = new TracingMetrics(this.#make);
  readonly recognisers = new RemoteMetrics(this.#make, this.registry, {
    prefix: 'trunkline_asr_backend',
    setting: 'ASR_URL',
    works: ['finals', 'finals'],
  });
  readonly remoteEmpty = this.#make.counter(
    'trunkline_asr_remote_empty_total',
    'With ASR_URL: answers without words, or with words that nobody said, by whether somebody else found words',
    ['backend', 'reason', 'missed'],
  );
  readonly speakers = new RemoteMetrics(this.#make, this.registry, {
    prefix: 'trunkline_tts_backend',
    setting: 'TTS_URL',
    works: ['lines', 'spoken sentences'],
  });

  readonly lanes = new LaneMetrics(this.registry);

  readonly #log = new LogMetrics(this.#make);

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 5 });
  }

  /** Has `read` asked for what was logged, and what went wrong with that, whenever the metrics are. */
  watchLog(read: () => LogState): void {
    this.#log.watch(read);
  }

  /** The process's file descriptors; null where the system does not tell. */
  async readDescriptors(): Promise<Descriptors | null> {
    const [open, max] = await Promise.all([this.#valueOf('process_open_fds'), this.#valueOf('process_max_fds')]);
    return open === null || max === null ? null : { open, max };
  }

  async #valueOf(name: string): Promise<number | null> {
    const found = await this.registry.getSingleMetric(name)?.get();
    return found?.values[0]?.value ?? null;
  }
}
