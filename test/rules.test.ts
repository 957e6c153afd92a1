/** The rules of this repository, each with a snippet that breaks it: a rule whose check cannot fail would be none. */
import { describe, expect, it } from 'vitest';
import * as habits from './rules/habits.ts';
import * as imports from './rules/imports.ts';
import * as patterns from './rules/patterns.ts';
import { readSources, type SourceFile, stripSource } from './rules/source.ts';
import * as styles from './rules/styles.ts';

type Check = (files: readonly SourceFile[]) => string[];

const PRODUCT = readSources(['src', 'engine'], ['.ts']);
const TYPESCRIPT = readSources(['src', 'engine', 'test'], ['.ts']).filter(({ path }) => path !== 'test/rules.test.ts');
const ALL = readSources(['src', 'engine', 'test', 'scripts'], ['.ts', '.js', '.mjs', '.css']);
const RUNNING = readSources(['src', 'engine'], ['.ts', '.js']);
const STYLES = readSources(['src/console/page'], ['.css']);
const PROGRAMS = readSources(['src', 'engine', 'test', 'scripts', 'examples'], ['.ts', '.js', '.mjs']);

const file = (path: string, text: string): SourceFile => ({ path, text });

interface Rule {
  readonly rule: string;
  readonly check: Check;
  readonly files: readonly SourceFile[];
  /** Situations that break the rule in one place each. */
  readonly broken: readonly (readonly SourceFile[])[];
  readonly kept: readonly SourceFile[];
}

const RULES: readonly Rule[] = [
  {
    rule: 'imports point down',
    check: imports.findForbiddenImports,
    files: PRODUCT,
    broken: [
      [file('src/audio/pcm.ts', "import { x } from '../calls/call.ts';")],
      [
        file(
          'src/carriers/shared/wire/twilio-media.ts',
          "import { x } from '../../transcription/live-transcriber.ts';",
        ),
      ],
      [file('src/calls/call.ts', "import { EngineClient } from '../engine-client/engine-client.ts';")],
      [file('src/http/calls/calls.ts', "import type { createServer } from '../../gateway/server.ts';")],
      [file('src/foundation/units.ts', "import {\n  x,\n} from '../audio/pcm.ts';")],
      [file('src/engine-client/engine-client.ts', "import { x } from '../../engine/scheduler.ts';")],
      [file('engine/main.ts', "import { x } from '../src/foundation/units.ts';")],
    ],
    kept: [
      file(
        'src/calls/call.ts',
        "import type { Engine } from '../engine-client/engine.ts';\n// import '../gateway/server.ts'",
      ),
      file('src/cli/serve.ts', "import { EngineClient } from '../engine-client/engine-client.ts';"),
      file('src/engine-client/engine-client.ts', "import type { EngineJob } from '../../engine/contract.ts';"),
    ],
  },
  {
    rule: 'no folders import each other in a circle',
    check: imports.findFolderCycles,
    files: PRODUCT,
    broken: [
      [
        file('src/cli/checks.ts', "import { x } from '../gateway/main.ts';"),
        file('src/gateway/system-sources.ts', "import { checkNode } from '../cli/checks.ts';"),
        file('src/gateway/main.ts', ''),
      ],
    ],
    kept: [
      file('src/cli/doctor.ts', "import { x } from '../checks/checks.ts';"),
      file('src/checks/checks.ts', "import { y } from '../foundation/units.ts';"),
    ],
  },
  {
    rule: 'pure folders do not touch the world',
    check: imports.findImpureImports,
    files: PRODUCT,
    broken: [
      [file('src/audio/pcm.ts', "import type { Log } from '../foundation/log/log.ts';")],
      [file('src/transcription/live-transcriber.ts', "import { systemClock } from '../foundation/clock.ts';")],
      [file('src/transcription/endpointer.ts', "import { readFileSync } from 'node:fs';")],
      [file('src/carriers/shared/wire/twilio-media.ts', "import { WebSocket } from 'ws';")],
    ],
    kept: [
      file('src/transcription/live-transcriber.ts', "import type { Clock } from '../foundation/clock.ts';"),
      file('src/carriers/shared/websocket/leg.ts', "import { WebSocket } from 'ws';"),
      file('src/protocols/twilio-signature.ts', "import { createHmac } from 'node:crypto';"),
    ],
  },
  {
    rule: 'only the engine knows onnxruntime, and one file of it loads it',
    check: imports.findModelCodeOutsideEngine,
    files: TYPESCRIPT,
    broken: [
      [file('src/cli/doctor.ts', "const ort = await import('onnxruntime-node');")],
      [file('engine/onnx.ts', "import ort from 'onnxruntime-node';")],
      [file('test/engine/onnx.test.ts', "import ort from 'onnxruntime-node';")],
    ],
    kept: [
      file('engine/onnxruntime.ts', "import ort from 'onnxruntime-node';"),
      file('engine/probe.ts', "import { env } from 'onnxruntime-common';"),
    ],
  },
  {
    rule: 'no files import each other in a circle',
    check: imports.findCycles,
    files: PRODUCT,
    broken: [
      [
        file('src/a.ts', "import { b } from './b.ts';"),
        file('src/b.ts', "import { c } from './c.ts';"),
        file('src/c.ts', "import type { a } from './a.ts';"),
      ],
    ],
    kept: [file('src/a.ts', "import { b } from './b.ts';"), file('src/b.ts', 'export const b = 1;')],
  },
  {
    rule: 'the environment is read in config.ts alone',
    check: habits.findEnvironmentReads,
    files: PRODUCT,
    broken: [[file('engine/main.ts', "const x = process.env['X'];")]],
    kept: [
      file('src/foundation/settings/config.ts', 'read(process.env);'),
      file('src/cli.ts', '// process.env is read elsewhere'),
    ],
  },
  {
    rule: 'time comes from the clock',
    check: habits.findClockReads,
    files: PRODUCT,
    broken: [
      [file('src/a.ts', 'const now = Date.now();')],
      [file('src/b.ts', 'setTimeout(f, 5);')],
      [file('engine/c.ts', 'const at = performance.now();')],
      [file('src/d.ts', 'const d = new Date();')],
    ],
    kept: [
      file('src/foundation/clock.ts', 'setTimeout(f, 5);'),
      file('engine/time.ts', 'performance.now();'),
      file('src/a.ts', 'clearTimeout(t); new Date(atMs);'),
    ],
  },
  {
    rule: 'frame sizes come from the codec',
    check: habits.findFrameSizes,
    files: PRODUCT.filter(({ path }) => path.startsWith('src/')),
    broken: [[file('src/a.ts', 'const frame = new Uint8Array(160);')]],
    kept: [file('src/a.ts', "const a = 1600; // 160\nconst b = '160';")],
  },
  {
    rule: 'no reminders are left behind',
    check: habits.findReminders,
    files: ALL,
    broken: [[file('src/a.ts', `// TO${'DO'}: later`)]],
    kept: [file('src/a.ts', '// todos is a list')],
  },
  {
    rule: 'exports are named and come from where they are',
    check: habits.findDefaultExportsAndBarrels,
    // vitest takes a reporter as a default export only.
    files: ALL.filter(({ path }) => path !== 'test/helpers/retried-tests.ts'),
    broken: [
      [file('src/a.ts', 'export default 1;')],
      [file('src/b.ts', "export * from './a.ts';")],
      [file('src/c.ts', "export { a } from './a.ts';")],
      [file('src/audio/index.ts', '')],
    ],
    kept: [file('src/a.ts', 'export const a = 1;\nexport { a as b };\nconst text = "export default";')],
  },
  {
    rule: 'imports of our files say .ts',
    check: habits.findImportsWithoutEnding,
    files: TYPESCRIPT,
    broken: [[file('src/a.ts', "import { b } from './b.js';")]],
    kept: [file('src/a.ts', "import { b } from './b.ts';\nimport { z } from 'zod';")],
  },
  {
    rule: 'files stay short',
    check: habits.findLongFiles,
    files: ALL,
    broken: [[file('src/a.ts', 'x;\n'.repeat(601))]],
    kept: [file('src/a.ts', 'x;\n'.repeat(600))],
  },
  {
    rule: 'lines stay short',
    check: habits.findLongLines,
    files: PROGRAMS,
    broken: [
      [file('src/a.ts', `const a = b + ${'c'.repeat(110)};`)],
      [file('src/b.ts', `  '${'two words '.repeat(12)}',`)],
      [file('src/c.ts', `// ${'x'.repeat(120)}`)],
      [file('src/d.ts', `const d = \`\n\`;\nconst e = '${'x'.repeat(120)}' + f;`)],
    ],
    kept: [
      file('src/a.ts', `${'x'.repeat(119)};\nimport { x } from './${'x'.repeat(120)}.ts';`),
      file('src/b.ts', `const b =\n  /${'x'.repeat(120)}/g;\nconst c =\n  '${'x'.repeat(120)}';`),
      file('src/c.ts', `const c = \`\n${'two words '.repeat(13)}\n\`;`),
      file('test/d.test.ts', `  it('${'says '.repeat(24)}so', async () => {`),
    ],
  },
  {
    rule: 'properties are written out',
    check: habits.findSpreadLiterals,
    files: PROGRAMS.filter(({ path }) => path !== 'test/rules.test.ts'),
    broken: [[file('src/a.ts', 'const a = { ...{ b, c }, d };')]],
    kept: [file('src/a.ts', "const a = { ...b, ...(c ? { d } : {}) };\n// ...{ e }\nconst f = '...{';")],
  },
  {
    rule: 'functions stay short',
    check: habits.findLongFunctions,
    files: PRODUCT,
    broken: [
      [file('src/a.ts', `function f(a: string): Promise<{ b: number }> {\n${'x;\n'.repeat(60)}}`)],
      [file('src/b.ts', `const f = (a) => {\n${'x;\n'.repeat(60)}};`)],
      [file('src/c.ts', `class C {\n  f() {\n${'x;\n'.repeat(60)}}\n}`)],
    ],
    kept: [
      file('src/a.ts', `function f(): void {\n${'x;\n'.repeat(58)}}`),
      file('src/b.ts', `class C {\n${'x;\n'.repeat(100)}}`),
      file('src/c.ts', `if (ready()) {\n${'x;\n'.repeat(100)}}`),
    ],
  },
  {
    rule: 'every export says what it is',
    check: habits.findUndocumentedExports,
    files: PRODUCT,
    broken: [
      [file('src/a.ts', 'export function f(): void {}')],
      [file('src/b.ts', '/** A. */\n\nexport const b = 1;')],
    ],
    kept: [
      file('src/a.ts', '/** What f does. */\nexport function f(): void {}'),
      file('src/b.ts', '/** F. */\nexport function f(a: 1): 1;\nexport function f(a: 2): 2;'),
      file('src/c.ts', '/** What lies between. */\nexport const MIN = 1;\nexport const MAX = 2;'),
      file('src/d.ts', '/** D counts. */\n\nexport class D {}'),
    ],
  },
  {
    rule: 'regular expressions are linear, whatever the text',
    check: patterns.findSlowPatterns,
    files: RUNNING,
    broken: [
      // As it stood in src/clients/deepgram/wire/messages.ts.
      [file('src/a.ts', `const CLOSING = /[.,;:!?…\\p{Pe}\\p{Pf}\\p{Pd}"'。，、！？；：]+$/u;`)],
      [file('src/b.ts', 'f(text.replace(/\\/+$/, ""));')],
      [file('src/c.js', 'return /^\\s*(\\S+)\\s*(.*?)\\s*$/s.exec(text);')],
      [file('src/d.ts', `const d = \`a \${b.replace(/(?:x+)+y/g, "")}\`;`)],
      [file('src/e.ts', 'if (/^\\+?[\\d .-]*\\d[\\d .-]*$/.test(text)) f();')],
    ],
    kept: [file('src/a.ts', `const a = \`\${b / 2} \${c / 3}\`;\nconst d = /(?<!\\/)\\/+$/;\n// e = /x+$/;`)],
  },
  {
    rule: 'a class is styled by one view, or by the whole page',
    check: styles.findSharedClasses,
    files: STYLES,
    broken: [
      [
        file('src/console/page/live/live.css', '.row { gap: 0 }'),
        file('src/console/page/history/history.css', '@media (width < 9px) { a, .row > b { gap: 1px } }'),
      ],
      [file('src/console/page/live/live.css', '.chip:hover { gap: 0 }'), file('src/console/page/page.css', '.chip {}')],
    ],
    kept: [
      file('src/console/page/page.css', '.chip { gap: 0 }'),
      file('src/console/page/live/live.css', '.live .chip { gap: 0 } /* .chip {} */'),
      file('src/console/page/live/cards.css', '.live { gap: 0.5rem }'),
    ],
  },
];

describe.each(RULES)('$rule', ({ check, files, broken, kept }) => {
  it('holds in this repository', () => {
    expect(check(files)).toEqual([]);
  });

  it('is noticed when it is broken, and only then', () => {
    for (const situation of broken) expect(check(situation), situation[0]?.text).toHaveLength(1);
    expect(check(kept)).toEqual([]);
  });
});

describe('patterns that are made of pieces', () => {
  it('are linear, whatever the text', async () => {
    expect(await patterns.findSlowMadePatterns(RUNNING)).toEqual([]);
    expect(patterns.findNeedlessExceptions(RUNNING)).toEqual([]);
  });

  it('are noticed when they are not', async () => {
    const slow = file('test/fakes/slow-patterns.ts', 'new RegExp(one); new RegExp(another);');
    expect(await patterns.findSlowMadePatterns([slow])).toEqual([
      'test/fakes/slow-patterns.ts makes /[a-z]+$/, which is not linear',
      'test/fakes/slow-patterns.ts makes 1 patterns later, which nobody has judged',
    ]);
    expect(patterns.findNeedlessExceptions([slow])).toContain('src/carriers/sip/simulator/phone-sdp.ts');
  });
});

describe('reading source', () => {
  it('leaves code and blanks out comments, strings, templates and patterns', () => {
    const text = ["a('// b'); // c", `d(\`e \${f(\`g\`)} h\`) / i;`, 'j = /[\'"]/; k; /* l', 'm */ n;'].join('\n');
    expect(stripSource(text).replace(/ +/g, ' ')).toBe('a( ); \nd( ) / i;\nj = ; k; \n n;');
  });

  it('finds the repository', () => {
    expect(PRODUCT.length).toBeGreaterThan(10);
    expect(ALL.length).toBeGreaterThan(PRODUCT.length);
  });
});
