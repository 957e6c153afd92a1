/** The gateway's side of the thread that writes sound. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DiskError } from '../../foundation/folders/disk.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import type { WritingReply, WritingRequest, WritingResult, WritingSetup, WritingTask } from './sound-messages.ts';

interface Waiting {
  resolve(result: WritingResult): void;
  reject(error: Error): void;
}

/** Does one task after the other. It has no limit of its own: each call limits what it sends without an answer. */
export class SoundThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #failure: Error | null = null;

  constructor(setup: WritingSetup) {
    const program = packagePath('dist', 'src', 'records', 'sound', 'writing-worker.js');
    this.#worker = new Worker(program, { workerData: setup, execArgv: [] });
    this.#worker.on('message', (reply: WritingReply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('the thread of sound has ended')));
  }

  /**
   * Does `task` after those before it. The buffers of stretches are moved, not copied.
   * @throws DiskError when the disk is full or fails; Error
   */
  run(task: WritingTask): Promise<WritingResult> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    const moved = task.type === 'add' ? task.stretches.map(({ samples }) => samples.buffer as ArrayBuffer) : [];
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, task } satisfies WritingRequest, moved);
    });
  }

  /** Ends the thread; to be called when nothing is asked any more. */
  async close(): Promise<void> {
    if (this.#failure !== null) return;
    const ended = once(this.#worker, 'exit');
    void this.#worker.terminate();
    await ended;
  }

  #settle(reply: WritingReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('result' in reply) waiting?.resolve(reply.result);
    else waiting?.reject(reply.isDisk ? new DiskError(reply.error) : new Error(reply.error));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
