/** Takes the sound of one call to its file: gathered for some seconds, then to the thread that writes. */
import type { SoundChannel, SoundSink, SoundTrouble, TappedCall } from '../../calls/sound/sound-tap.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { DiskError } from '../../foundation/folders/disk.ts';
import { ChannelBuffer } from './channel-buffer.ts';
import type { WritingResult, WritingTask } from './sound-messages.ts';
import type { SoundStretch } from './sound-writer.ts';

/** How often what was gathered is written and made durable. */
const FLUSH_MS = 3000;
/** Flushes that the disk may be behind. */
const UNANSWERED_MAX = 4;
/** Flushes until it is tried again after trouble; doubled each time. */
const RETRY_FLUSHES = 2;
const RETRY_FLUSHES_MAX = 20;

interface FileSinkOptions {
  readonly call: TappedCall;
  /** Names the file to the thread. */
  readonly file: number;
  readonly clock: Clock;
  run(task: WritingTask): Promise<WritingResult>;
  /** The file of the call is there. */
  onCreated(): void;
  /** The file of the call has so many bytes now. */
  onWritten(bytes: number): void;
  onTrouble(trouble: SoundTrouble): void;
}

export class FileSink implements Pick<SoundSink, 'add'> {
  readonly #options: FileSinkOptions;
  readonly #channels: Readonly<Record<SoundChannel, ChannelBuffer>>;
  readonly #timer: Timer;
  #unanswered = 0;
  #isCreated = false;
  #trouble: SoundTrouble | null = null;
  #retryIn = 0;
  #retryFlushes = RETRY_FLUSHES;
  #isOver = false;

  constructor(options: FileSinkOptions) {
    const { call, clock } = options;
    this.#options = options;
    this.#channels = {
      caller: new ChannelBuffer('caller', call.codec.rateHz, FLUSH_MS),
      heard: new ChannelBuffer('heard', call.codec.rateHz, FLUSH_MS),
    };
    this.#timer = clock.every(FLUSH_MS, () => this.#onFlush(), true);
    this.#create();
  }

  add(channel: SoundChannel, samples: Int16Array, atMs: number): void {
    if (this.#trouble === null && !this.#isOver) this.#channels[channel].add(samples, atMs);
  }

  /** Gives what it has gathered to the thread. */
  end(): void {
    if (this.#isOver) return;
    if (this.#trouble === null) this.#flush();
    this.abandon();
  }

  get rateHz(): number {
    return this.#options.call.codec.rateHz;
  }

  /** Whether it takes nothing any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Takes nothing any more, and writes nothing of what it has gathered. */
  abandon(): void {
    this.#isOver = true;
    this.#timer.cancel();
  }

  #create(): void {
    const { call, file } = this.#options;
    const { name, rateHz } = call.codec;
    const law = name === 'alaw' ? 'alaw' : 'mulaw';
    const sound = { callId: call.callId, startedMs: call.startedAt.getTime(), law, rateHz } as const;
    this.#ask({ type: 'create', file, sound }, () => {
      this.#isCreated = true;
      this.#options.onCreated();
    });
  }

  #onFlush(): void {
    if (this.#trouble === null) this.#flush();
    else if (this.#unanswered === 0 && --this.#retryIn <= 0) this.#retry();
  }

  #flush(): void {
    const stretches = this.#take();
    if (this.#unanswered >= UNANSWERED_MAX) this.#suffer('disk_slow');
    else if (stretches.length > 0)
      this.#ask({ type: 'add', file: this.#options.file, stretches }, (bytes) => {
        this.#retryFlushes = RETRY_FLUSHES;
        if (typeof bytes === 'number') this.#options.onWritten(bytes);
      });
  }

  #take(): SoundStretch[] {
    return [...this.#channels.caller.take(), ...this.#channels.heard.take()];
  }

  /** Whether there is room again; what comes meanwhile is not kept. */
  #retry(): void {
    this.#retryFlushes = Math.min(2 * this.#retryFlushes, RETRY_FLUSHES_MAX);
    this.#retryIn = this.#retryFlushes;
    if (!this.#isCreated) this.#create();
    this.#ask({ type: 'probe' }, () => this.#recover());
  }

  #ask(task: WritingTask, onDone: (result: WritingResult) => void): void {
    this.#unanswered++;
    this.#options
      .run(task)
      .then(onDone)
      .catch((error: unknown) => this.#suffer(error instanceof DiskError ? 'disk_full' : 'failed'))
      .finally(() => {
        this.#unanswered--;
      });
  }

  #suffer(trouble: SoundTrouble): void {
    this.#take();
    if (this.#trouble !== null || this.#isOver) return;
    this.#trouble = trouble;
    this.#retryIn = this.#retryFlushes;
    this.#options.onTrouble(trouble);
    this.#options.call.onTrouble(trouble);
  }

  #recover(): void {
    if (this.#trouble === null || this.#isOver || !this.#isCreated) return;
    this.#trouble = null;
    this.#options.call.onRecovered();
  }
}
