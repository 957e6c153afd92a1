/**
 * Makes node_modules small: onnxruntime-node brings its library for six platforms, of which one is needed, and
 * @evan/opus native code beside the WebAssembly that is used. `npm ci` brings the others back. Run by the Dockerfile
 * and by `npm run slim`.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const libraries = join(root, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6');

/** Bytes in `folder` and all below it. */
function sizeOf(folder) {
  return readdirSync(folder, { recursive: true }).reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0);
}

/** Removes all of `folder` except `kept`. */
function keepOnly(folder, kept) {
  const names = readdirSync(folder);
  if (!names.includes(kept))
    throw new Error(
      `onnxruntime-node has nothing for ${process.platform}/${process.arch}: found ${names.join(', ')} in ${folder}`,
    );
  for (const name of names) if (name !== kept) rmSync(join(folder, name), { recursive: true });
}

// Opus comes as WebAssembly and, for five platforms, as native code that nobody loads.
rmSync(join(root, 'node_modules', '@evan', 'opus', 'node'), { recursive: true, force: true });

const before = sizeOf(libraries);
keepOnly(libraries, process.platform);
keepOnly(join(libraries, process.platform), process.arch);
console.log(
  `onnxruntime-node: ${Math.round(before / 1e6)} MB of libraries cut to ${Math.round(sizeOf(libraries) / 1e6)} MB`,
);
