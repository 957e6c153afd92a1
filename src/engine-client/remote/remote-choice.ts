/** Which server reads what. */
import { LRUCache } from 'lru-cache';
import type { TranscribeRequest } from '../engine.ts';
import type { RemoteMember } from './remote-member.ts';

/** Utterances that go on at the same time, in all calls. */
const STREAMS_MAX = 1024;

/** Who reads an utterance. */
type Place = RemoteMember | 'embedded';

/** Chooses servers by weight and load, and stays with one for all readings of an utterance as long as it answers. */
export class RemoteChoice {
  readonly #members: readonly RemoteMember[];
  readonly #languages: () => readonly string[];
  readonly #places = new LRUCache<number, Place>({ max: STREAMS_MAX });

  /** @param languages what the embedded recogniser understands */
  constructor(members: readonly RemoteMember[], languages: () => readonly string[]) {
    this.#members = members;
    this.#languages = languages;
  }

  /**
   * For a partial caption; null = the embedded recogniser. It may be a server that failed, to see whether it is back.
   */
  forPartial(request: TranscribeRequest): RemoteMember | null {
    return this.#stay(request, ({ admits }) => admits);
  }

  /** For a final, which is no trial: null = the embedded recogniser. */
  forFinal(request: TranscribeRequest): RemoteMember | null {
    return this.#stay(request, ({ admits, isDown }) => admits && !isDown);
  }

  /** For a piece of a recording, and for what only a server understands; null = none can take it now. */
  anyFor(
    { language }: Pick<TranscribeRequest, 'language'>,
    isFree: (member: RemoteMember) => boolean,
    except?: RemoteMember,
  ): RemoteMember | null {
    const free = this.#members.filter(
      (member) => member !== except && isFree(member) && member.reads(language, this.#languages()),
    );
    const [first = null] = free.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
    return first;
  }

  /** `member` failed at `request`: the utterance goes on with another server, if one can take it. */
  moveAway(request: TranscribeRequest, member: RemoteMember): void {
    const other = this.anyFor(request, ({ admits, isDown }) => admits && !isDown, member);
    if (request.stream !== undefined && other !== null) this.#places.set(request.stream, other);
  }

  #stay(request: TranscribeRequest, isFree: (member: RemoteMember) => boolean): RemoteMember | null {
    const { stream } = request;
    const place = stream === undefined ? undefined : this.#places.get(stream);
    if (place === 'embedded') return null;
    if (place !== undefined && isFree(place)) return place;
    const member = this.anyFor(request, isFree);
    if (stream !== undefined) this.#places.set(stream, member ?? 'embedded');
    return member;
  }
}
