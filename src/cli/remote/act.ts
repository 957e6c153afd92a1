/** `trunkline say` and `hangup`. */
import { z } from 'zod';
import { EXIT_OK } from '../exit-codes.ts';
import type { RemoteContext } from './context.ts';

/** Says `text` in the call, after what waits to be said. @throws ServerRefused */
export async function say(callId: string, text: string, { server, json, terminal }: RemoteContext): Promise<number> {
  const answer = await server.ask('POST', `${callPath(callId)}/say`, z.object({ utterance: z.string() }), { text });
  if (json) terminal.out.line(JSON.stringify(answer));
  else terminal.err.line('It is said after everything that was asked for before.');
  return EXIT_OK;
}

/** Ends the call when everything has been said; asked again, at once. @throws ServerRefused */
export async function hangUp(callId: string, { server, json, terminal }: RemoteContext): Promise<number> {
  const answer = await server.ask('POST', `${callPath(callId)}/hangup`, z.object({ id: z.string() }));
  if (json) terminal.out.line(JSON.stringify(answer));
  else terminal.err.line('The call ends when everything has been said. The same command again ends it at once.');
  return EXIT_OK;
}

/** The path of a call in the API. */
export function callPath(callId: string): string {
  return `/v1/calls/${encodeURIComponent(callId)}`;
}
