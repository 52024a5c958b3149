// What `node:fs` does with the bytes of files.

import { fileError, withCode } from './errors.ts'
import { opened, write } from './fs-descriptors.ts'
import { mkdir } from './fs-entries.ts'
import { bytesOf, encodingOf, type Options, pathOf, settingsOf } from './given.ts'
import { contents, existing, input, walk, writeBytes } from './tree.ts'

export function readFile(path: unknown, options?: Options): string | Buffer {
  const bytes = bytesAt(path)
  const encoding = encodingOf(options)
  return encoding && encoding !== 'buffer' ? bytes.toString(encoding) : Buffer.from(bytes)
}

function bytesAt(path: unknown): Buffer {
  if (path === 0 || path === '/dev/stdin') return input()
  if (typeof path !== 'number' || !Number.isInteger(path)) return contents(existing(path, 'open'), 'read')
  return contents({ node: opened(path, 'read').place.node, text: '' }, 'read')
}

export function writeFile(path: unknown, data: unknown, options?: Options): void {
  if (typeof path === 'number') {
    write(path, bytesOf(data, options))
    return
  }
  const { flag = 'w', ...settings } = settingsOf(options)
  if (flag.startsWith('a')) {
    appendFile(path, data, options)
    return
  }
  const place = walk(path, 'open')
  if (flag.includes('x') && place.node) throw fileError('EEXIST', 'open', place.text)
  writeBytes(place, bytesOf(data, options), settings, 'open')
}

export function appendFile(path: unknown, data: unknown, options?: Options): void {
  if (typeof path === 'number') {
    write(path, bytesOf(data, options))
    return
  }
  const place = walk(path, 'open')
  const before = place.node ? contents(place, 'open') : Buffer.alloc(0)
  writeBytes(place, Buffer.concat([before, bytesOf(data, options)]), settingsOf(options), 'open')
}

export function copyFile(from: unknown, to: unknown): void {
  const source = existing(from, 'copyfile', true, to)
  const bytes = contents(source, 'copyfile')
  writeBytes(walk(to, 'copyfile'), Buffer.from(bytes), { mode: source.node.mode }, 'copyfile')
}

export function cp(from: unknown, to: unknown, options?: Options): void {
  const { node, text } = existing(from, 'cp')
  if (node.kind !== 'directory') {
    copyFile(from, to)
    return
  }
  if (!settingsOf(options).recursive) throw withCode(fileError('EISDIR', 'cp', text), 'ERR_FS_EISDIR')
  mkdir(to, { recursive: true })
  for (const name of [...node.entries.keys()]) cp(`${pathOf(from)}/${name}`, `${pathOf(to)}/${name}`, options)
}
