// What the real git takes for changed in a copy of the workspace's files.

import type { FileSystem } from '../../../../src/workspace/file-system.ts'
import { decoded, orderGit, toBase64 } from '../../../helpers/git-host.ts'
import type { Order, Report } from '../../../support/git-server-orders.ts'

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export async function realChanges(fs: FileSystem, root: string): Promise<string[]> {
  const cwd = `copy-${crypto.randomUUID()}`
  const files: NonNullable<Order['files']> = []
  await copy(fs, root, { cwd, files })
  const asked = await orderGit({
    cwd,
    files,
    git: [
      ['symbolic-ref', '-q', '--short', 'HEAD'],
      ['rev-parse', '-q', '--verify', 'HEAD'],
      ['rev-parse', '-q', '--verify', 'refs/remotes/origin/main'],
      ['merge-base', 'HEAD', 'refs/remotes/origin/main'],
    ],
  })
  const [branch, head, main, fork] = asked.map((report) => (report.exitCode === 0 ? decoded(report).trim() : ''))
  const [same] = await orderGit({ cwd, git: [['rev-parse', '-q', '--verify', `refs/remotes/origin/${branch}`]] })
  const base = (branch && said(same)) || fork || main || head || EMPTY_TREE
  const reports = await orderGit({
    cwd,
    git: [
      ['diff', '--name-status', '-z', '--no-renames', base],
      ['ls-files', '-z', '--others', '--exclude-standard'],
    ],
  })
  return listed(reports)
}

function said(report: Report | undefined): string {
  return report?.exitCode === 0 ? decoded(report).trim() : ''
}

function listed([diff, others]: Report[]): string[] {
  if (diff?.exitCode !== 0 || others?.exitCode !== 0) throw new Error(`git: ${diff?.stderr} ${others?.stderr}`)
  const parts = decoded(diff).split('\0').slice(0, -1)
  const pairs = parts.flatMap((part, i) =>
    i % 2 === 0 ? [[part === 'T' ? 'M' : part, parts[i + 1] ?? ''] as const] : [],
  )
  const unmerged = new Set(pairs.filter(([letter]) => letter === 'U').map(([, path]) => path))
  const lines = pairs
    .filter(([letter, path]) => letter === 'U' || !unmerged.has(path))
    .map(([letter, path]) => `${path}\0${letter}`)
  for (const path of decoded(others).split('\0').slice(0, -1)) {
    if (!path.endsWith('/') && !unmerged.has(path)) lines.push(`${path}\0a`)
  }
  return [...new Set(lines)].sort().map((line) => line.split('\0').reverse().join(' ').replace(/^a /, 'A '))
}

type Copying = { cwd: string; files: NonNullable<Order['files']> }

async function copy(fs: FileSystem, folder: string, { cwd, files }: Copying): Promise<void> {
  for (const { name, kind } of fs.list(folder)) {
    const [from, path] = [`${folder}/${name}`, `${cwd}/${name}`]
    // git takes no folder for a repository that lacks these, and empty folders are not copied.
    if (name === '.git') for (const part of ['objects', 'refs']) files.push({ path: `${path}/${part}/.keep` })
    if (kind === 'directory') await copy(fs, from, { cwd: path, files })
    else if (kind === 'symlink') files.push({ path, link: fs.readLink(from) })
    else files.push({ path, base64: toBase64(await fs.read(from)), executable: (fs.stat(from).mode & 0o100) !== 0 })
  }
}
