/** Which choice of a list a caller means. */

/** A choice, as the verb `menu` has it: the key and the phrases that choose it, beside its name. */
export interface SpokenChoice {
  readonly key?: string | undefined;
  readonly say?: readonly string[] | undefined;
}

/** The name of the one choice that `text` means in `language`; null = none, or it could be two. */
export function chooseSpoken(
  text: string,
  choices: Readonly<Record<string, SpokenChoice>>,
  _language: string,
): string | null {
  const said = text.toLowerCase();
  const found = Object.entries(choices).filter(([name, { say = [] }]) =>
    [name, ...say].some((phrase) => said.includes(phrase.toLowerCase())),
  );
  return found.length === 1 ? (found[0]?.[0] ?? null) : null;
}
