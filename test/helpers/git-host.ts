// The loopback git host for tests: addresses to clone from, and commands that the real git runs there.

import { inject } from 'vitest'
import type { GitRemotes } from '../../src/kits/git/index.ts'
import { STRANGER } from '../../src/lib/address-policy.ts'
import type { Order, Report } from '../support/git-server-orders.ts'
import { allowing } from './policies.ts'

export { CREDENTIALS } from '../support/git-server-orders.ts'

/** Remotes at addresses that the model chose, with the host in the allow list. */
export const LOOPBACK_REMOTES: GitRemotes = { policy: allowing('127.0.0.0/8'), chosenBy: STRANGER }

export const hostUrl = (): string => inject('gitServer')

export const repositoryUrl = (folder: string): string => `${hostUrl()}/git/${folder}`

/** Runs each command in the folder of the host and returns their outputs. */
export async function orderGit(order: Order): Promise<Report[]> {
  const response = await fetch(`${hostUrl()}/order`, { method: 'POST', body: JSON.stringify(order) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

/** The real git's output; throws if git fails. */
export async function realGit(cwd: string, ...args: string[]): Promise<string> {
  const [report] = await orderGit({ cwd, git: [args] })
  if (report?.exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${report?.stderr}`)
  return decoded(report)
}

export function decoded(report: Report): string {
  return new TextDecoder().decode(Uint8Array.from(atob(report.stdoutBase64), (char) => char.charCodeAt(0)))
}

export function toBase64(content: string | Uint8Array): string {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

let repositories = 0

/** A bare repository that accepts pushes, with one commit of these files on `main`. */
export async function hostRepository(
  files: Record<string, string>,
  folder = `repo-${++repositories}-${crypto.randomUUID().slice(0, 8)}.git`,
): Promise<string> {
  const work = `${folder}.work`
  await orderGit({
    cwd: work,
    files: Object.entries(files).map(([path, text]) => ({ path: `${work}/${path}`, base64: toBase64(text) })),
  })
  const [made] = (
    await orderGit({
      cwd: work,
      git: [
        ['init', '-q', '-b', 'main'],
        ['add', '-A'],
        ['commit', '-q', '-m', 'first', '--allow-empty'],
        ['clone', '-q', '--bare', '.', `../${folder.split('/').at(-1)}`],
      ],
    })
  ).filter(({ exitCode }) => exitCode !== 0)
  if (made) throw new Error(made.stderr)
  await realGit(folder, 'config', 'http.receivepack', 'true')
  return folder
}

/** A bare repository whose commits change a few of many files. */
export async function largeRepository(
  folder: string,
  { files, commits }: { files: number; commits: number },
): Promise<string> {
  const content = (file: number, version: number) =>
    Array.from({ length: 40 }, (_, line) => `line ${line} of file ${file}, ${line === file % 40 ? version : 0}\n`).join(
      '',
    )
  let stream = ''
  const put = (file: number, version: number) => {
    const text = content(file, version)
    stream += `M 100644 inline d${file % 40}/s${file % 7}/f${file}.txt\ndata ${text.length}\n${text}\n`
  }
  for (let commit = 0; commit < commits; commit++) {
    stream += `commit refs/heads/main\ncommitter R <r@e.c> ${1_700_000_000 + commit} +0000\ndata 4\nwork\n`
    for (let i = 0; i < (commit === 0 ? files : 3); i++) put(commit === 0 ? i : (commit * 31 + i * 977) % files, commit)
  }
  await orderGit({ cwd: folder, git: [['init', '-q', '--bare', '-b', 'main', '.']] })
  await orderGit({ cwd: folder, git: [['fast-import', '--quiet']], stdinBase64: toBase64(stream) })
  await realGit(folder, 'repack', '-adq')
  return folder
}
