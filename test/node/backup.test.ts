// A state folder as one file and back, without a service: beside the real tar and sha256sum, and with files that are no backup.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { backUp } from '../../scripts/backup/back-up.ts'
import { readBackupArguments } from '../../scripts/backup/main.ts'
import { checkBackup, restore } from '../../scripts/backup/restore.ts'
import { END_OF_TAR, paddingAfter, tarHeader } from '../../scripts/backup/tar.ts'
import { requireRestored } from '../../scripts/start/state-folder.ts'
import { ROOT } from '../support/source-tree.ts'

const LONG = `v3/d1/miniflare-D1DatabaseObject/${'a'.repeat(64)}.sqlite`

/** A place of its own, with a small state folder in it. */
function rig() {
  const place = mkdtempSync(join(tmpdir(), 'bellwether-backup-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const stateDir = join(place, 'state')
  const put = (path: string, contents: string | Buffer, mode = 0o644) => {
    mkdirSync(dirname(join(stateDir, path)), { recursive: true })
    writeFileSync(join(stateDir, path), contents, { mode })
  }
  put('secrets-key', 'the key', 0o600)
  put('v3/r2/bucket/blobs/1', Buffer.alloc(300_000, 'blob'))
  put('v3/empty', '')
  mkdirSync(dirname(join(stateDir, LONG)), { recursive: true })
  const db = new DatabaseSync(join(stateDir, LONG))
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (n); INSERT INTO kept VALUES (1)')
  // As after a service that was killed: what was written last stands beside the database.
  onTestFinished(() => db.close())
  return { place, stateDir, put, file: join(place, 'backup.tar.gz') }
}

/** Every file with its mode and contents, but what a backup leaves out. */
function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = names.filter((name) => statSync(join(folder, name)).isFile() && !/^start\/|-shm$/.test(name))
  const told = (name: string) =>
    `${statSync(join(folder, name)).mode & 0o777} ${createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')}`
  return Object.fromEntries(files.map((name) => [name, told(name)]))
}

test('a restored folder has every file as it was, and what stood in the log beside a database', async () => {
  const { place, stateDir, file, put } = rig()
  for (const left of ['start/pid', 'programs/socket', 'v3/cache/x.sqlite']) put(left, '1')
  const { count, damaged } = await backUp({ stateDir, file, overwrite: false })
  expect([count, damaged, statSync(file).mode & 0o777]).toEqual([5, [], 0o600])
  expect([await checkBackup(file), readdirSync(place).toSorted()]).toEqual([5, ['backup.tar.gz', 'state']])
  const again = join(place, 'again')
  expect(await restore({ stateDir: again, file, overwrite: false })).toEqual({ count: 5, aside: null })
  for (const left of ['start', 'programs', 'v3/cache']) rmSync(join(stateDir, left), { recursive: true })
  expect(contentsOf(again)).toEqual(contentsOf(stateDir))
  expect([readdirSync(place).toSorted(), existsSync(join(again, 'start/pid'))]).toEqual([
    ['again', 'backup.tar.gz', 'state'],
    false,
  ])
  expect(statSync(join(again, `${LONG}-wal`)).size).toBeGreaterThan(0)
  const db = new DatabaseSync(join(again, LONG))
  expect(db.prepare('SELECT n FROM kept').all()).toEqual([{ n: 1 }])
  db.close()
})

test('the real tar unpacks a backup, and sha256sum finds its list right', async () => {
  const { place, stateDir, file } = rig()
  await backUp({ stateDir, file, overwrite: false })
  const out = join(place, 'out')
  mkdirSync(out)
  execFileSync('tar', ['-xzf', file, '-C', out])
  const checked = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' })
  expect(checked.trim().split('\n')).toHaveLength(5)
  expect(JSON.parse(readFileSync(join(out, 'backup.json'), 'utf8'))).toMatchObject({ format: 1, version: '0.1.0' })
  // Sizes that need more than eleven octal digits.
  const size = 9 * 1024 ** 3
  const { stdout: listed } = spawnSync('tar', ['-tv'], {
    // It ends with an error where the contents are missing, after it has listed them.
    input: tarHeader({ path: 'big', mode: 0o600, size }),
    encoding: 'utf8',
  })
  expect(listed).toContain(String(size))
})

test('nothing is overwritten unless that is said, and then what was there is moved aside', async () => {
  const { place, stateDir, file, put } = rig()
  await backUp({ stateDir, file, overwrite: false })
  const first = readFileSync(file)
  expect(existsSync(join(stateDir, 'start'))).toBe(false)
  await expect(backUp({ stateDir, file, overwrite: false })).rejects.toThrow(/is there already.*--overwrite/)
  await expect(restore({ stateDir, file, overwrite: false })).rejects.toThrow(/is not empty.*--overwrite/)
  expect(readFileSync(file).equals(first)).toBe(true)
  const before = contentsOf(stateDir)
  put('v3/later', 'came later')
  const { aside } = await restore({ stateDir, file, overwrite: true })
  expect(contentsOf(stateDir)).toEqual(before)
  expect(readFileSync(join(aside ?? '', 'v3/later'), 'utf8')).toBe('came later')
  put('v3/later', 'again')
  expect((await backUp({ stateDir, file, overwrite: true })).count).toBe(6)
  const inside = join(stateDir, 'b')
  await expect(backUp({ stateDir, file: inside, overwrite: false })).rejects.toThrow(/in the folder that is to be/)
  await expect(backUp({ stateDir: place, file: inside, overwrite: false })).rejects.toThrow(/no state of a service/)
  await expect(backUp({ stateDir, file: join(place, 'no/x'), overwrite: false })).rejects.toThrow(/written: ENOENT/)
  symlinkSync('/etc/passwd', join(stateDir, 'v3/link'))
  await expect(backUp({ stateDir, file, overwrite: true })).rejects.toThrow(/v3\/link is no file/)
})

const entry = (path: string, text: string, change = (header: Buffer) => header) => {
  const contents = Buffer.from(text)
  return [change(tarHeader({ path, mode: 0o644, size: contents.length })), contents, paddingAfter(contents.length)]
}
const HEAD = entry('backup.json', '{"format":1}')
const sumsOf = (files: Record<string, string>) =>
  entry(
    'SHA256SUMS',
    Object.entries(files)
      .map(([path, text]) => `${createHash('sha256').update(text).digest('hex')}  ${path}\n`)
      .join(''),
  )
const archive = (...parts: Buffer[][]) => gzipSync(Buffer.concat([...parts.flat(), END_OF_TAR]))
const asLink = (header: Buffer) => {
  header.write('2', 156)
  return withSum(header)
}
const withSum = (header: Buffer) => {
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

const HOSTILE: [string, Buffer, RegExp][] = [
  ['no archive', Buffer.from('hello'), /incorrect header check/],
  ['a tar of something else', archive(entry('readme', 'x')), /no archive of a backup/],
  ['no tar', gzipSync(Buffer.alloc(4_096, 'x')), /no archive of a backup/],
  ['a newer format', archive(entry('backup.json', '{"format":2}')), /format is 2.*a newer one wrote it/],
  ['a path upwards', archive(HEAD, entry('v3/../../x', 'x')), /"v3\/..\/..\/x" in it is no path/],
  ['an absolute path', archive(HEAD, entry('/tmp/x', 'x')), /"\/tmp\/x" in it is no path/],
  ["the service's own folder", archive(HEAD, entry('start/pid', '1')), /"start\/pid" in it is no path/],
  ['a file twice', archive(HEAD, entry('a', 'x'), entry('a', 'y')), /"a" in it is no path/],
  ['a link', archive(HEAD, entry('a', '', asLink)), /"a" in it is no file/],
  ['another checksum', archive(HEAD, entry('a', 'x'), sumsOf({ a: 'y' })), /"a" in it does not match/],
  ['a file too few', archive(HEAD, sumsOf({ a: 'y' })), /"a" in it does not match/],
  ['a file too many', archive(HEAD, entry('a', 'x'), sumsOf({})), /"a" in it does not match/],
  ['no list', archive(HEAD, entry('a', 'x')), /list of checksums is missing/],
  ['more after the list', archive(HEAD, sumsOf({}), entry('a', 'x')), /something follows/],
]

test('a file that is no whole backup is refused with its reason, and the folder stays as it was', async () => {
  const { place, stateDir, file } = rig()
  const before = contentsOf(stateDir)
  const refused = async (bytes: Buffer, reason: RegExp) => {
    writeFileSync(file, bytes)
    await expect(checkBackup(file)).rejects.toThrow(reason)
    await expect(restore({ stateDir, file, overwrite: true })).rejects.toThrow(reason)
    await expect(restore({ stateDir: join(place, 'new'), file, overwrite: false })).rejects.toThrow('Nothing was')
    expect(contentsOf(stateDir)).toEqual(before)
    await expect(restore({ stateDir: join(place, 'far/away'), file, overwrite: false })).rejects.toThrow('Nothing was')
    mkdirSync(join(place, 'empty'))
    await expect(restore({ stateDir: join(place, 'empty'), file, overwrite: false })).rejects.toThrow('Nothing was')
    // Also removes it: it has to be empty.
    rmdirSync(join(place, 'empty'))
    expect(readdirSync(place).toSorted()).toEqual(['backup.tar.gz', 'state'])
  }
  for (const [, bytes, reason] of HOSTILE) await refused(bytes, reason)
  rmSync(file)
  await backUp({ stateDir, file, overwrite: false })
  const whole = readFileSync(file)
  for (const bytes of [0, 1, whole.length * 0.1, whole.length * 0.5, whole.length - 9, whole.length - 1])
    await refused(whole.subarray(0, bytes), /end of file|ends too early/)
  const plain = gunzipSync(whole)
  for (const bytes of [plain.length - 512, plain.length - 1])
    await refused(gzipSync(plain.subarray(0, bytes)), /ends too early/)
  await refused(gzipSync(Buffer.concat([plain, Buffer.alloc(512)])), /something follows/)
  const tar = gunzipSync(whole)
  const at = tar.indexOf('blobblob')
  tar[at] = 0
  await refused(gzipSync(tar), /"v3\/r2\/bucket\/blobs\/1" in it does not match/)
})

const run = (command: string, ...args: string[]) =>
  spawn(process.execPath, [join(ROOT, 'scripts/backup.mjs'), command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

test('a folder is no file to back up to, whatever is said about overwriting', async () => {
  const { place, stateDir } = rig()
  for (const overwrite of [false, true])
    await expect(backUp({ stateDir, file: place, overwrite })).rejects.toThrow(`${place} is a folder`)
  expect(existsSync(`${place}.new`)).toBe(false)
})

test('a backup that is killed leaves the former one whole, and another one tells who has the folder', async () => {
  const { stateDir, file, put } = rig()
  await backUp({ stateDir, file, overwrite: false })
  const former = readFileSync(file)
  // Without contents on the disk, and far longer than any test waits.
  put('v3/endless', '')
  truncateSync(join(stateDir, 'v3/endless'), 1024 ** 4)
  const backup = run('backup', file, '--state', stateDir, '--overwrite')
  onTestFinished(() => void backup.kill('SIGKILL'))
  await expect.poll(() => existsSync(`${file}.new`) && statSync(`${file}.new`).size).toBeGreaterThan(0)
  const word = `in use by process ${backup.pid}. Stop it, then`
  await expect(backUp({ stateDir, file, overwrite: true })).rejects.toThrow(word)
  await expect(restore({ stateDir, file, overwrite: true })).rejects.toThrow(word)
  backup.kill('SIGKILL')
  await once(backup, 'close')
  expect(readFileSync(file).equals(former)).toBe(true)
  await expect(checkBackup(`${file}.new`)).rejects.toThrow('cannot be restored')
  rmSync(join(stateDir, 'v3/endless'))
  expect((await backUp({ stateDir, file, overwrite: true })).count).toBe(5)
  expect(existsSync(`${file}.new`)).toBe(false)
})

test('a restore that is killed in the middle leaves what was there, and is run again', async () => {
  const { place, stateDir, file } = rig()
  await backUp({ stateDir, file, overwrite: false })
  const before = contentsOf(stateDir)
  // A file that ends only when somebody says so: the restore has written what came, and waits for more.
  const slow = join(place, 'slow.tar.gz')
  execFileSync('mkfifo', [slow])
  const restoring = run('restore', slow, '--state', stateDir, '--overwrite')
  onTestFinished(() => void restoring.kill('SIGKILL'))
  const writer = await open(slow, 'w')
  // What was compressed last is not whole yet.
  await writer.write(readFileSync(file).subarray(0, -60))
  await expect.poll(() => existsSync(join(`${stateDir}.restoring`, 'secrets-key'))).toBe(true)
  restoring.kill('SIGKILL')
  await once(restoring, 'close')
  await writer.close()
  expect(contentsOf(stateDir)).toEqual(before)
  requireRestored(stateDir)
  const { aside } = await restore({ stateDir, file, overwrite: true })
  expect([contentsOf(stateDir), contentsOf(aside ?? '')]).toEqual([before, before])
  expect(existsSync(`${stateDir}.restoring`)).toBe(false)
})

test('a restore that is killed between its two renamings lets no service begin with nothing, and is run again', async () => {
  const { stateDir, file, put } = rig()
  await backUp({ stateDir, file, overwrite: false })
  const before = contentsOf(stateDir)
  put('v3/later', 'came later')
  const former = contentsOf(stateDir)
  // As it leaves the disk: all is unpacked, and the former folder has its new name.
  await restore({ stateDir: `${stateDir}.restoring`, file, overwrite: false })
  const aside = `${stateDir}.before-2026-11-27T20-00-00-000Z`
  renameSync(stateDir, aside)
  expect(() => requireRestored(stateDir)).toThrow(
    `was killed before it was done. Run npm run restore again. What was there before is in ${aside}.`,
  )
  const start = spawn(process.execPath, [join(ROOT, 'scripts/start.mjs')], {
    env: { ...process.env, BELLWETHER_STATE: stateDir, PORT: '21701' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void start.kill('SIGKILL'))
  let told = ''
  start.stderr.on('data', (piece) => (told += piece))
  const [code] = await once(start, 'close')
  expect([code, told]).toEqual([1, expect.stringContaining('was killed before it was done')])
  expect((await restore({ stateDir, file, overwrite: false })).count).toBe(5)
  expect([contentsOf(stateDir), contentsOf(aside)]).toEqual([before, former])
  requireRestored(stateDir)
})

test('the commands say what they did in one line, and what is wrong in another', async () => {
  const { place, stateDir, file } = rig()
  const said = async (command: string, ...args: string[]) => {
    const child = run(command, ...args)
    const texts = { out: '', err: '' }
    child.stdout.on('data', (piece) => (texts.out += piece))
    child.stderr.on('data', (piece) => (texts.err += piece))
    const [code] = await once(child, 'close')
    return [code, texts.out, texts.err]
  }
  const again = join(place, 'again')
  expect(await said('backup', file, '--state', stateDir)).toEqual([
    0,
    `backed up ${stateDir} to ${file}: 5 files, ${statSync(file).size} bytes\n`,
    '',
  ])
  expect(await said('restore', file, '--state', again)).toEqual([0, `restored ${again} from ${file}: 5 files\n`, ''])
  expect(await said('restore', join(place, 'none'), '--state', join(place, 'new'))).toEqual([
    1,
    '',
    `There is no file ${join(place, 'none')}.\n`,
  ])
  expect(() => readBackupArguments('backup', ['x', '--chek'])).toThrow("Unknown option '--chek'")
  expect(() => readBackupArguments('backup', ['x', '--check'])).toThrow('A backup is not checked')
  expect(() => readBackupArguments('restore', [])).toThrow('Name one file')
})
