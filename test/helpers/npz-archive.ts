import { deflateRawSync } from 'node:zlib';

/** A zip archive of NumPy's arrays: names without `.npy`, and their little-endian 32-bit numbers. */
export function npzArchive(arrays: Readonly<Record<string, Buffer>>): Buffer {
  const header = Buffer.from("\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, }", 'latin1');
  const files: Buffer[] = [];
  const list: Buffer[] = [];
  let from = 0;
  for (const [name, data] of Object.entries(arrays)) {
    const packed = deflateRawSync(Buffer.concat([header, Buffer.alloc(128 - header.length, ' '), data]));
    const file = Buffer.from(`${name}.npy`);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x0403_4b50, 0);
    local.writeUInt16LE(file.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x0201_4b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(file.length, 28);
    entry.writeUInt32LE(from, 42);
    files.push(local, file, packed);
    list.push(entry, file);
    from += local.length + file.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(Object.keys(arrays).length, 10);
  end.writeUInt32LE(from, 16);
  return Buffer.concat([...files, ...list, end]);
}
