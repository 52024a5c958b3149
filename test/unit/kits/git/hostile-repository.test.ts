// Repositories that were made to do harm once they are here: by what their trees name, and by what stands in `.git`.

import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bytesOfHex, hexOf, utf8 } from '../../../../src/kits/git/bytes.ts'
import { runGit } from '../../../../src/kits/git/dispatch.ts'
import { cloneRepository, MODE, objectId } from '../../../../src/kits/git/index.ts'
import {
  formatCommit,
  formatTag,
  formatTree,
  type ObjectType,
  type TreeEntry,
} from '../../../../src/kits/git/objects.ts'
import { joinBytes } from '../../../../src/lib/bytes.ts'
import type { FileSystem } from '../../../../src/workspace/file-system.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { HOSTILE_URL, hostileRemotes, type PackedObject, packOf, sizeBytesOf } from './hostile-remote.ts'

const BY = { name: 'Eve', email: 'eve@example.com', seconds: 1_700_000_000, zone: '+0000' }
const PACKED_TYPE = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
const id = (oid: string) => bytesOfHex(oid)

/** Objects for a pack, each with its id. */
class Objects {
  readonly packed: PackedObject[] = []

  add(type: ObjectType, bytes: Uint8Array): string {
    this.packed.push({ type: PACKED_TYPE[type], bytes })
    return objectId(type, bytes)
  }

  tree(entries: TreeEntry[]): string {
    return this.add('tree', formatTree(entries))
  }

  commit(tree: string): string {
    return this.add('commit', formatCommit({ tree, parents: [], author: BY, committer: BY, message: 'one\n' }))
  }
}

async function clone(objects: readonly PackedObject[], tip: string) {
  const fs = new MemoryFileSystem()
  const asked: string[] = []
  const remotes = hostileRemotes({
    refs: [
      ['HEAD', tip],
      ['refs/heads/main', tip],
    ],
    pack: packOf(objects),
  })
  const { fetch: answer } = remotes
  const listening = {
    ...remotes,
    fetch: (async (input, init) => {
      asked.push(String(input))
      return answer ? answer(input, init) : new Response(null, { status: 404 })
    }) satisfies typeof fetch,
  }
  const outcome = await cloneRepository({ fs, url: HOSTILE_URL, directory: '/workspace/w', remotes: listening })
  const git = async (words: string) => {
    const call = { fs, cwd: '/workspace/w', env: {}, stdin: '', pace: () => null, remotes: listening }
    const { stdout, bytes, ...said } = await runGit(words.split(' '), call)
    return { ...said, stdout: bytes ? new TextDecoder().decode(bytes) : stdout }
  }
  return { outcome, fs, git, asked }
}

const text = async (fs: FileSystem, path: string) => new TextDecoder().decode(await fs.read(path))

test('submodules stay empty folders, and nobody is asked for them whatever their addresses say', async () => {
  const made = new Objects()
  const modules = ['http://10.0.0.1/x', '-u./payload', '../../../etc', 'ext::sh -c id', 'file:///etc']
    .map((url, i) => `[submodule "s${i}"]\n\tpath = s${i}\n\turl = ${url}\n\tupdate = !touch /tmp/ran\n`)
    .join('')
  const evil = '[submodule "../../.git/hooks"]\n\tpath = ../out\n\turl = http://10.0.0.1/y\n'
  const file = made.add('blob', utf8(modules + evil))
  const links = Array.from({ length: 5 }, (_, i) => ({ mode: MODE.gitlink, name: `s${i}`, oid: 'ab'.repeat(20) }))
  const tip = made.commit(made.tree([{ mode: MODE.file, name: '.gitmodules', oid: file }, ...links]))
  const { outcome, fs, git, asked } = await clone(made.packed, tip)
  expect(outcome.ok).toBe(true)
  expect(
    fs
      .list('/workspace/w')
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['.git', '.gitmodules', 's0', 's1', 's2', 's3', 's4'])
  expect(fs.list('/workspace/w/s0')).toEqual([])
  expect(await git('status --porcelain')).toMatchObject({ exitCode: 0, stdout: '' })
  expect(await git('submodule update --init --recursive')).toMatchObject({
    exitCode: 1,
    stderr: "git: 'submodule' is not available here\n",
  })
  await git('fetch')
  expect(asked.every((url) => url.startsWith(HOSTILE_URL))).toBe(true)
  expect(fs.list('/workspace').map(({ name }) => name)).toEqual(['w'])
})

test('a pointer to a large file stays the text that it is, and the server that it belongs to is not asked', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'ab'.repeat(32)}\nsize 12345678901\n`
  const made = new Objects()
  const entry = (name: string, content: string) => ({ mode: MODE.file, name, oid: made.add('blob', utf8(content)) })
  const tip = made.commit(
    made.tree([
      entry('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n'),
      entry('.lfsconfig', '[lfs]\n\turl = http://169.254.169.254/lfs\n'),
      entry('model.bin', pointer),
    ]),
  )
  const { fs, git, asked } = await clone(made.packed, tip)
  expect(await text(fs, '/workspace/w/model.bin')).toBe(pointer)
  expect(asked).toHaveLength(2)
  expect((await git('status --porcelain')).stdout).toBe('')
  await fs.write('/workspace/w/model.bin', utf8('mine\n'))
  expect((await git('commit -qam mine')).exitCode).toBe(0)
  expect((await git('show HEAD:model.bin')).stdout).toBe('mine\n')
  expect(asked).toHaveLength(2)
})

test('a name that is a link and a folder at once does not lead out of the tree', async () => {
  const made = new Objects()
  const link = made.add('blob', utf8('/workspace/other'))
  const sub = made.tree([{ mode: MODE.file, name: 'a', oid: made.add('blob', utf8('evil\n')) }])
  for (const entries of [
    [
      { mode: MODE.link, name: 'x', oid: link },
      { mode: MODE.tree, name: 'x', oid: sub },
    ],
    [
      { mode: MODE.tree, name: 'x', oid: sub },
      { mode: MODE.link, name: 'x', oid: link },
    ],
  ]) {
    const raw = joinBytes(entries.flatMap(({ mode, name, oid }) => [utf8(`${mode.toString(8)} ${name}\0`), id(oid)]))
    const tree = made.add('tree', raw)
    const { fs } = await clone(made.packed, made.commit(tree))
    expect(() => fs.stat('/workspace/other')).toThrow('ENOENT')
    expect(
      fs
        .list('/workspace')
        .map(({ name }) => name)
        .filter((name) => name !== 'w'),
    ).toEqual([])
  }
})

test('chains without end are cut: of folders, of tags, of deltas', async () => {
  const deep = new Objects()
  let oid = deep.tree([{ mode: MODE.file, name: 'a', oid: deep.add('blob', utf8('x')) }])
  for (let level = 0; level < 5000; level++) oid = deep.tree([{ mode: MODE.tree, name: 'd', oid }])
  const folders = await clone(deep.packed, deep.commit(oid))
  expect(folders.outcome).toMatchObject({ ok: false, message: expect.stringContaining('nested deeper') })
  expect(folders.fs.list('/workspace')).toEqual([])

  const tagged = new Objects()
  const tree = tagged.tree([])
  let tag = tagged.commit(tree)
  for (let i = 0; i < 5000; i++) {
    const type = i === 0 ? 'commit' : 'tag'
    tag = tagged.add('tag', formatTag({ object: tag, type, name: `t${i}`, tagger: BY, message: 'x\n' }))
  }
  const tags = await clone(tagged.packed, tag)
  expect([tags.outcome.ok, tags.fs.list('/workspace')]).toEqual([false, []])

  const blob = utf8('hello\n')
  for (const [count, base] of [
    [20_000, 'the one before'],
    [60_000, 'the first'],
  ] as const) {
    const stacked = new Objects()
    let before = stacked.add('blob', blob)
    const first = before
    const tip = stacked.commit(stacked.tree([{ mode: MODE.file, name: 'a', oid: before }]))
    for (let i = 0; i < count; i++) {
      const content = utf8(`${i}`.padStart(6))
      const bytes = Uint8Array.from([...sizeBytesOf(6), ...sizeBytesOf(6), 6, ...content])
      stacked.packed.push({ type: 7, base: id(base === 'the first' ? first : before), bytes })
      before = objectId('blob', content)
    }
    const { outcome, git } = await clone(stacked.packed, tip)
    expect([base, outcome.ok]).toEqual([base, true])
    const read = await git(`cat-file -p ${before}`)
    if (base === 'the first') expect(read.stdout).toBe(`${count - 1}`.padStart(6))
    else expect([read.exitCode, read.stderr]).toEqual([128, expect.stringContaining('too long')])
  }
})

test('a working copy whose own files lead in circles or elsewhere is refused, and nothing outside it is read', async () => {
  const blob = utf8('hello\n')
  const honest = new Objects()
  const base = honest.add('blob', blob)
  const delta = Uint8Array.from([...sizeBytesOf(6), ...sizeBytesOf(6), 6, ...utf8('world\n')])
  honest.packed.push({ type: 7, base: id(base), bytes: delta })
  const tip = honest.commit(honest.tree([{ mode: MODE.file, name: 'a', oid: base }]))
  const { fs, git } = await clone(honest.packed, tip)
  const folder = '/workspace/w/.git/objects/pack'
  const name = fs.list(folder).find((entry) => entry.name.endsWith('.idx'))?.name ?? ''
  const index = Uint8Array.from(await fs.read(`${folder}/${name}`))
  pointAt(index, base, offsetOf(index, objectId('blob', utf8('world\n'))))
  fs.remove(`${folder}/${name}`)
  await fs.write(`${folder}/${name}`, index)
  expect(await git(`cat-file -p ${base}`)).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('too long') })

  const writeLoose = async (type: string, oid: string, body: Uint8Array) => {
    const whole = new Uint8Array(deflateSync(joinBytes([utf8(`${type} ${body.byteLength}\0`), body])))
    fs.makeDirectory(`/workspace/w/.git/objects/${oid.slice(0, 2)}`, { recursive: true })
    await fs.write(`/workspace/w/.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`, whole)
  }
  const [loopTree, loopCommit, loopTag] = ['11', '22', '33'].map((pair) => pair.repeat(20)) as [string, string, string]
  await writeLoose('tree', loopTree, formatTree([{ mode: MODE.tree, name: 'd', oid: loopTree }]))
  const parents = [loopCommit]
  await writeLoose(
    'commit',
    loopCommit,
    formatCommit({ tree: loopTree, parents, author: BY, committer: BY, message: 'x\n' }),
  )
  await writeLoose('tag', loopTag, formatTag({ object: loopTag, type: 'tag', name: 't', tagger: BY, message: 'x\n' }))
  await fs.write('/workspace/w/.git/HEAD', utf8(`${loopCommit}\n`))
  expect((await git('log --oneline')).stdout.split('\n')).toHaveLength(2)
  expect((await git('rev-list --count HEAD')).stdout).toBe('1\n')
  expect((await git(`merge-base ${loopCommit} ${tip}`)).exitCode).toBe(1)
  for (const words of ['status', 'diff HEAD', 'checkout -f HEAD', 'reset --hard', `rev-parse ${loopTag}^{commit}`]) {
    expect([words, (await git(words)).exitCode]).toEqual([words, 128])
  }
  await fs.write('/workspace/w/.git/HEAD', utf8('ref: refs/heads/a\n'))
  await fs.write('/workspace/w/.git/refs/heads/a', utf8('ref: refs/heads/b\n'))
  await fs.write('/workspace/w/.git/refs/heads/b', utf8('ref: refs/heads/a\n'))
  expect((await git('log')).exitCode).toBe(128)
})

test('a configuration cannot move the working tree, the objects or the hooks elsewhere', async () => {
  const made = new Objects()
  const tip = made.commit(made.tree([{ mode: MODE.file, name: 'a', oid: made.add('blob', utf8('1\n')) }]))
  const { fs, git } = await clone(made.packed, tip)
  await fs.write('/workspace/secret', utf8('secret\n'))
  await git('config core.worktree /workspace')
  await git('config core.bare true')
  await git('config core.attributesFile /workspace/secret')
  await git('config core.excludesFile /workspace/secret')
  await git('config include.path /workspace/secret')
  await fs.write('/workspace/w/.git/objects/info/alternates', utf8('/workspace/other/.git/objects\n'))
  await fs.write('/workspace/w/.git/commondir', utf8('/workspace/other/.git\n'))
  expect((await git('add -A')).exitCode).toBe(0)
  expect((await git('ls-files')).stdout).toBe('a\n')
  expect((await git('clean -fdx')).exitCode).toBe(0)
  expect(await text(fs, '/workspace/secret')).toBe('secret\n')
  expect((await git('cat-file -e abababababababababababababababababababab')).exitCode).not.toBe(0)
  // A file that says where the repository is could name any folder.
  fs.makeDirectory('/workspace/gate')
  await fs.write('/workspace/gate/.git', utf8('gitdir: /workspace/w/.git\n'))
  expect(await git('-C /workspace/gate status')).toMatchObject({
    exitCode: 128,
    stderr: expect.stringContaining('not a git repository'),
  })
})

function offsetOf(index: Uint8Array, oid: string): number {
  const view = new DataView(index.buffer)
  const count = view.getUint32(8 + 255 * 4)
  return view.getUint32(1032 + count * 24 + placeOf(index, oid) * 4)
}

function pointAt(index: Uint8Array, oid: string, offset: number): void {
  const view = new DataView(index.buffer)
  const count = view.getUint32(8 + 255 * 4)
  view.setUint32(1032 + count * 24 + placeOf(index, oid) * 4, offset)
}

function placeOf(index: Uint8Array, oid: string): number {
  const count = new DataView(index.buffer).getUint32(8 + 255 * 4)
  const names = Array.from({ length: count }, (_, i) => hexOf(index.subarray(1032 + i * 20, 1052 + i * 20)))
  return names.indexOf(oid)
}
