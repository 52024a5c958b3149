// What programs hand to functions of `node:fs`: paths, options and data in all the forms that Node takes.

import { withCode, wrongType } from './errors.ts'

export function pathOf(given: unknown): string {
  if (given instanceof URL) {
    if (given.protocol !== 'file:')
      throw withCode(new TypeError('The URL must be of scheme file'), 'ERR_INVALID_URL_SCHEME')
    return decodeURIComponent(given.pathname)
  }
  if (given instanceof Uint8Array) return Buffer.from(given).toString()
  if (typeof given !== 'string')
    throw wrongType('The "path" argument must be of type string or an instance of Buffer or URL', given)
  if (given.includes('\0'))
    throw withCode(new TypeError("The argument 'path' must be a string without null bytes"), 'ERR_INVALID_ARG_VALUE')
  return given
}

export interface Settings {
  encoding?: BufferEncoding | 'buffer' | null
  flag?: string
  flags?: string
  mode?: number
  bigint?: boolean
  throwIfNoEntry?: boolean
  withFileTypes?: boolean
  recursive?: boolean
  force?: boolean
  start?: number
  end?: number
}
export type Options = BufferEncoding | 'buffer' | Settings | null | undefined

export function settingsOf(options: Options | number): Settings {
  return typeof options === 'object' && options !== null ? options : {}
}

export function encodingOf(options: Options): Settings['encoding'] {
  return typeof options === 'string' ? options : options?.encoding
}

/** A copy: what the program does to its own afterwards changes no file. */
export function bytesOf(data: unknown, options?: Options): Buffer {
  if (typeof data === 'string') {
    const encoding = encodingOf(options) ?? 'utf8'
    return Buffer.from(data, encoding === 'buffer' ? 'utf8' : encoding)
  }
  if (ArrayBuffer.isView(data)) return Buffer.from(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  if (data instanceof ArrayBuffer) return Buffer.from(Buffer.from(data))
  const wanted = 'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView'
  throw wrongType(wanted, data)
}
