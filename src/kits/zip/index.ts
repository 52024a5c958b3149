// The face of the ZIP kit.

// Reading: the table of contents, of which nothing is believed, and what is in the entries that were chosen from it.
// Writing: the records of an archive, and the compression of what stands between them.
export { type Compression, compression, unpackedEntries } from './contents.ts'
export { readZipDirectory, type ZipEntry, zipComment } from './zip-directory.ts'
// How an entry is packed, and the flag of one that is encrypted.
export {
  centralHeader,
  DEFLATED,
  dataDescriptor,
  ENCRYPTED,
  endOfArchive,
  localHeader,
  type NewEntry,
  STORED,
  storedParts,
  wholeArchive,
} from './zip-format.ts'
