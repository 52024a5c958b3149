// What git ignores and is large stays on the runner: what git says decides, and where it says nothing, what was so before.

import { expect, test } from 'vitest'
import type { Stamp } from '../src/sync/manifest.ts'
import { type AskGit, IGNORED_BYTES, Staying } from '../src/sync/staying.ts'
import type { Walk, WalkedEntry } from '../src/sync/walk.ts'

const stamp = (size: number, ctimeNs = 1n): Stamp => ({ size, mtimeNs: 1n, ctimeNs, ino: 1n, mode: 0o644 })

/** A repository with a build of three times what is sent, whose index was written at `written`. */
function walked(written: bigint, left: string[] = []): Walk {
  const file = (size: number, at = 1n): WalkedEntry => ({ kind: 'file', stamp: stamp(size, at) })
  const folder: WalkedEntry = { kind: 'directory', stamp: stamp(0) }
  const seen = new Map<string, WalkedEntry>([
    ['.git', folder],
    ['.git/index', file(100, written)],
    ['a.txt', file(10)],
  ])
  if (left.length === 0) seen.set('build', folder).set('build/out.bin', file(3 * IGNORED_BYTES))
  return { seen, skipped: new Map(), left }
}

/** Git, as long as it can be asked. */
const git =
  (isThere: () => boolean): AskGit =>
  async (_folder, args) =>
    isThere() ? (args.includes('--ignored') ? ['build/'] : []) : null

test('what stayed goes on to stay while git cannot be asked, and is judged anew when it can', async () => {
  let isThere = true
  const ask = git(() => isThere)
  const staying = new Staying()
  expect(await staying.leaveOut(walked(1n), new Map(), ask)).toEqual(['build'])
  expect(await staying.followRules(walked(1n, ['build']), ask)).toBe(false)
  isThere = false
  // The rules may have changed, so all is looked at again.
  expect(await staying.followRules(walked(2n, ['build']), ask)).toBe(true)
  const again = walked(2n)
  expect(await staying.leaveOut(again, new Map(), ask)).toEqual(['build'])
  expect([...again.seen.keys()]).toEqual(['.git', '.git/index', 'a.txt'])
  expect([...staying.paths]).toEqual(['build'])
})

test('what git no longer ignores is sent', async () => {
  const staying = new Staying()
  expect(
    await staying.leaveOut(
      walked(1n),
      new Map(),
      git(() => true),
    ),
  ).toEqual(['build'])
  const silent: AskGit = async () => []
  await staying.followRules(walked(1n, ['build']), silent)
  expect(await staying.followRules(walked(2n, ['build']), silent)).toBe(true)
  const again = walked(2n)
  expect(await staying.leaveOut(again, new Map(), silent)).toEqual([])
  expect(again.seen.has('build/out.bin')).toBe(true)
})
