/** Requests that another gateway of the cluster passes on, and those that this one has passed on. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { HOP_HEADER, KEY_HEADER, PRINCIPAL_HEADER } from '../../cluster/forward/forward-client.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { ROLES } from '../../foundation/roles.ts';
import type { Principal } from '../access/principal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Who can answer: `call` = the gateway that has the live call `:id`, `sound` = as well, and of an ended call the
     * one that has its sound, `ari` = the one that has Asterisk's application, `asked` = the one that another asks;
     * left out = any.
     */
    readonly ownedBy?: 'call' | 'sound' | 'ari' | 'asked';
    /** What is stored answers where the owner does not. */
    readonly storedToo?: boolean;
  }
}

const PRINCIPAL_MAX_CHARS = 4096;
const principalForm = z.strictObject({
  name: z.string().max(256),
  role: z.enum(ROLES),
  agent: z.string().max(256).nullable(),
  tenant: z.string().max(256),
});

/** Whether the request says that a gateway passes it on; anybody may say so. */
export function claimsToBeForwarded({ headers }: FastifyRequest): boolean {
  return [KEY_HEADER, HOP_HEADER, PRINCIPAL_HEADER].some((name) => headers[name] !== undefined);
}

/** The proof that a request shows; empty when it shows none, or several. */
export function clusterProofOf({ headers }: FastifyRequest): string {
  const proof = headers[KEY_HEADER];
  return typeof proof === 'string' ? proof : '';
}

/**
 * Who asked the gateway that passes the request on. To be asked only after its proof was checked.
 * @throws TrunklineError `invalid_request`
 */
export function readPrincipal({ headers }: FastifyRequest): Principal {
  const text = headers[PRINCIPAL_HEADER];
  if (typeof text === 'string' && text.length <= PRINCIPAL_MAX_CHARS && typeof headers[HOP_HEADER] === 'string') {
    const read = principalForm.safeParse(parse(Buffer.from(text, 'base64url').toString()));
    if (read.success) return read.data;
  }
  throw new TrunklineError(
    'invalid_request',
    'a gateway passed a request on without saying whose, or not so that we understand',
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const passedOn = new WeakSet<FastifyRequest>();

/** Another gateway has answered the request, and has written down what it was. */
export function notePassedOn(request: FastifyRequest): void {
  passedOn.add(request);
}

/** Whether another gateway has answered the request. */
export function wasPassedOn(request: FastifyRequest): boolean {
  return passedOn.has(request);
}
