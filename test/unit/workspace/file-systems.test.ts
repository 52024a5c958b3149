import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { type FileSystem, isFileError } from '../../../src/workspace/file-system.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'
import { inPieces, openStore, pattern, wholeOf } from './open-store.ts'

// Two file systems that share no code for it must answer the same to everything.

const SPILL_BYTES = 64
const LIMITS = { maxFileBytes: 400, maxTotalBytes: 900, maxFiles: 24 }

type Operation = { does: string; run: (fs: FileSystem) => unknown }

const name = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('a', 'b', 'ü') },
  { weight: 2, arbitrary: fc.constantFrom('..', '.', '') },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(256), 'nul\0', '\ud800') },
)
const path = fc
  .tuple(fc.constantFrom('/workspace', '/workspace', '/tmp', ''), fc.array(name, { minLength: 1, maxLength: 3 }))
  .map(([root, names]) => `${root}/${names.join('/')}`)
const target = fc.oneof(
  path,
  fc.array(name, { maxLength: 3 }).map((names) => names.join('/')),
)
const content = fc.nat({ max: 450 }).map((length) => pattern(length, length))

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: op('write', [path, content], (fs, at, bytes) => fs.write(at, bytes)) },
  { weight: 3, arbitrary: op('append', [path, content], (fs, at, bytes) => fs.append(at, bytes.subarray(0, 90))) },
  {
    weight: 3,
    arbitrary: op('mkdir', [path, fc.boolean()], (fs, at, recursive) => fs.makeDirectory(at, { recursive })),
  },
  { weight: 2, arbitrary: op('remove', [path, fc.boolean()], (fs, at, recursive) => fs.remove(at, { recursive })) },
  { weight: 3, arbitrary: op('rename', [path, path], (fs, from, to) => fs.rename(from, to)) },
  { weight: 2, arbitrary: op('symlink', [target, path], (fs, to, at) => fs.symlink(to, at)) },
  { weight: 1, arbitrary: op('chmod', [path, fc.nat({ max: 0o17777 })], (fs, at, mode) => fs.chmod(at, mode)) },
  { weight: 1, arbitrary: op('utimes', [path, fc.nat()], (fs, at, time) => fs.utimes(at, time)) },
  { weight: 1, arbitrary: op('readLink', [path, fc.constant(0)], (fs, at) => fs.readLink(at)) },
  { weight: 1, arbitrary: op('realPath', [path, fc.constant(0)], (fs, at) => fs.realPath(at)) },
  { weight: 2, arbitrary: op('read', [path, fc.constant(0)], (fs, at) => fs.read(at)) },
  { weight: 1, arbitrary: op('readParts', [path, fc.constant(0)], (fs, at) => wholeOf(fs.readParts(at))) },
  { weight: 2, arbitrary: op('stage', [path, content], stageAndPlace) },
)

async function stageAndPlace(fs: FileSystem, at: string, whole: Uint8Array): Promise<number> {
  const staged = await fs.stage(inPieces(whole, 30))
  try {
    staged.place(at, 0o755)
  } finally {
    staged.release()
  }
  return staged.sizeBytes
}

function op<A, B>(
  does: string,
  [first, second]: [fc.Arbitrary<A>, fc.Arbitrary<B>],
  run: (fs: FileSystem, first: A, second: B) => unknown,
): fc.Arbitrary<Operation> {
  return fc.tuple(first, second).map(([a, b]) => ({
    does: `${does}(${String(a).slice(0, 40)}, ${b instanceof Uint8Array ? `${b.length} bytes` : String(b).slice(0, 40)})`,
    run: (fs) => run(fs, a, b),
  }))
}

/** What every round begins with, so that most operations find something. */
const beginnings: Operation[] = [
  { does: 'folders', run: (fs) => fs.makeDirectory('/workspace/a/b/a', { recursive: true }) },
  { does: 'file', run: (fs) => fs.write('/workspace/a/ü', pattern(70)) },
  { does: 'link', run: (fs) => fs.symlink('a/b', '/workspace/ü') },
  { does: 'dangling link', run: (fs) => fs.symlink('/tmp/a', '/workspace/b') },
]

async function outcome(fs: FileSystem, { run }: Operation): Promise<unknown> {
  try {
    return { value: await run(fs) }
  } catch (error) {
    if (isFileError(error)) return { code: error.code }
    throw error
  }
}

async function everything(fs: FileSystem, folder = '/'): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const { name, kind } of fs.list(folder)) {
    const at = `${folder === '/' ? '' : folder}/${name}`
    const { mode, sizeBytes } = fs.lstat(at)
    const holds = kind === 'file' ? await fs.read(at) : kind === 'symlink' ? fs.readLink(at) : null
    if (kind === 'file') expect(await wholeOf(fs.readParts(at))).toEqual(holds)
    found[at] = { kind, mode, sizeBytes, holds }
    if (kind === 'directory') Object.assign(found, await everything(fs, at))
  }
  return found
}

test('the durable file system and the one in memory answer the same to every sequence of operations, evictions included', async () => {
  const durable = openStore('model', { limits: LIMITS, spillThresholdBytes: SPILL_BYTES })
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 8, maxLength: 40 }),
      fc.nat({ max: 39 }),
      async (operations, evictAt) => {
        const memory = new MemoryFileSystem(LIMITS)
        await durable.reset()
        const compare = (part: Operation[]) =>
          durable.use(async (store) => {
            for (const one of part) {
              expect({ does: one.does, ...((await outcome(store, one)) as object) }).toEqual({
                does: one.does,
                ...((await outcome(memory, one)) as object),
              })
            }
            expect(await everything(store)).toEqual(await everything(memory))
            await store.sweep()
          })
        await compare([...beginnings, ...operations.slice(0, evictAt)])
        await durable.evict()
        await compare(operations.slice(evictAt))

        // Nothing of this round stays in R2 but what files are made of; the next round begins with none.
        const referred = await durable.use(async (_store, { sql }) =>
          sql.exec<{ object: string }>('SELECT object FROM workspace_nodes WHERE object IS NOT NULL').toArray(),
        )
        const stored = (await durable.objects()).map(({ key }) => key)
        expect(stored).toEqual(referred.map(({ object }) => object).sort())
        await env.FILES.delete(stored)
      },
    ),
    { numRuns: inject('isProof') ? 400 : 60 },
  )
})
