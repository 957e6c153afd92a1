/**
 * Where a reader of the feed of several gateways is. Ids are `<epoch>-<number>`, in the order that all gateways share;
 * one that was given out while the database was away is `<epoch>-<number>~<gateway>-<n>`: all up to that number, and
 * the first n events of that gateway, which have their numbers later.
 */

/** What a reader has of one gateway beyond the common order. */
export interface Ahead {
  readonly gateway: string;
  readonly localNumber: number;
}

/** What a reader has. */
export interface FeedPosition {
  readonly epoch: string;
  /** All events up to this number. */
  readonly number: number;
  /** And these; null = no others. */
  readonly ahead: Ahead | null;
}

const NAME = '[0-9A-Za-z-]{1,100}';
/** As many digits as a double has in every case. */
const NUMBER = '0|[1-9]\\d{0,14}';
const ID = new RegExp(`^(?<epoch>${NAME})-(?<number>${NUMBER})(?:~(?<gateway>${NAME})-(?<local>${NUMBER}))?$`);

/** The position after the event with this id; null = it is no id of a feed. */
export function readFeedPosition(id: string): FeedPosition | null {
  const { epoch, number, gateway, local } = ID.exec(id)?.groups ?? {};
  if (epoch === undefined) return null;
  const ahead = gateway === undefined ? null : { gateway, localNumber: Number(local) };
  return { epoch, number: Number(number), ahead };
}

/** The id of an event after which a reader has `position`. */
export function formatFeedPosition({ epoch, number, ahead }: FeedPosition): string {
  const plain = `${epoch}-${number}`;
  return ahead === null ? plain : `${plain}~${ahead.gateway}-${ahead.localNumber}`;
}
