// How the processes of one conversation are started: in their own sandbox, or without one if the operator chose that.

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { HELPER_FILE } from '../notebook/helper.ts'
import type { Isolation, Limits, Network } from '../options.ts'
import type { ShellLaunch } from '../session/shell.ts'
import { loopSource, quoted, rcSource, type ShellPaths } from '../session/shell-source.ts'
import { onPath } from '../tools.ts'
import { RUN_INSIDE, SANDBOX_ENV, SANDBOX_PATH, sandboxLine, WORKSPACE_INSIDE } from './bwrap.ts'
import { type OwnNetwork, PROXY_PORT } from './own-network.ts'

/** The path of the workspace in the object. */
const OBJECT_ROOT = '/workspace'

export type LaunchPlan = {
  readonly isolation: Isolation
  readonly network: Network
  readonly limits: Limits
  /** Files to which a process writes its id to enter the conversation's control groups; none if there are no groups. */
  readonly entrances?: readonly string[]
  /** A notebook's kernel is ended after this time without use; null for never. */
  readonly idleMs: number | null
  /** The same for a browser. */
  readonly browserIdleMs: number | null
  /** Whether the machine allows a network that all sandboxes of a conversation share. */
  readonly hasOwnNetworks?: boolean
}
export type Launch = { command: string; args: string[]; env: Record<string, string>; cwd: string }

/** The folders of one conversation. */
export type ConversationFolders = {
  readonly workspace: string
  readonly home: string
  /** The shell's pipe and the runner's sockets: visible in the sandbox, but read-only. */
  readonly run: string
  /** All its processes are in it; without one, each sandbox has its own network. */
  readonly network?: OwnNetwork
  /** A folder with the same path inside and outside. */
  readonly shared?: string
}

export function makeFolders(folder: string): ConversationFolders {
  const folders = { workspace: join(folder, 'workspace'), home: join(folder, 'home'), run: join(folder, 'run') }
  rmSync(folders.run, { recursive: true, force: true })
  for (const path of Object.values(folders)) mkdirSync(path, { recursive: true, mode: 0o700 })
  return folders
}

export function shellLaunch(folders: ConversationFolders, plan: LaunchPlan): ShellLaunch {
  const nonce = randomBytes(12).toString('hex')
  const isFree = plan.isolation === 'none'
  const inside = isFree ? folders.run : RUN_INSIDE
  const state = isFree ? join(memoryFolder(), `bellwether-shell-${nonce}`) : '/run/bellwether-shell-state'
  const paths: ShellPaths = { call: `${inside}/call`, rc: `${inside}/rc`, state }
  const callPipe = join(folders.run, 'call')
  makePipe(callPipe)
  writeFileSync(join(folders.run, 'rc'), rcSource(nonce, paths), { mode: 0o600 })
  const loop = loopSource(nonce, paths, isFree ? null : plan.limits)
  // A killed runner cannot clean up; the end of its terminal ends the loop.
  const start = isFree ? `trap 'rm -f ${state}' EXIT; ${loop}` : `${proxySource(folders, plan)}${loop}`
  const launch = launchOf(['bash', '--norc', '--noprofile', '-i', '-c', start], folders, plan)
  const processes = isFree ? null : plan.limits.processes
  return { ...launch, nonce, paths, callPipe, stateFile: isFree ? state : null, processes }
}

/** Any program of the conversation, started like the shell. */
export function programLaunch(
  program: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> },
  { folders, plan }: { folders: ConversationFolders; plan: LaunchPlan },
): Launch {
  const { command, args, env } = program
  if (plan.isolation === 'none') return launchOf([command, ...args], folders, plan, env)
  const limits = `ulimit -c 0 -u ${plan.limits.processes} -f ${Math.ceil(plan.limits.fileBytes / 1024)}; `
  const names = `for n in \${!${INNER}@}; do export "\${n#${INNER}}=\${!n}"; unset "$n"; done; `
  const start = `${limits}${proxySource(folders, plan)}${names}exec ${[command, ...args].map(quoted).join(' ')}`
  return launchOf(['bash', '-c', start], folders, plan, innerEnvironment(env))
}

/**
 * Chromium, as a file that a library starts with its own arguments. Its sandbox has the conversation's network and only
 * the browser's folders: no workspace, no home, no socket for credentials.
 */
export function writeBrowserStart(
  { program, start, pid }: { program: string; start: string; pid: string },
  { folders, plan }: { folders: ConversationFolders; plan: LaunchPlan },
): Launch {
  const limits = `ulimit -c 0 -u ${plan.limits.processes} -f ${Math.ceil(plan.limits.fileBytes / 1024)}; `
  const inner = `${limits}exec ${quoted(program)} "$@"`
  const launch = launchOf(['bash', '-c', inner, 'browser'], folders, plan)
  const line = [launch.command, ...launch.args].map(quoted).join(' ')
  writeFileSync(start, `#!/bin/sh\necho $$ > ${quoted(pid)}\nexec ${line} "$@"\n`, { mode: 0o700 })
  return launch
}

/** The helper with its kernel. */
export function kernelLaunch(
  python: string,
  { folders, plan }: { folders: ConversationFolders; plan: LaunchPlan },
): Launch {
  const file = `${plan.isolation === 'none' ? folders.run : RUN_INSIDE}/${HELPER_FILE}`
  // Python's own messages about its debugger are not part of the output.
  const env = { PYDEVD_DISABLE_FILE_VALIDATION: '1', PYTHONUNBUFFERED: '1' }
  return programLaunch({ command: python, args: [file], env }, { folders, plan })
}

/** An interactive shell for users, with the usual display and paging. */
export function terminalLaunch(folders: ConversationFolders, plan: LaunchPlan): Launch {
  const pager = onPath('less', SANDBOX_PATH) === null ? 'cat' : 'less'
  const env = { TERM: 'xterm-256color', PAGER: pager, GIT_PAGER: pager, PS1: '\\[\\e[1m\\]\\w\\[\\e[0m\\] \\$ ' }
  return programLaunch({ command: 'bash', args: ['-i'], env }, { folders, plan })
}

function launchOf(
  line: readonly string[],
  folders: ConversationFolders,
  plan: LaunchPlan,
  env: Readonly<Record<string, string>> = {},
): Launch {
  if (plan.isolation === 'none') {
    const [command = '', ...args] = line
    return {
      command,
      args,
      env: { ...ownEnvironment(), ...credentialEnvironment(folders), ...env },
      cwd: folders.workspace,
    }
  }
  // The variables are passed in the environment of the sandbox program, never in its arguments, which every user of the
  // machine can read.
  return {
    ...sandboxLine(line, folders, plan),
    env: { ...SANDBOX_ENV, ...networkEnvironment(plan.network), ...env },
    cwd: '/',
  }
}

const INNER = 'BWENV_'

/**
 * A program's variables have other names until it is in the sandbox: otherwise LD_PRELOAD and similar would affect the
 * sandbox program outside.
 */
function innerEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(env).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  return Object.fromEntries(named.map(([name, value]) => [`${INNER}${name}`, value]))
}

/** The shell's path for the object's folder; null if it is outside the workspace or missing: the shell starts at the top. */
export function folderInShell(cwd: string, folders: ConversationFolders, plan: LaunchPlan): string | null {
  const inTree = posix.relative(OBJECT_ROOT, posix.resolve(OBJECT_ROOT, cwd))
  if (inTree === '' || inTree.startsWith('..')) return null
  if (statSync(join(folders.workspace, inTree), { throwIfNoEntry: false })?.isDirectory() !== true) return null
  return join(workspaceInShell(folders, plan), inTree)
}

function workspaceInShell(folders: ConversationFolders, plan: LaunchPlan): string {
  return plan.isolation === 'none' ? folders.workspace : WORKSPACE_INSIDE
}

/** The sandbox's only network is one port that leads to the runner's proxy. The conversation's own network has this port. */
function proxySource({ network: own }: ConversationFolders, { network }: LaunchPlan): string {
  if (network !== 'list' || own !== undefined) return ''
  return `socat TCP-LISTEN:${PROXY_PORT},fork,reuseaddr,bind=127.0.0.1 UNIX-CONNECT:${RUN_INSIDE}/proxy.sock 2>/dev/null </dev/null & `
}

function networkEnvironment(network: Network): Record<string, string> {
  if (network !== 'list') return {}
  const proxy = `http://127.0.0.1:${PROXY_PORT}`
  const local = 'localhost,127.0.0.1,::1'
  return {
    http_proxy: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    no_proxy: local,
    NO_PROXY: local,
    NODE_USE_ENV_PROXY: '1',
  }
}

function makePipe(path: string): void {
  rmSync(path, { force: true })
  const { status, stderr } = spawnSync('mkfifo', ['-m', '600', path], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`mkfifo failed: ${stderr}`)
}

/** Variables saved between two shells may be secrets: they are kept in memory if possible, not on a disk. */
function memoryFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
}

/** Without a sandbox git uses the operator's settings, so the helper is configured for the session only. */
function credentialEnvironment({ run }: ConversationFolders): Record<string, string> {
  const settings = [
    ['credential.helper', `${run}/git-credential`],
    ['credential.useHttpPath', 'true'],
  ]
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([key = '', value = ''], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ])
}

/** The operator's environment without the runner's own variables. */
function ownEnvironment(): Record<string, string> {
  const own: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith('BELLWETHER_')) own[name] = value
  }
  return { ...own, TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' }
}
