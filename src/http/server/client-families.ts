/**
 * Families of clients that were written for other servers and come to paths which OpenAI's clients use too. What a
 * request asks for tells whose it is; its client expects errors and defaults as its own server has them. Parts bring
 * them. Paths that only one family has say so themselves (`config.refusal`).
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TrunklineError } from '../../foundation/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Clients of other families than OpenAI's have this path too. */
    readonly sharedPath?: true;
  }
}

/** The fields of a request that tell its client, and the text to speak. */
export interface ClientFields {
  readonly model?: unknown;
  readonly voice?: unknown;
  readonly input?: unknown;
}

/** What a model does. */
export type ModelKind = 'recogniser' | 'voice';

/** Names of models that clients written for other servers send. */
export interface ForeignNames {
  /** The names in the list of models. */
  readonly listed: readonly string[];
  /** All accepted names. */
  readonly taken: RegExp;
}

/** What an error answers. */
export interface FailedRequest {
  readonly requestId: string;
  readonly status: number;
  readonly fields: ClientFields;
}

/** One family, on paths that it shares. */
export interface ClientFamily {
  readonly models: Readonly<Record<ModelKind, ForeignNames>>;
  /** Whether its client sent such a request; null = nothing in it tells. */
  sends(fields: ClientFields): boolean | null;
  /** The HTTP status that its clients expect. */
  statusFor(failure: TrunklineError): number;
  /** The body of an error as its clients expect it. */
  errorBody(failure: TrunklineError, of: FailedRequest): object;
  /** Speech is WAV where the request does not say, and WAV is sent whole. */
  readonly wantsWholeWav: boolean;
  /** A transcript in JSON names its language, as people write it. */
  readonly wantsLanguage: boolean;
  /** A request of its client to a path of this server has been answered. */
  onAnswered(route: string): void;
}

/** Who sent a request. */
export interface Sender {
  /** Null = a client of OpenAI's, or nothing tells. */
  readonly family: ClientFamily | null;
  /** All whose client it may be beside OpenAI's. */
  readonly possible: readonly ClientFamily[];
}

const OPENAI: Sender = { family: null, possible: [] };

/** Fields of requests whose body fastify has not read. */
const formFields = new WeakMap<FastifyRequest, ClientFields>();

/** Stores the form fields of `request`, whose body fastify has not read. */
export function rememberFields(request: FastifyRequest, fields: ClientFields): void {
  formFields.set(request, fields);
}

/** What `request` asks for, as far as it is known yet. */
export function fieldsOf(request: FastifyRequest): ClientFields {
  const { body } = request;
  return formFields.get(request) ?? (typeof body === 'object' && body !== null ? body : {});
}

/** All families of one server. */
export class ClientFamilies {
  readonly #families: readonly ClientFamily[];

  constructor(families: readonly ClientFamily[]) {
    this.#families = families;
  }

  /** Who sends such fields. */
  senderOf(fields: ClientFields): Sender {
    const answers = this.#families.map((family) => [family, family.sends(fields)] as const);
    const [family] = answers.find(([, isTheirs]) => isTheirs === true) ?? [];
    if (family !== undefined) return { family, possible: [family] };
    return { family: null, possible: answers.flatMap(([each, isTheirs]) => (isTheirs === null ? each : [])) };
  }

  /** Who sent `request`, as far as it is known yet. */
  senderOfRequest(request: FastifyRequest): Sender {
    return request.routeOptions.config?.sharedPath === true ? this.senderOf(fieldsOf(request)) : OPENAI;
  }

  /** The names of models of all families. */
  namesOf(kind: ModelKind): readonly ForeignNames[] {
    return this.#families.map(({ models }) => models[kind]);
  }

  /** Tells each family of its requests, so that it can count them. */
  watch(app: FastifyInstance): void {
    app.addHook('onResponse', async (request) => {
      this.senderOfRequest(request).family?.onAnswered(request.routeOptions.url ?? 'none');
    });
  }
}
