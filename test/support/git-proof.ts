// Checks with the real git a workspace that was downloaded as a ZIP, and the repository that it was pushed to.

import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import JSZip from 'jszip'
import { run } from './git-corpus.ts'

const S_IFMT = 0o170000
const S_IFLNK = 0o120000
const PERMISSIONS = 0o777

/** All errors; an empty list if there are none. */
export async function faultsOf(root: string, folder: string, zip: Uint8Array): Promise<string[]> {
  const place = join(root, `proof-${crypto.randomUUID()}`)
  const [copy, clone, bare] = [join(place, 'copy'), join(place, 'clone'), join(root, folder)]
  await unpack(zip, copy)
  const faults: string[] = []
  const expect = async (what: string, at: string, args: string[], wanted: string) => {
    const said = await run(at, args).catch(String)
    if (said !== wanted) faults.push(`${what}: ${said.slice(0, 2000) || '(nothing)'}`)
  }
  await expect('fsck of the host', bare, ['fsck', '--strict', '--no-dangling', '--no-progress'], '')
  await expect('fsck of the workspace', copy, ['fsck', '--strict', '--no-dangling', '--no-progress'], '')
  await expect('status of the workspace', copy, ['status', '--porcelain'], '')
  await run(place, ['clone', '-q', bare, clone])
  for (const args of [
    ['ls-tree', '-r', 'HEAD'],
    ['ls-files', '-s'],
    ['log', '--format=%H %P %T'],
    ['show-ref', '--tags', '-d'],
  ])
    await expect(args.join(' '), copy, args, await run(clone, args).catch(String))
  faults.push(...(await differences(copy, clone)))
  return faults
}

async function unpack(zip: Uint8Array, folder: string): Promise<void> {
  const archive = await JSZip.loadAsync(zip)
  for (const { name, unixPermissions, ...file } of Object.values(archive.files)) {
    const mode = Number(unixPermissions)
    const bytes = await archive.file(name)?.async('nodebuffer')
    if (bytes === undefined || file.dir) continue
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    if ((mode & S_IFMT) === S_IFLNK) await symlink(bytes.toString(), path)
    else await writeFile(path, bytes)
    if ((mode & S_IFMT) !== S_IFLNK) await chmod(path, mode & PERMISSIONS)
  }
}

/** Of the files, their bytes, where links lead, and which files can be run. */
async function differences(a: string, b: string): Promise<string[]> {
  const [left, right] = [await namesBelow(a), await namesBelow(b)]
  const found = [...new Set([...left, ...right])].filter((path) => !left.has(path) || !right.has(path))
  const faults = found.map((path) => `only on one side: ${path}`)
  for (const path of left) {
    if (!right.has(path)) continue
    const [x, y] = [await stateOf(join(a, path)), await stateOf(join(b, path))]
    if (x.kind !== y.kind || !x.bytes.equals(y.bytes)) faults.push(`differs: ${path} (${x.kind}, ${y.kind})`)
  }
  return faults
}

async function namesBelow(folder: string): Promise<Set<string>> {
  const names = new Set<string>()
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1)
    if (!entry.isDirectory() && path.split('/')[0] !== '.git') names.add(path)
  }
  return names
}

async function stateOf(path: string): Promise<{ kind: string; bytes: Buffer }> {
  const stat = await lstat(path)
  if (stat.isSymbolicLink()) return { kind: 'link', bytes: Buffer.from(await readlink(path)) }
  return { kind: (stat.mode & 0o100) !== 0 ? 'executable' : 'file', bytes: await readFile(path) }
}
