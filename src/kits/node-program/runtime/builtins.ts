// Where the runtime's own modules know nothing of the workspace's folder, or differ from Node's in what they do.

import type assert from 'node:assert'
import type crypto from 'node:crypto'
import type path from 'node:path'
import type url from 'node:url'
import { currentFolder } from './tree.ts'

/** The runtime's modules by their names: those that the program asks for, and some that are always there. */
export interface Builtins {
  [name: string]: unknown
  path: typeof path
  url: typeof url
  assert: typeof assert
  crypto?: typeof crypto
}

/** The modules with what is ours in the place of theirs. */
export function patched(builtins: Builtins): Record<string, unknown> {
  const { path, url, assert, crypto } = builtins
  const posix = pathOf(path)
  return {
    ...builtins,
    path: posix,
    'path/posix': posix,
    url: urlOf(url, posix),
    assert: assertOf(assert),
    ...(crypto ? { crypto: cryptoOf(crypto) } : {}),
  }
}

type Path = Pick<typeof path, 'resolve' | 'relative'>

function pathOf(path: Builtins['path']): Path {
  const resolve = (...parts: string[]) => path.resolve(currentFolder(), ...parts)
  const own = {
    ...path,
    resolve,
    relative: (from: string, to: string) => path.relative(resolve(from), resolve(to)),
  }
  return Object.assign(own, { posix: own })
}

function urlOf(url: Builtins['url'], { resolve }: Path) {
  const pathToFileURL = (path: string, options?: Parameters<typeof url.pathToFileURL>[1]) =>
    url.pathToFileURL(resolve(path) + (/[^/]\/$/.test(path) ? '/' : ''), options)
  return { ...url, pathToFileURL }
}

type Random = NonNullable<Builtins['crypto']>
type Bytes = ArrayBuffer | ArrayBufferView<ArrayBuffer>

/** The runtime gives this many random bytes at a time. */
const RANDOM_BYTES = 65536

function fill<T extends Bytes>(buffer: T, offset = 0, size = buffer.byteLength - offset): T {
  const [memory, start] = ArrayBuffer.isView(buffer) ? [buffer.buffer, buffer.byteOffset] : [buffer, 0]
  const bytes = new Uint8Array(memory, start + offset, size)
  for (let at = 0; at < size; at += RANDOM_BYTES)
    globalThis.crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES))
  return buffer
}

function cryptoOf(crypto: Random): object {
  const randomBytes = (size: number, callback?: (error: Error | null, bytes: Buffer) => void) => {
    if (!(size > RANDOM_BYTES)) return callback ? crypto.randomBytes(size, callback) : crypto.randomBytes(size)
    const bytes = fill(Buffer.alloc(size))
    if (!callback) return bytes
    setTimeout(() => callback(null, bytes), 0)
    return undefined
  }
  const randomFillSync = (buffer: ArrayBufferView<ArrayBuffer>, offset?: number, size?: number) =>
    (size ?? buffer.byteLength) > RANDOM_BYTES
      ? fill(buffer, offset, size)
      : Reflect.apply(crypto.randomFillSync, crypto, [buffer, offset, size])
  return Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(crypto),
      ...Object.getOwnPropertyDescriptors({ randomBytes, randomFillSync }),
    },
  )
}

function isLoose(a: unknown, b: unknown): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: `assert.equal` is defined by it
  return a == b || (Number.isNaN(a) && Number.isNaN(b))
}

type Compare = (actual: unknown, expected: unknown, message?: string | Error) => void

function assertOf(assert: Builtins['assert']): typeof assert {
  const check =
    (operator: string, holds: (a: unknown, b: unknown) => boolean): Compare =>
    (actual, expected, message) => {
      if (holds(actual, expected)) return
      if (message instanceof Error) throw message
      const about = message === undefined ? {} : { message }
      throw new assert.AssertionError({ actual, expected, operator, ...about })
    }
  const own = (...args: unknown[]) => Reflect.apply(assert, undefined, args)
  return Object.assign(own, assert, {
    equal: check('==', isLoose),
    notEqual: check('!=', (a, b) => !isLoose(a, b)),
  })
}
