/** Fields of our own API that had other names before 1.0. The old names are taken until then. */
import { isDeepStrictEqual } from 'node:util';
import { TrunklineError } from '../../foundation/errors.ts';
import { describe } from './echo.ts';

/**
 * `fields` by their new names; `newNames` holds the new name of each old one.
 * @throws TrunklineError `invalid_request` where a field came by both names with different values
 */
export function withNewNames(
  fields: Readonly<Record<string, unknown>>,
  newNames: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const renamed: Record<string, unknown> = { ...fields };
  for (const [oldName, newName] of Object.entries(newNames)) {
    const value = fields[oldName];
    delete renamed[oldName];
    if (value === undefined) continue;
    if (fields[newName] !== undefined && !isDeepStrictEqual(fields[newName], value)) {
      throw new TrunklineError(
        'invalid_request',
        `${newName}: got ${describe(fields[newName])} and, by its old name ${oldName}, ${describe(value)}; ` +
          'expected one of the two names',
        newName,
      );
    }
    renamed[newName] = value;
  }
  return renamed;
}
