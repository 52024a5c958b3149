// `node:fs` inside the isolate: each function in the three forms that Node has.

import { withCode, wrongType } from './errors.ts'
import { appendFile, copyFile, cp, readFile, writeFile } from './fs-content.ts'
import { close, fstat, fsync, ftruncate, open, read, truncate, write } from './fs-descriptors.ts'
import {
  access,
  chmod,
  exists,
  lstat,
  mkdir,
  mkdtemp,
  nativeRealpath,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  unlink,
  utimes,
} from './fs-entries.ts'
import { Dirent, Stats } from './fs-stats.ts'
import { createReadStream, createWriteStream, Dir, FileHandle } from './fs-streams.ts'

const constants = {
  F_OK: 0,
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  COPYFILE_EXCL: 1,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 64,
  O_EXCL: 128,
  O_TRUNC: 512,
  O_APPEND: 1024,
  S_IFMT: 0o170000,
  S_IFREG: 0o100000,
  S_IFDIR: 0o040000,
  S_IFLNK: 0o120000,
}

const SYNC = {
  readFile,
  writeFile,
  appendFile,
  truncate,
  stat,
  lstat,
  access,
  readdir,
  mkdir,
  mkdtemp,
  rmdir,
  rm,
  unlink,
  rename,
  copyFile,
  cp,
  chmod,
  utimes,
  realpath,
  readlink,
  symlink,
  open,
  close,
  fstat,
  read,
  write,
  fsync,
  fdatasync: fsync,
  ftruncate,
  lchmod: chmod,
  lutimes: utimes,
  link: (from: unknown, to: unknown) => copyFile(from, to),
}

type Call = (...args: never[]) => unknown
type Callback = (...outcome: unknown[]) => void

const called = (run: Call, args: readonly unknown[]): unknown => Reflect.apply(run, undefined, args)

function withCallback(run: Call): (...args: unknown[]) => void {
  return (...args) => {
    const callback = callbackOf(args.pop())
    const outcome = outcomeOf(run, args)
    setTimeout(() => callback(...outcome), 0)
  }
}

function callbackOf(given: unknown): Callback {
  if (typeof given !== 'function') throw wrongType('The "cb" argument must be of type function', given)
  return (...outcome) => void Reflect.apply(given, undefined, outcome)
}

function outcomeOf(run: Call, args: readonly unknown[]): unknown[] {
  try {
    return [null, called(run, args)]
  } catch (error) {
    return [error]
  }
}

const entriesOf = (make: (run: Call) => unknown) =>
  Object.entries(SYNC).map(([name, run]) => [name, make(run)] as const)

/** `node:fs/promises`. */
export const promises: Record<string, unknown> = {
  constants,
  ...Object.fromEntries(
    entriesOf(
      (run) =>
        async (...args: unknown[]) =>
          called(run, args),
    ),
  ),
  open: async (path: unknown, flags?: string | number, mode?: number) => new FileHandle(open(path, flags, mode)),
  opendir: async (path: unknown) => new Dir(path),
  realpath: async (path: unknown) => nativeRealpath(path),
}

function opendir(path: unknown, ...rest: unknown[]): void {
  const callback = callbackOf(rest.pop())
  const [error, dir] = outcomeOf(() => new Dir(path), [])
  queueMicrotask(() => (error === null ? callback(null, dir) : callback(error)))
}

const watch = () => {
  throw withCode(new Error('Nothing can be watched here'), 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM')
}

export const fs: Record<string, unknown> = {
  constants,
  promises,
  Stats,
  Dirent,
  Dir,
  ...Object.fromEntries(entriesOf((run) => run).map(([name, run]) => [`${name}Sync`, run])),
  ...Object.fromEntries(entriesOf(withCallback)),
  realpathSync: Object.assign((path: unknown) => realpath(path), { native: nativeRealpath }),
  opendirSync: (path: unknown) => new Dir(path),
  opendir,
  existsSync: exists,
  exists: (path: unknown, callback: (isThere: boolean) => void) => void setTimeout(() => callback(exists(path)), 0),
  createReadStream,
  createWriteStream,
  watch,
  watchFile: watch,
}
