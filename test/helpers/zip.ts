/** Makes zip files, also ones that lie about what they hold. */
import { deflateRawSync } from 'node:zlib';

/** A file for a zip file. */
export interface ZipFile {
  readonly path: string;
  readonly data: Uint8Array;
  /** Announced in place of the true size. */
  readonly bytes?: number;
  readonly isStored?: boolean;
  readonly isEncrypted?: boolean;
}

/** A zip file with `files`. */
export function makeZip(files: readonly ZipFile[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { path, data, bytes = data.length, isStored = false, isEncrypted = false } of files) {
    const name = Buffer.from(path);
    const packed = isStored ? Buffer.from(data) : deflateRawSync(data);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(isEncrypted ? 1 : 0, 2);
    head.writeUInt16LE(isStored ? 0 : 8, 4);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(bytes, 18);
    head.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    head.copy(entry, 6);
    entry.writeUInt32LE(at, 42);
    const body = Buffer.concat([Buffer.from('PK\u0003\u0004'), head, name, packed]);
    bodies.push(body);
    directory.push(entry, name);
    at += body.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, list, end]);
}
