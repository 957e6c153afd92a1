/** Checks that nobody can say one thing and mean two choices. */
import type { YamlPath } from '../../foundation/yaml-document.ts';
import type { FlowFinding } from '../file/flow-finding.ts';

/** Phrases that choose two things, or say nothing. A choice is said by its name, too. */
export function sharedPhrases(
  choices: readonly (readonly [name: string, say: readonly string[] | undefined])[],
  placeOf: (name: string, at: number) => YamlPath,
): FlowFinding[] {
  const owners = new Map<string, string>();
  for (const [name] of choices) owners.set(asSaid(name), name);
  return choices.flatMap(([name, say = []]) =>
    say.flatMap((phrase, at): FlowFinding[] => {
      const said = asSaid(phrase);
      const owner = owners.get(said) ?? name;
      owners.set(said, owner);
      if (said === '') return [{ path: placeOf(name, at), message: `got ${JSON.stringify(phrase)}, expected words` }];
      if (owner === name) return [];
      const message = `got ${JSON.stringify(phrase)}, which chooses ${owner} already`;
      return [{ path: placeOf(name, at), message }];
    }),
  );
}

function asSaid(phrase: string): string {
  return phrase
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
