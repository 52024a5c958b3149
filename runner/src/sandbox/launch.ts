// How the processes of one conversation are started: in a sandbox of their own, or, where the operator said so, without one.

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

/** Where the object has the workspace. */
const OBJECT_ROOT = '/workspace'

export type LaunchPlan = {
  readonly isolation: Isolation
  readonly network: Network
  readonly limits: Limits
  /** Files that a process writes its id into to be in the conversation's control groups; none where there are no groups. */
  readonly entrances?: readonly string[]
  /** A notebook's kernel that nobody used for so long is ended; null for never. */
  readonly idleMs: number | null
  /** The same for a browser. */
  readonly browserIdleMs: number | null
  /** Whether the machine lets a conversation have a network that all of its sandboxes share. */
  readonly hasOwnNetworks?: boolean
}
export type Launch = { command: string; args: string[]; env: Record<string, string>; cwd: string }

/** The folders of one conversation. */
export type ConversationFolders = {
  readonly workspace: string
  readonly home: string
  /** The pipe of the shell and sockets of the runner: seen in the sandbox, not writable there. */
  readonly run: string
  /** All of its processes are in it; without one each sandbox has a network of its own. */
  readonly network?: OwnNetwork
  /** A folder that has the same path inside and outside. */
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
  // A runner that is killed cannot clean up; the terminal that goes with it ends the loop.
  const start = isFree ? `trap 'rm -f ${state}' EXIT; ${loop}` : `${proxySource(folders, plan)}${loop}`
  const launch = launchOf(['bash', '--norc', '--noprofile', '-i', '-c', start], folders, plan)
  const processes = isFree ? null : plan.limits.processes
  return { ...launch, nonce, paths, callPipe, stateFile: isFree ? state : null, processes }
}

/** Any program of the conversation, as the shell is started. */
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
 * Chromium, as a file that a library starts with the arguments it wants. Its sandbox has the conversation's network and, of
 * its folders, those of the browser alone: no workspace, no home, no socket that gives out credentials.
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
  // Python's own messages about its debugger are nobody's output.
  const env = { PYDEVD_DISABLE_FILE_VALIDATION: '1', PYTHONUNBUFFERED: '1' }
  return programLaunch({ command: python, args: [file], env }, { folders, plan })
}

/** A shell for people: it draws and pages as a terminal of theirs does. */
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
  // The variables cross as environment of the sandbox's program, never in its arguments, which every user of the machine can see.
  return {
    ...sandboxLine(line, folders, plan),
    env: { ...SANDBOX_ENV, ...networkEnvironment(plan.network), ...env },
    cwd: '/',
  }
}

const INNER = 'BWENV_'

/**
 * The variables of a program under other names, until it is in the sandbox: LD_PRELOAD and its like would be obeyed by the
 * sandbox's own program outside.
 */
function innerEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(env).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  return Object.fromEntries(named.map(([name, value]) => [`${INNER}${name}`, value]))
}

/** The object's folder as the shell sees it; null when it is not in the workspace or not there: the shell begins at its top. */
export function folderInShell(cwd: string, folders: ConversationFolders, plan: LaunchPlan): string | null {
  const inTree = posix.relative(OBJECT_ROOT, posix.resolve(OBJECT_ROOT, cwd))
  if (inTree === '' || inTree.startsWith('..')) return null
  if (statSync(join(folders.workspace, inTree), { throwIfNoEntry: false })?.isDirectory() !== true) return null
  return join(workspaceInShell(folders, plan), inTree)
}

function workspaceInShell(folders: ConversationFolders, plan: LaunchPlan): string {
  return plan.isolation === 'none' ? folders.workspace : WORKSPACE_INSIDE
}

/** In the sandbox there is no network but this: one port, whose other end is the runner's proxy. The conversation's own network has it. */
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

/** Variables that a session saves between two shells may be secrets: never on a disk where there is memory to keep them in. */
function memoryFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
}

/** Without a sandbox git's own settings are the operator's: the helper is named for the session alone. */
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

/** The operator's environment without what is the runner's own. */
function ownEnvironment(): Record<string, string> {
  const own: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith('BELLWETHER_')) own[name] = value
  }
  return { ...own, TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' }
}
