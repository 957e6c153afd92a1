/** `trunkline prompts render`. */
import { z } from 'zod';
import { systemClock } from '../../foundation/clock.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { RemoteContext } from '../remote/context.ts';

const LOOK_MS = 500;

const rendering = z.object({
  isRunning: z.boolean(),
  flows: z.number(),
  flowsDone: z.number(),
  sentences: z.number(),
  made: z.number(),
  failed: z.number(),
  ms: z.number(),
});

/** Has all prompts made, and waits for that. Exits with 1 when some could not be made. @throws ServerRefused */
export async function renderPrompts({ server, json, terminal }: RemoteContext): Promise<number> {
  let state = await server.ask('POST', '/v1/flow-prompts/render', rendering);
  while (state.isRunning) {
    terminal.err.live([{ text: `${state.flowsDone} of ${state.flows} flows, ${state.made} sentences made` }]);
    await new Promise((resolve) => systemClock.after(LOOK_MS, () => resolve(null)));
    state = await server.ask('GET', '/v1/flow-prompts/render', rendering);
  }
  terminal.err.live([]);
  const { flows, sentences, made, failed, ms } = state;
  if (json) terminal.out.line(JSON.stringify({ flows, sentences, made, failed, ms }));
  else {
    const seconds = (ms / 1000).toFixed(1);
    terminal.out.line(`${flows} flows, ${sentences} sentences: ${made} made in ${seconds} s, the others were there.`);
    if (failed > 0) terminal.err.line(`${failed} texts could not be made; the server's log says why.`);
  }
  return failed > 0 ? EXIT_FAILED : EXIT_OK;
}
