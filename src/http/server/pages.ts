/** Lists in pages: `{data, next}`, where `next` is the cursor of the next page. */
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { describe } from './echo.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;
const CURSOR_MAX_CHARS = 2000;

/** The query of a list. */
export const pageQuery = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMIT_MAX)
    .default(LIMIT_DEFAULT)
    .describe(`Most entries of one page, 1 to ${LIMIT_MAX}`),
  cursor: z
    .string()
    .max(CURSOR_MAX_CHARS)
    .optional()
    .describe('`next` of the page before; without it, the first page is answered'),
});

/** The answer of a list whose entries have the schema `entry`. */
export function pageSchema<T extends z.ZodType>(entry: T) {
  return z.object({
    data: z.array(entry),
    next: z.string().nullable().describe('The `cursor` of the next page; null where this is the last one'),
  });
}

/**
 * Where an entry stands: lists are in ascending order of the groups, then of the numbers, then of the ids. No two
 * entries stand at the same place.
 */
export type ListPosition = readonly [group: number, order: number, id: string];

const position = z.tuple([z.number(), z.number(), z.string()]);

/**
 * The page of `entries` that `query` asks for. A cursor holds the position of the last entry of its page, not a count:
 * entries that are added or removed between two requests do not shift the pages.
 * @throws TrunklineError `invalid_request` for a cursor that is not ours
 */
export function pageOf<T>(
  entries: readonly T[],
  positionOf: (entry: T) => ListPosition,
  { limit, cursor }: z.infer<typeof pageQuery>,
): { data: T[]; next: string | null } {
  const placed = entries
    .map((entry) => ({ entry, position: positionOf(entry) }))
    .toSorted((a, b) => comparePositions(a.position, b.position));
  const after = cursor === undefined || cursor === '' ? null : readCursor(cursor);
  const rest = after === null ? placed : placed.filter((each) => comparePositions(each.position, after) > 0);
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  return { data: page.map(({ entry }) => entry), next: last === undefined ? null : writeCursor(last.position) };
}

function comparePositions([groupA, orderA, idA]: ListPosition, [groupB, orderB, idB]: ListPosition): number {
  if (groupA !== groupB) return groupA - groupB;
  if (orderA !== orderB) return orderA - orderB;
  if (idA === idB) return 0;
  return idA < idB ? -1 : 1;
}

function writeCursor(last: ListPosition): string {
  return Buffer.from(JSON.stringify(last)).toString('base64url');
}

function readCursor(cursor: string): ListPosition {
  try {
    return position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw new TrunklineError(
      'invalid_request',
      `query.cursor: got ${describe(cursor)}, expected the \`next\` of an earlier answer`,
      'cursor',
    );
  }
}
