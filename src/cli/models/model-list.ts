/** `trunkline models list` for people: lines of at most 80 columns. */
import { isRecogniser } from '../../../engine/models/bridge.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import type { InventoryRow } from '../../models/inventory.ts';
import { wrap } from '../wrap.ts';

/** What makes text stand out on a terminal. */
interface Style {
  bold(text: string): string;
}

const INDENT = '  ';

const STATES: Readonly<Record<InventoryRow['state'], string>> = {
  installed: 'installed',
  older: 'installed',
  available: 'not installed',
  broken: 'not whole',
};

/** The families of recognisers that can be installed, and what people should know before they choose one. */
const FAMILIES: readonly { readonly of: InventoryRow['family']; readonly title: string; readonly about: string }[] = [
  {
    of: 'moonshine-streaming',
    title: 'Moonshine streaming, one language each',
    about: 'Partial and final captions by one recogniser (ASR_MODEL). small is the one to begin with.',
  },
  {
    of: 'parakeet-tdt',
    title: 'Parakeet TDT, for finals and recordings',
    about: 'Too slow for partial captions: use it beside a quick one (ASR_FINAL_MODEL).',
  },
  {
    of: 'qwen3-asr',
    title: 'Qwen3-ASR, for finals and recordings',
    about: 'Knows which language is spoken, and takes a core and more for a call (ASR_FINAL_MODEL).',
  },
  {
    of: 'whisper',
    title: 'Whisper, for finals and recordings in the languages that others have not',
    about: 'Too slow for partial captions: use it beside a quick one (ASR_FINAL_MODEL).',
  },
  {
    of: 'moonshine',
    title: 'Moonshine, older: not streaming, one language each',
    about: 'For languages that the others have not, and private use (ASR_MODEL).',
  },
];

/** The lines of the list. */
export function describeModels(models: readonly InventoryRow[], style: Style): string[] {
  const offered = FAMILIES.map(({ of }) => of);
  // What is installed has lines of its own, which say what it is used for and what would be better.
  const [short, whole] = [true, false].map((isShort) =>
    models.filter(({ family, state }) => (offered.includes(family) && state === 'available') === isShort),
  ) as [InventoryRow[], InventoryRow[]];
  const width = Math.max(0, ...whole.map(({ name, version }) => `${name} ${version}`.length));
  const groups = FAMILIES.flatMap(({ of, title, about }) => {
    const rows = short.filter(({ family }) => family === of);
    return rows.length === 0 ? [] : ['', style.bold(title), ...wrap(about, INDENT), ...describeOffer(rows)];
  });
  const add = short.length === 0 ? [] : ['', '→ trunkline models add NAME', ''];
  return [...whole.flatMap((row) => describeWhole(row, width, style)), ...groups, ...add];
}

function describeWhole(row: InventoryRow, width: number, style: Style): string[] {
  const { name, version, family, state, bytes, licence, obligation, languages, use, about, advice } = row;
  const used = use === null ? unusedOf(row) : `, used for ${use}`;
  const facts = [formatBytes(bytes), licence, languages.join(' ')].filter((fact) => fact !== '');
  const head = `${style.bold(`${name} ${version}`.padEnd(width))}  ${STATES[state]}${used}`;
  const body = isRecogniser(family) ? wrap(facts.join(', '), INDENT) : [`${INDENT}${facts.join(', ')}`];
  return [
    head,
    ...body,
    ...wrap(about, INDENT),
    ...(obligation === null ? [] : wrap(obligation, INDENT)),
    ...(advice === null ? [] : wrap(`→ ${advice}`, INDENT)),
  ];
}

/** A recogniser is used only where a setting names it. */
function unusedOf({ family, state }: InventoryRow): string {
  return isRecogniser(family) && state !== 'available' && state !== 'broken' ? ', not used (ASR_MODEL)' : '';
}

/** Name, size, languages, and what licence and publisher say, one line each. */
function describeOffer(rows: readonly InventoryRow[]): string[] {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const sizeWidth = Math.max(...rows.map(({ bytes }) => formatBytes(bytes).length));
  const lines = rows.map(({ name, bytes, languages, accuracy }) => {
    const heard = languages.length > 2 ? `${languages.length} languages` : languages.join(' ');
    const head = `${INDENT}${name.padEnd(nameWidth)}  ${formatBytes(bytes).padStart(sizeWidth)}  ${heard}`;
    return accuracy === null ? head : `${head}  ${accuracy}`;
  });
  return [...lines, ...describeLicences(rows).flatMap((line) => wrap(line, INDENT))];
}

/** What each licence asks for; with the names where there are several. */
function describeLicences(rows: readonly InventoryRow[]): string[] {
  const licences = [...new Set(rows.map(({ licence }) => licence))];
  return licences.map((licence) => {
    const [first, ...others] = rows.filter((row) => row.licence === licence);
    const whose = licences.length === 1 ? '' : ` (${others.length === 0 ? first?.name : 'the others'})`;
    const duty = first?.obligation ?? null;
    return `licence ${licence}${whose}${duty === null ? '' : `: ${duty}`}`;
  });
}
