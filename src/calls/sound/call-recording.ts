/**
 * Whether a call's sound is recorded now, and what of it. Recording begins after the announcement, if there is one; it
 * can be paused, and what is said meanwhile is silence in the sound. Each change is an event.
 */
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { CallStart, Track } from '../../protocols/dialect.ts';
import type { RecordMode } from '../call-parameters.ts';
import type { CallSummary } from '../call-summary.ts';
import type { CallContext } from '../context.ts';
import type { SoundStateEvent } from '../feed/events.ts';
import type { CallVoice } from '../outbound/voice.ts';
import { CallTime } from './call-time.ts';
import { HeardSound } from './heard-sound.ts';
import { MESSAGES_MAX, MessageRecording, messageSoundId } from './message-recording.ts';
import { PauseKeys } from './pause-keys.ts';
import type { SoundSink, SoundTap, SoundTrouble } from './sound-tap.ts';

/** What somebody wants of a call's recording. */
export type RecordingState = SoundStateEvent['state'];

/** How often an announcement that was cut off is said again. */
const ANNOUNCEMENTS_MAX = 3;

/** The settings of recording. */
type RecordingSettings = Pick<Settings, 'RECORD' | 'RECORD_ANNOUNCEMENT' | 'RECORD_PAUSE_KEY'>;

interface CallRecordingOptions {
  readonly callId: string;
  readonly start: CallStart;
  readonly startedAt: Date;
  /** What the call's parameter `record` asks for; null = nothing. */
  readonly asked: RecordMode | null;
  readonly tap: SoundTap;
  readonly settings: RecordingSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the call has lasted by its sound. */
  callMs(): number;
  publish(state: RecordingState): void;
}

const MODES: readonly RecordMode[] = ['off', 'caller', 'both'];

/** What is recorded of a call: the setting, or more where the call asks for more. A caller cannot ask for less. */
export function recordModeOf(setting: RecordMode, asked: RecordMode | null): RecordMode {
  return asked !== null && MODES.indexOf(asked) > MODES.indexOf(setting) ? asked : setting;
}

export class CallRecording {
  /** What is played to the caller goes here. */
  readonly heard: HeardSound;
  readonly #options: CallRecordingOptions;
  readonly #time = new CallTime();
  readonly #keys: PauseKeys;
  /** Without a track of what the caller hears, that is what we play. */
  readonly #hasOutboundTrack: boolean;
  /** Changes once: when recording is asked for in a call that was not to be recorded. */
  #mode: RecordMode;
  #sink: SoundSink | null = null;
  /** The last message, and how many were kept. */
  #message: MessageRecording | null = null;
  #messages = 0;
  /** What is wanted; `off` before anything is. */
  #wanted: RecordingState = 'off';
  #isHidden = false;
  /** What was told last. */
  #told: RecordingState = 'off';
  #trouble: SoundTrouble | null = null;
  #voice: Announcer | null = null;
  /** `due`: it must be heard to its end before anything is recorded. */
  #announcement: 'due' | 'saying' | 'heard';
  #said = 0;
  #announcing: string | null = null;
  #isOver = false;

  constructor(options: CallRecordingOptions) {
    const { start, settings, asked } = options;
    this.#options = options;
    this.#mode = recordModeOf(settings.RECORD, asked);
    this.#announcement = settings.RECORD_ANNOUNCEMENT === '' ? 'heard' : 'due';
    this.#keys = new PauseKeys(settings.RECORD_PAUSE_KEY);
    this.#hasOutboundTrack = start.tracks.includes('outbound');
    this.heard = new HeardSound(start.codec, (samples, atMs) => this.#addHeard(samples, atMs));
  }

  /** The call has begun: records it if that is wanted. */
  begin(voice: Announcer): void {
    this.#voice = voice;
    voice.onEvent((event) => {
      if (event.type === 'spoken') this.#onSpoken(event);
    });
    if (this.#mode === 'off') return;
    const { start, asked, log } = this.#options;
    if (this.#announcement === 'due' && start.playback === 'none') {
      if (asked === null) {
        log.warn('a call is not recorded: the announcement cannot be played to it');
        return;
      }
      // Whoever asks for it in the call's parameters has told the caller.
      this.#announcement = 'heard';
    }
    this.set('on');
  }

  /** Records from now on, pauses, or ends. */
  set(wanted: RecordingState): void {
    if (this.#isOver) return;
    if (wanted === 'on' && this.#mode === 'off') this.#mode = 'both';
    this.#wanted = wanted;
    if (wanted === 'on') this.#announce();
    this.#update();
  }

  /** What is said from now on is silence in the sound, whatever is wanted of it; or no more. */
  hide(isHidden: boolean): void {
    this.#isHidden = isHidden;
    this.#update();
  }

  /** The caller begins to leave a message. Null = there are {@link MESSAGES_MAX}, or the call is over. */
  beginMessage(): { readonly callId: string; readonly name: string; readonly message: MessageRecording } | null {
    if (this.#isOver || this.#messages >= MESSAGES_MAX) return null;
    const { callId, start, callMs } = this.#options;
    const number = this.#messages + 1;
    const open = (): SoundSink => this.#open(messageSoundId(callId, number));
    this.#message = new MessageRecording({ codec: start.codec, startMs: callMs(), open });
    return { callId, name: `message-${number}`, message: this.#message };
  }

  /** The last message was one: the next gets another name. */
  keepMessage(): void {
    this.#messages++;
  }

  /** A stretch of a track, which begins at `atMs` of the call. */
  onTrack(track: Track, samples: Int16Array, atMs: number): void {
    if (track === 'inbound' && !this.#isHidden) this.#message?.add(samples, atMs);
    if (this.#told !== 'on') return;
    if (track === 'inbound') this.#sink?.add('caller', samples, atMs);
    else if (this.#mode === 'both') this.#sink?.add('heard', samples, atMs);
  }

  /** A chunk of sound has come, and the call's time has gone on. */
  onArrival(): void {
    if (this.heard.isOn) this.#time.observe(this.#options.callMs(), this.#options.clock.nowMs());
  }

  /** The caller pressed a key. */
  onKey(digit: string): void {
    if (!this.#keys.press(digit, this.#options.clock.nowMs()) || this.#wanted === 'off') return;
    this.set(this.#wanted === 'on' ? 'paused' : 'on');
  }

  /** To be called a few times a second. */
  tick(): void {
    this.heard.release(this.#options.clock.nowMs());
  }

  /** The leg is closed: what was sent and is not over will not be heard. */
  onLegClosed(): void {
    this.tick();
    this.heard.isOn = false;
  }

  /** The call is over, and all its sound has come. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#told = 'off';
    this.#sink?.end(this.#options.callMs());
  }

  #update(): void {
    const isReady = this.#announcement === 'heard' && this.#trouble === null;
    const wanted = this.#wanted === 'on' && this.#isHidden ? 'paused' : this.#wanted;
    const state = isReady || wanted === 'paused' ? wanted : 'off';
    if (this.#sink === null && state !== 'on') return;
    if (state === 'on') this.#sink ??= this.#open();
    if (state === this.#told || this.#isOver) return;
    // What was heard before now belongs to the state before.
    this.tick();
    this.#told = state;
    this.heard.isOn = state === 'on' && this.#mode === 'both' && !this.#hasOutboundTrack;
    this.#options.publish(state);
  }

  #open(callId = this.#options.callId): SoundSink {
    const { tap, start, startedAt, log } = this.#options;
    return tap.open({
      callId,
      startedAt,
      codec: start.codec,
      onTrouble: (trouble) => {
        log.warn({ trouble }, 'the sound of a call is not recorded for now');
        this.#trouble = trouble;
        this.#update();
      },
      onRecovered: () => {
        log.info('the sound of a call is recorded again');
        this.#trouble = null;
        this.#update();
      },
    });
  }

  #addHeard(samples: Int16Array, atMs: number): void {
    if (this.#told !== 'on') return;
    const { callMs, clock } = this.#options;
    // Before the caller's first sound the call's time stands still, or goes with the clock.
    const callAtMs = this.#time.isKnown ? this.#time.at(atMs) : callMs() + Math.min(atMs - clock.nowMs(), 0);
    this.#sink?.add('heard', samples, Math.max(callAtMs, 0));
  }

  #announce(): void {
    if (this.#announcement !== 'due' || this.#voice === null) return;
    const { settings, log } = this.#options;
    if (this.#said === ANNOUNCEMENTS_MAX) {
      log.warn('a call is not recorded: its announcement was cut off each time');
      return;
    }
    this.#said++;
    try {
      this.#announcing = this.#voice.say(settings.RECORD_ANNOUNCEMENT, { interruptible: 'none' });
      this.#announcement = 'saying';
    } catch (error) {
      log.warn({ err: error }, 'a call is not recorded: its announcement cannot be said');
    }
  }

  #onSpoken({ utterance, interrupted }: { readonly utterance: string; readonly interrupted: boolean }): void {
    if (utterance !== this.#announcing || this.#isOver) return;
    this.#announcing = null;
    this.#announcement = interrupted ? 'due' : 'heard';
    if (interrupted && this.#wanted === 'on') this.#announce();
    this.#update();
  }
}

/** What says the announcement. */
export type Announcer = Pick<CallVoice, 'say' | 'onEvent'>;

/** What the recording of a call is opened with. */
export interface RecordedCall {
  readonly start: CallStart;
  readonly summary: CallSummary;
  readonly context: Pick<CallContext, 'soundTap' | 'settings' | 'clock' | 'feed'>;
  readonly log: Log;
  /** How long the call has lasted by its sound. */
  callMs(): number;
}

/** The recording of a call, which records nothing before it begins; null = nothing keeps sound. */
export function openRecording({ start, summary, context, log, callMs }: RecordedCall): CallRecording | null {
  const { soundTap: tap, settings, clock, feed } = context;
  if (tap === null) return null;
  const { id: callId, startedAt, parameters } = summary.beginning;
  return new CallRecording({
    callId,
    start,
    startedAt,
    asked: parameters.record,
    tap,
    settings,
    clock,
    log,
    callMs,
    publish: (state) => feed.publish({ type: 'recording', callId, state, atMs: callMs() }),
  });
}
