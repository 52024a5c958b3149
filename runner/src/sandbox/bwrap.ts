// The sandbox: a bubblewrap command line. The machine's programs are readable and executable, the conversation's
// workspace and home are writable, and nothing else exists: no other file, process, user or network of the machine. All
// other writable places are memory of a fixed size.

import { existsSync, lstatSync } from 'node:fs'
import { quoted } from '../session/shell-source.ts'
import { onPath } from '../tools.ts'
import type { ConversationFolders, LaunchPlan } from './launch.ts'

export const WORKSPACE_INSIDE = '/workspace'
export const HOME_INSIDE = '/home/agent'
export const RUN_INSIDE = '/run/bellwether'
export const SANDBOX_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export const SANDBOX_ENV: Readonly<Record<string, string>> = {
  PATH: SANDBOX_PATH,
  HOME: HOME_INSIDE,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
}

/** Found in the operator's path: the sandbox's own variables apply only inside it. */
export function bwrapCommand(): string {
  return onPath('bwrap', process.env.PATH ?? SANDBOX_PATH) ?? 'bwrap'
}

/** The files of /etc that programs need. Never all of it, because it contains passwords and keys. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fonts',
  'java-17-openjdk',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'matplotlibrc',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki',
  'protocols',
  'python3',
  'python3.11',
  'python3.12',
  'python3.13',
  'redhat-release',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
]
/** The folder of Chrome in Google's package. */
export const CHROME_FOLDER = '/opt/google/chrome'
const SYSTEM = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']

/**
 * The command line that starts a program in the sandbox. A shell before it enters the control groups and loads the
 * filter of system calls; if it cannot, it ends. Without a control group for processor time, the sandbox has a lower
 * priority.
 */
export function sandboxLine(line: readonly string[], folders: ConversationFolders, plan: LaunchPlan) {
  const entrances = plan.entrances ?? []
  const isCpuHeld = entrances.some((path) => path.startsWith('/sys/fs/cgroup/'))
  const filter = `${folders.run}/seccomp`
  const hasFilter = existsSync(filter)
  const enter = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; '
  const start = `${isCpuHeld ? '' : 'nice -n 5 '}"$@"${hasFilter ? ` 8< ${quoted(filter)}` : ''}`
  const inNetwork = folders.network?.enter() ?? []
  const bwrap = [
    ...inNetwork,
    bwrapCommand(),
    ...(hasFilter ? ['--seccomp', '8'] : []),
    ...bwrapArgs(folders, plan),
    '--',
    ...line,
  ]
  return { command: '/bin/sh', args: ['-c', `${enter}exec ${start}`, 'sh', ...entrances, '--', ...bwrap] }
}

function bwrapArgs(folders: ConversationFolders, { network, limits }: LaunchPlan): string[] {
  const memory = (path: string) => ['--size', String(limits.tmpBytes), '--tmpfs', path]
  const runArgs = ['--ro-bind', folders.run, RUN_INSIDE]
  return [
    '--die-with-parent',
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network === 'all' || folders.network !== undefined ? [] : ['--unshare-net']),
    ...['--hostname', 'sandbox', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr', ...SYSTEM.flatMap(systemFolder)],
    ...ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...(network === 'all' ? ['--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'] : []),
    ...['passwd', 'group', 'hosts', 'gitconfig'].flatMap((name) => [
      '--ro-bind-try',
      `${folders.run}/${name}`,
      `/etc/${name}`,
    ]),
    ...['--proc', '/proc', '--dev', '/dev', ...memory('/dev/shm')],
    ...[...memory('/tmp'), ...memory('/run'), ...memory('/var'), '--dir', '/var/tmp', '--dir', '/home'],
    ...[...runArgs, '--bind', folders.home, HOME_INSIDE, '--bind', folders.workspace, WORKSPACE_INSIDE],
    ...(folders.shared === undefined ? [] : browserArgs(folders.shared, folders.run)),
    // The roots of the sandbox's own memory file systems, which have no size limit.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', WORKSPACE_INSIDE],
  ]
}

/** Chromium and Chrome read their policies from different folders. Neither may start without the policies. */
function browserArgs(shared: string, run: string): string[] {
  const rules = ['/etc/chromium/policies', '/etc/opt/chrome/policies'].flatMap((place) => [
    '--ro-bind',
    `${run}/policies`,
    place,
  ])
  return ['--bind', shared, shared, '--ro-bind-try', CHROME_FOLDER, CHROME_FOLDER, ...rules]
}

/** /bin and similar are links into /usr on most systems and folders on the others. */
function systemFolder(name: string): string[] {
  const path = `/${name}`
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', `usr/${name}`, path] : ['--ro-bind', path, path]
}
