import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { changesOf } from '../src/sync/changes.ts'
import type { ManifestEntry } from '../src/sync/manifest.ts'
import { Tree } from '../src/sync/tree.ts'
import { Walker, type WalkRules } from '../src/sync/walk.ts'

// Names are remembered of folders that were not changed for some seconds: here all of them are that old.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

const ALL: WalkRules = { names: new Set(), paths: new Set(), isKept: () => false }

function tree(): { root: string; outside: string; walker: Walker } {
  const folder = mkdtempSync(join(tmpdir(), 'walk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [root, outside] = [join(folder, 'root'), join(folder, 'outside')]
  for (const path of ['a/b/c', 'd']) mkdirSync(join(root, path), { recursive: true })
  for (const path of ['top', 'a/one', 'a/b/two', 'a/b/c/three', 'd/four']) writeFileSync(join(root, path), path)
  mkdirSync(join(outside, 'secret'), { recursive: true, mode: 0o750 })
  return { root, outside, walker: new Walker(root) }
}

test('a walk that remembers names sees what one without any memory sees, whatever changed in between', () => {
  const { root, walker } = tree()
  const changes: (() => void)[] = [
    () => {},
    () => writeFileSync(join(root, 'a/b/two'), 'longer than before'),
    () => writeFileSync(join(root, 'a/b/c/new'), 'new'),
    () => rmSync(join(root, 'd/four')),
    () => rmSync(join(root, 'a/b'), { recursive: true }),
    () => mkdirSync(join(root, 'a/b/again'), { recursive: true }),
    () => renameSync(join(root, 'a'), join(root, 'moved')),
    () => symlinkSync('moved', join(root, 'a')),
    () => rmSync(join(root, 'd'), { recursive: true }),
    () => writeFileSync(join(root, 'd'), 'a file in the place of a folder'),
  ]
  for (const change of changes) {
    change()
    expect(walker.walk(ALL)).toEqual(new Walker(root).walk(ALL))
    expect(walker.walk(ALL)).toEqual(new Walker(root).walk(ALL))
  }
})

test('other rules are followed at once, with the same names', () => {
  const { root, walker } = tree()
  walker.walk(ALL)
  const rules: WalkRules = { names: new Set(['b']), paths: new Set(['d/four']), isKept: (path) => path === 'a/b' }
  const found = walker.walk(rules)
  expect([...found.seen.keys()].sort()).toEqual(['a', 'a/b', 'a/one', 'd', 'top'])
  expect(found.left.sort()).toEqual(['a/b/c', 'a/b/two', 'd/four'])
  expect(found).toEqual(new Walker(root).walk(rules))
})

test('a folder that becomes a link out of the tree while its names are looked at shows nothing of what is there', () => {
  const { root, outside, walker } = tree()
  mkdirSync(join(root, 'd', 'secret'), { mode: 0o700 })
  walker.walk(ALL)
  let isSwapped = false
  const swap = (name: string): boolean => {
    if (name === 'four' && !isSwapped) {
      isSwapped = true
      renameSync(join(root, 'd'), join(root, 'e'))
      symlinkSync(outside, join(root, 'd'))
    }
    return false
  }
  const found = walker.walk({ ...ALL, names: Object.assign(new Set<string>(), { has: swap }) })
  expect(isSwapped).toBe(true)
  expect(found.seen.get('d')?.kind).toBe('symlink')
  expect(found.seen.has('d/secret')).toBe(false)
  expect(found.seen.get('e/secret')?.stamp.mode).toBe(0o700)
})

test('a folder that is a link for a moment and then itself again is looked at anew', () => {
  const { root, outside, walker } = tree()
  mkdirSync(join(root, 'd', 'secret'), { mode: 0o700 })
  writeFileSync(join(root, 'd', 'z'), 'z')
  writeFileSync(join(outside, 'z'), 'z')
  walker.walk(ALL)
  const swaps = [
    () => {
      renameSync(join(root, 'd'), join(root, '..', 'd'))
      symlinkSync(outside, join(root, 'd'))
    },
    () => {
      rmSync(join(root, 'd'))
      renameSync(join(root, '..', 'd'), join(root, 'd'))
    },
  ]
  // Out before the first name that is there as well, back at the last one.
  const has = (path: string): boolean => {
    if (path === (swaps.length === 2 ? 'd/four' : 'd/z')) swaps.shift()?.()
    return false
  }
  const found = walker.walk({ ...ALL, paths: Object.assign(new Set<string>(), { has }) })
  expect(swaps).toEqual([])
  expect(found).toEqual(new Walker(root).walk(ALL))
  expect(found.seen.get('d/secret')?.stamp.mode).toBe(0o700)
})

test('of a thousand files the state on the disk grows by those that changed, and who starts again on it knows all of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'state-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const open = () => {
    const copy = new Tree(folder, async () => null)
    copy.follow({ exclude: new Set(), limits: { fileBytes: 1e9, treeBytes: 1e9 } })
    return copy
  }
  const copy = open()
  copy.begin({ transfer: 1, epoch: 'e', base: null, revision: 1 })
  copy.commit({ transfer: 1, frames: 0, entries: 0 })
  const sent: string[][] = []
  let revision = 1
  const agreeOn = async (change: () => void) => {
    change()
    const found = await copy.survey(() => {})
    if (found === null) throw new Error('too many files')
    const changes = new Map<string, ManifestEntry | null>()
    for (const { entry, known } of copy.changes(found, () => {})) changes.set(entry.path, known)
    sent.push([...changes.keys()])
    copy.agree(changes, ++revision)
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  const at = (name: string) => join(folder, 'workspace', name)
  await agreeOn(() => {
    for (let file = 0; file < 1_000; file++) writeFileSync(at(`f${file}`), `${file}`)
  })
  const bytes = () => statSync(join(folder, 'tree.json')).size + statSync(join(folder, 'tree.jsonl')).size
  const before = bytes()
  await agreeOn(() => writeFileSync(at('f2'), 'other'))
  expect(sent.at(-1)).toEqual(['f2'])
  expect(bytes() - before).toBeLessThan(500)
  await agreeOn(() => rmSync(at('f3')))
  // A disk that takes nothing costs the state, and the next transfer writes all of it again.
  rmSync(join(folder, 'tree.jsonl'))
  mkdirSync(join(folder, 'tree.jsonl'))
  await agreeOn(() => writeFileSync(at('f5'), 'other'))
  expect([copy.position, open().position]).toEqual([{ epoch: 'e', revision: 5 }, null])
  await agreeOn(() => writeFileSync(at('f6'), 'other'))
  // A death in the instant in which a line is written.
  appendFileSync(join(folder, 'tree.jsonl'), '{"epoch":"e","revision":99,')
  const again = open()
  expect([again.position, again.isChanged()]).toEqual([{ epoch: 'e', revision: 6 }, false])
  writeFileSync(at('f4'), 'other')
  expect(open().isChanged()).toBe(true)
  // What cannot be read is no state.
  writeFileSync(join(folder, 'tree.jsonl'), `no json\n${readFileSync(join(folder, 'tree.jsonl'), 'utf8')}`)
  expect(open().position).toBe(null)
})

test('a file that grows beyond the limit as it is read stays on the runner', () => {
  const { root, walker } = tree()
  const file = join(root, 'top')
  const limits = {
    treeBytes: 1000,
    get fileBytes() {
      appendFileSync(file, 'y')
      return 3
    },
  }
  const remarks: string[] = []
  const walk = walker.walk({ ...ALL, names: new Set(['a', 'd']) })
  const remark = (text: string) => void remarks.push(text)
  expect([...changesOf({ root, manifest: new Map(), walk, limits, copyPath: join(root, 'copy'), remark })]).toEqual([])
  expect(remarks).toEqual(['top (4 bytes) stays on the runner: a file of the workspace may have 3 bytes.'])
})
