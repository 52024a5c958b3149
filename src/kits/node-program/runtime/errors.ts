// Errors as Node makes them: a code, and for those of files what was asked and of which path.

import { inspect } from 'node:util'

const ERRORS = {
  ENOENT: [-2, 'no such file or directory'],
  EIO: [-5, 'i/o error'],
  EBADF: [-9, 'bad file descriptor'],
  EACCES: [-13, 'permission denied'],
  EEXIST: [-17, 'file already exists'],
  ENOTDIR: [-20, 'not a directory'],
  EISDIR: [-21, 'illegal operation on a directory'],
  EINVAL: [-22, 'invalid argument'],
  EFBIG: [-27, 'file too large'],
  ELOOP: [-40, 'too many symbolic links encountered'],
  ENOTEMPTY: [-39, 'directory not empty'],
  EPERM: [-1, 'operation not permitted'],
} as const

export type FileErrorCode = keyof typeof ERRORS

export function fileError(code: FileErrorCode, syscall: string, path?: string, dest?: string): Error {
  const [errno, words] = ERRORS[code]
  const places = (path === undefined ? '' : ` '${path}'`) + (dest === undefined ? '' : ` -> '${dest}'`)
  return Object.assign(
    new Error(`${code}: ${words}, ${syscall}${places}`),
    { errno, code, syscall },
    path === undefined ? {} : { path },
    dest === undefined ? {} : { dest },
  )
}

export function withCode(error: Error, code: string): Error {
  return Object.assign(error, { code })
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** `what` is the argument and what it must be, in Node's words. */
export function wrongType(what: string, value: unknown): Error {
  return withCode(new TypeError(`${what}. Received ${received(value)}`), 'ERR_INVALID_ARG_TYPE')
}

const SHOWN_CHARS = 25
const MOST_SHOWN_CHARS = 28

/** As Node describes what it got instead. */
function received(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'function') return `function ${value.name}`
  if (typeof value === 'object') {
    const { constructor: made } = value
    return typeof made === 'function' && made.name !== ''
      ? `an instance of ${made.name}`
      : inspect(value, { depth: -1 })
  }
  if (typeof value !== 'string') return `type ${typeof value} (${inspect(value)})`
  const shown = value.length > MOST_SHOWN_CHARS ? `${value.slice(0, SHOWN_CHARS)}...` : value
  return `type string (${shown.includes("'") ? JSON.stringify(shown) : `'${shown}'`})`
}
