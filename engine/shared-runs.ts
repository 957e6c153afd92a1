/** Model runs that several jobs share: what a GPU does for sixteen rows takes hardly longer than for one. */

/** A model run that can be made for several jobs at once. Jobs share runs of the same object. */
export interface SharedRun<Input, Output> {
  /** Jobs of one run at most, from 1 on. 1 = none is shared, as on a CPU, where a row more takes a row's time more. */
  readonly batchMax: number;
  /** Whether these two fit in one run; any two do where it is absent. `a` is the input of the job that goes first. */
  isAlike?(a: Input, b: Input): boolean;
  /** Makes the run: one output for each input, in their order. */
  run(inputs: readonly Input[]): Promise<readonly Output[]>;
}

/** Yielded by a job that wants `run` made with `input`; it goes on once that is settled. */
export class RunRequest<Input, Output> {
  readonly run: SharedRun<Input, Output>;
  readonly input: Input;
  /** Whether it is to be made for this job alone, because one that was made for several has failed. */
  isAlone = false;
  #outcome: PromiseSettledResult<Output> | null = null;

  constructor(run: SharedRun<Input, Output>, input: Input) {
    this.run = run;
    this.input = input;
  }

  /** Whether `other` may be in one run with this one, which goes first. */
  fits(other: RunRequest<unknown, unknown>): other is RunRequest<Input, Output> {
    if (this.isAlone || other.isAlone || other.run !== this.run) return false;
    return this.run.isAlike?.(this.input, other.input as Input) ?? true;
  }

  get isSettled(): boolean {
    return this.#outcome !== null;
  }

  settle(outcome: PromiseSettledResult<Output>): void {
    this.#outcome = outcome;
  }

  /** @throws whatever the run failed with */
  get output(): Output {
    if (this.#outcome === null) throw new Error('the job went on before its run was made');
    if (this.#outcome.status === 'rejected') throw this.#outcome.reason;
    return this.#outcome.value;
  }
}

/**
 * Part of a job: has `run` made with `input`, together with other jobs that want the same, and returns its output.
 * Between such a run and a model run of its own a job yields.
 * @throws whatever the run fails with, once it was tried for this job alone
 */
export async function* runTogether<Input, Output>(
  run: SharedRun<Input, Output>,
  input: Input,
): AsyncGenerator<RunRequest<Input, Output>, Output, void> {
  const request = new RunRequest(run, input);
  yield request;
  return request.output;
}

/**
 * Makes one run for `requests`, which fit one another, and settles them. Where it fails for several they stay as they
 * are, but each wants a run alone from then on: one bad input, or too little memory for all, is not the others' fault.
 */
export async function makeRun<Input, Output>(requests: readonly RunRequest<Input, Output>[]): Promise<void> {
  try {
    const outputs = await outputsOf(requests);
    for (const [index, request] of requests.entries())
      request.settle({ status: 'fulfilled', value: outputs[index] as Output });
  } catch (reason) {
    for (const request of requests) {
      request.isAlone = true;
      if (requests.length === 1) request.settle({ status: 'rejected', reason });
    }
  }
}

async function outputsOf<Input, Output>(requests: readonly RunRequest<Input, Output>[]): Promise<readonly Output[]> {
  const outputs = (await requests[0]?.run.run(requests.map(({ input }) => input))) ?? [];
  if (outputs.length === requests.length) return outputs;
  throw new Error(`a run for ${requests.length} jobs gave ${outputs.length} outputs, expected one for each`);
}
