/** The thread's side of a {@link WorkerPool}: work begins with its first request and is done one step at a time. */
import { parentPort } from 'node:worker_threads';
import { type ErrorCode, TrunklineError } from '../errors.ts';
import { isDiskTrouble, toDiskFull } from '../folders/disk.ts';

/**
 * Requests a step of a piece of work. The first request has `task`; `input` is what came since the step before, of work
 * on a stream; `isOver` closes the work.
 */
export interface WorkRequest<Task, Input = undefined> {
  readonly id: number;
  readonly task?: Task;
  readonly input?: Input | undefined;
  readonly isOver?: boolean;
}

/** The result of a step, or why it failed. */
export type WorkReply<Answer> = { readonly id: number } & (
  | { readonly answer: Answer }
  | { readonly failure: { readonly code: ErrorCode; readonly message: string } }
);

/** A piece of work that has begun. */
export interface ThreadWork<Answer, Input = undefined> {
  /** Does the next step, in well under a second. @throws TrunklineError, which the pool throws to the work's owner */
  next(input: Input | undefined): Answer;
  close(): void;
}

interface Served<Task, Answer, Input> {
  /** Begins a piece of work. @throws TrunklineError, as {@link ThreadWork.next} */
  begin(task: Task): ThreadWork<Answer, Input> | Promise<ThreadWork<Answer, Input>>;
  /** The buffers of an answer that are moved to the main thread and not copied. */
  transfer(answer: Answer): ArrayBuffer[];
}

/** Serves the pool that has started this thread. */
export function serveWork<Task, Answer, Input = undefined>({ begin, transfer }: Served<Task, Answer, Input>): void {
  const port = parentPort;
  if (port === null) return;
  // Codecs print warnings, which nobody needs; unread, they would pile up in memory.
  process.stdout.write = process.stderr.write = () => true;
  const works = new Map<number, ThreadWork<Answer, Input>>();
  const end = (id: number): void => {
    works.get(id)?.close();
    works.delete(id);
  };
  const step = async ({ id, task, input, isOver }: WorkRequest<Task, Input>): Promise<void> => {
    if (isOver === true) return end(id);
    if (task !== undefined) works.set(id, await begin(task));
    const work = works.get(id);
    if (work === undefined) throw new TrunklineError('internal', 'the work has ended');
    const answer = work.next(input);
    port.postMessage({ id, answer } satisfies WorkReply<Answer>, transfer(answer));
  };
  let last = Promise.resolve();
  port.on('message', (request: WorkRequest<Task, Input>) => {
    // Requests are handled strictly in order, although `begin` may be asynchronous: the pool assumes that the oldest
    // request without a reply is in progress.
    last = last
      .then(() => step(request))
      .catch((error: unknown) =>
        port.postMessage({ id: request.id, failure: failureOf(error) } satisfies WorkReply<Answer>),
      );
  });
}

function failureOf(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof TrunklineError) return { code: error.code, message: error.message };
  if (isDiskTrouble(error)) return failureOf(toDiskFull(error));
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}
