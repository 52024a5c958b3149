// The tree as its owner may use it, over the tree itself: what bits forbid ends with EACCES, and only that.

import { expect, test } from 'vitest'
import { PermittedFiles } from '../../../src/workspace/permitted-files.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'

const BYTES = new TextEncoder().encode('a')
const DENIED = /^EACCES: permission denied/

function opened() {
  const tree = new MemoryFileSystem()
  return { tree, files: new PermittedFiles(tree) }
}

test('a file is read and written by its own bits, and removed by those of its folder', async () => {
  const { tree, files } = opened()
  tree.makeDirectory('/workspace/d')
  await tree.write('/workspace/d/f', BYTES)
  tree.chmod('/workspace/d/f', 0o200)
  await expect(files.read('/workspace/d/f')).rejects.toThrow(DENIED)
  tree.chmod('/workspace/d/f', 0o400)
  files.chmod('/workspace/d/f', 0o400)
  await expect(files.write('/workspace/d/f', BYTES)).rejects.toThrow(DENIED)
  await expect(files.append('/workspace/d/f', BYTES)).rejects.toThrow(DENIED)
  files.chmod('/workspace/d', 0o555)
  expect(() => files.remove('/workspace/d/f')).toThrow(DENIED)
  expect(() => files.rename('/workspace/d/f', '/workspace/f')).toThrow(DENIED)
  await expect(files.write('/workspace/d/new', BYTES)).rejects.toThrow(DENIED)
  files.chmod('/workspace/d', 0o755)
  files.remove('/workspace/d/f')
  expect(tree.exists('/workspace/d/f')).toBe(false)
})

test('nothing below a folder without x is reached, also over a link from elsewhere', async () => {
  const { tree, files } = opened()
  tree.makeDirectory('/workspace/d/e', { recursive: true })
  await tree.write('/workspace/d/e/f', BYTES)
  tree.symlink('d/e/f', '/workspace/link')
  expect(files.exists('/workspace/link')).toBe(true)
  files.chmod('/workspace/d', 0o600)
  expect(files.exists('/workspace/d/e/f')).toBe(false)
  expect(() => files.stat('/workspace/d/e/f')).toThrow(DENIED)
  expect(() => files.stat('/workspace/link')).toThrow(DENIED)
  expect(files.lstat('/workspace/link').kind).toBe('symlink')
  expect(files.list('/workspace/d').map(({ name }) => name)).toEqual(['e'])
  expect(() => [...files.scan('/workspace/d')]).toThrow(DENIED)
})

test('a folder is removed with all below, or nothing of it is when something may not go', async () => {
  const { tree, files } = opened()
  tree.makeDirectory('/workspace/d/open/locked', { recursive: true })
  await tree.write('/workspace/d/open/locked/f', BYTES)
  tree.chmod('/workspace/d/open/locked', 0o555)
  expect(() => files.remove('/workspace/d', { recursive: true })).toThrow(DENIED)
  expect(tree.exists('/workspace/d/open/locked/f')).toBe(true)
  files.chmod('/workspace/d/open/locked', 0o755)
  files.remove('/workspace/d', { recursive: true })
  expect(tree.exists('/workspace/d')).toBe(false)
})

test('what is scanned tells nothing of what is in a file that may not be read', async () => {
  const { tree, files } = opened()
  await tree.write('/workspace/open', BYTES)
  await tree.write('/workspace/shut', BYTES, { mode: 0o000 })
  const found = [...files.scan('/workspace')].flat()
  expect(found.map(({ name, bytes }) => [name, bytes === null])).toEqual([
    ['open', false],
    ['shut', true],
  ])
})

test('who opened a file goes on appending to it when its mode changes', async () => {
  const { tree, files } = opened()
  await files.write('/workspace/f', new Uint8Array())
  files.chmod('/workspace/f', 0o000)
  await files.append('/workspace/f', BYTES)
  await expect(files.write('/workspace/f', BYTES)).rejects.toThrow(DENIED)
  expect(await tree.read('/workspace/f')).toEqual(BYTES)
})
