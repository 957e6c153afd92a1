/**
 * Keys that live for minutes, for programs that cannot keep a secret: a server asks for one with its own key and hands
 * it to a browser. They stand for whoever asked, on routes for live audio, recordings and speech alone, as often as
 * they are used, and die with what they were asked with: a key, a user, or the session of a browser. Nothing is stored:
 * a key is its own content, sealed, so that any gateway of a cluster can read it and
 * nobody else.
 */
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { SealedText } from '../../foundation/sealed-text.ts';
import { type Proof, storedProof } from './identities.ts';
import type { Permission } from './permissions.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for audio too, whatever its permission: it looks itself at what a short-lived key is used for. */
    readonly shortKeys?: true;
  }
}

/** As OpenAI's ephemeral keys begin. */
const PREFIX = 'ek_';
const SEALED = /^ek_([A-Za-z0-9_-]{40,8192})$/;
/** The first characters are the nonce, which no other key has. */
const ID_CHARS = 16;
/** Of the content, as JSON in UTF-8: a key must fit into a header, and into {@link SEALED} to be read again. */
const CONTENT_MAX_BYTES = 4096;
/** What such a key may be used for. */
const PERMITTED: readonly Permission[] = ['transcriptions', 'speech'];

/** What a short-lived key stands for. */
export interface ShortKey {
  /** Of whoever asked for it. */
  readonly proof: Proof;
  /** The session that asked for it, with which it ends; absent = none did. */
  readonly sessionId?: string;
  /** What was put into it, a JSON value; null = nothing. */
  readonly content: unknown;
}

const nobody = z.strictObject({ kind: z.literal('nobody') });
const sealedKey = z.object({
  until: z.number(),
  proof: z.union([storedProof, nobody]),
  sessionId: z.string().exactOptional(),
  content: z.unknown(),
});

/** Makes and reads them. */
export class ShortKeys {
  readonly #sealed: SealedText;
  readonly #clock: Clock;

  /** @param clusterKey CLUSTER_KEY; empty = no other gateway reads them, and they end with this process */
  constructor({ clock, clusterKey }: { clock: Clock; clusterKey: string }) {
    this.#clock = clock;
    this.#sealed = new SealedText(clusterKey, 'trunkline short keys');
  }

  /**
   * A key that holds for `lifeMs`. It is letters, digits, `-` and `_`, so it may be sent as a subprotocol.
   * @throws TrunklineError `invalid_request` when there is more content than fits into a header, or it is too deep
   */
  make(key: ShortKey, lifeMs: number): string {
    const text = toJson({ ...key, until: this.#clock.wall().getTime() + lifeMs });
    const bytes = Buffer.byteLength(text);
    if (bytes > CONTENT_MAX_BYTES)
      throw new TrunklineError(
        'invalid_request',
        `a key that lives for a short time takes ${CONTENT_MAX_BYTES} bytes of content, got ${bytes}`,
      );
    return PREFIX + this.#sealed.seal(text);
  }

  /** A name of `key` that is no secret. */
  idOf(key: string): string {
    return key.slice(PREFIX.length, PREFIX.length + ID_CHARS);
  }

  /**
   * What `key` stands for; null = it is none of these keys.
   * @throws TrunklineError `invalid_api_key` when it has expired
   */
  read(key: string): ShortKey | null {
    const found = this.#parse(key);
    if (found === null) return null;
    const { until, content = null, ...known } = found;
    if (until > this.#clock.wall().getTime()) return { ...known, content };
    throw new TrunklineError('invalid_api_key', 'the key has expired; ask for another one');
  }

  /** The session that asked for `key`, which may have expired; null = none did, or it is none of these keys. */
  sessionOf(key: string): string | null {
    return this.#parse(key)?.sessionId ?? null;
  }

  #parse(key: string): z.infer<typeof sealedKey> | null {
    const text = this.#sealed.open(SEALED.exec(key)?.[1] ?? '');
    return text === null ? null : sealedKey.parse(JSON.parse(text));
  }
}

function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new TrunklineError('invalid_request', 'the content of a key is nested too deep to be written');
  }
}

/**
 * Refuses a use of a short-lived key that needs `permission`, unless it is for audio and speech.
 * @throws TrunklineError `role_refused`
 */
export function assertShortKeyPermitted(permission: Permission): void {
  if (PERMITTED.includes(permission)) return;
  throw new TrunklineError(
    'role_refused',
    `a short-lived key is for ${PERMITTED.join(' and ')} alone; this needs a key of API_KEYS or a user's`,
  );
}
