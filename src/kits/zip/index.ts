// The public interface of the ZIP kit.

// Reading: the table of contents, which is fully validated, and the contents of selected entries. Writing: the records
// of an archive, and the compression of the contents between them.
export { type Compression, compression, unpackedEntries } from './contents.ts'
export { readZipDirectory, type ZipEntry, zipComment } from './zip-directory.ts'
// How an entry is compressed, and the flag of an encrypted one.
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
