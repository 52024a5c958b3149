// The rules for commands by name and words. They are data: the text that users read is generated from the rows that are
// applied, so the two cannot differ.

import { type Call, type CommandRule, has, operandsOf, valuesOf } from './call.ts'
import { GIT_RULES } from './git-rules.ts'
import { isSecretName } from './variables.ts'
import { holdsOutput } from './words.ts'

const always = () => true
const sends = ({ input }: Call) => input.kind === 'pipe' || input.kind === 'file'

const REMOTE_COPY = ['scp', 'sftp', 'rsync', 'ftp', 'lftp', 'rclone', 'tftp']
const RAW_NETWORK = ['nc', 'ncat', 'netcat', 'socat', 'telnet', 'ssh', 'openssl', 'websocat']

const RULES: readonly CommandRule[] = [
  {
    risk: 'high',
    says: 'deletes a folder with all that is in it',
    commands: ['rm'],
    given: ({ args }) => has(args, 'rR', '--recursive'),
  },
  {
    risk: 'high',
    says: 'destroys what is on it, or makes files unreadable for good',
    commands: ['shred', 'mkfs', 'wipefs', 'fdisk', 'parted', 'mkswap', 'wipe', 'srm', 'blkdiscard'],
    given: always,
  },
  {
    risk: 'high',
    says: 'deletes whatever a search finds',
    commands: ['find'],
    given: ({ args }) => args.includes('-delete'),
  },
  {
    risk: 'high',
    says: 'deletes at the target what the source does not have',
    commands: ['rsync'],
    given: ({ args }) => args.some((arg) => /^--(del|remove-source)/.test(arg)),
  },
  ...GIT_RULES,
  {
    risk: 'high',
    says: 'sends a file or the output of another command to the network',
    commands: ['curl', 'wget'],
    given: sendsByCurl,
  },
  {
    risk: 'high',
    says: 'sends a file or the output of another command to the network',
    commands: RAW_NETWORK.filter((name) => name !== 'openssl'),
    given: sends,
  },
  {
    risk: 'high',
    says: 'gives a shell or a program to the network',
    commands: ['nc', 'ncat', 'netcat', 'socat'],
    given: ({ args }) =>
      has(args, 'ec', '--exec', '--sh-exec', '--lua-exec') || args.some((arg) => /^(exec|system|shell):/i.test(arg)),
  },
  {
    risk: 'high',
    says: 'sends a file or the output of another command to the network',
    commands: ['openssl'],
    given: (call) => call.args[0] === 's_client' && sends(call),
  },
  {
    risk: 'high',
    says: 'copies files to another machine',
    commands: REMOTE_COPY,
    given: ({ args, input }) => input.kind !== 'inherited' || /^[\w.@-]+:/.test(operandsOf(args).at(-1) ?? ''),
  },
  {
    risk: 'high',
    says: 'publishes a package',
    commands: ['npm publish', 'yarn publish', 'pnpm publish', 'twine', 'gem push', 'cargo publish', 'docker push'],
    given: always,
  },
  {
    risk: 'high',
    says: 'shows all variables, secrets among them',
    commands: ['env', 'printenv', 'set', 'declare', 'export', 'typeset', 'readonly', 'local'],
    given: showsAll,
  },
  {
    risk: 'high',
    says: 'shows all variables of programs, secrets among them',
    commands: ['ps'],
    given: ({ args }) => args.some((arg) => /^[a-z]*e[a-z]*$/.test(arg) && !/^-/.test(arg)),
  },
  {
    risk: 'high',
    says: 'shows a variable that is named like a secret',
    commands: ['printenv', 'declare', 'typeset', 'compgen'],
    given: ({ args }) => args.some((arg) => /^\w+$/.test(arg) && isSecretName(arg, [])),
  },
  {
    risk: 'medium',
    says: 'talks to the network',
    commands: [
      'curl',
      'wget',
      'http',
      'https',
      'xh',
      'aria2c',
      'axel',
      'lynx',
      'w3m',
      'links',
      'ping',
      'dig',
      'nslookup',
    ],
    given: always,
  },
  { risk: 'medium', says: 'talks to the network', commands: [...REMOTE_COPY, ...RAW_NETWORK], given: always },
  {
    risk: 'medium',
    says: 'deletes or empties files',
    commands: ['rm', 'rmdir', 'unlink', 'truncate', 'sponge'],
    deletes: true,
    given: always,
  },
  {
    risk: 'medium',
    says: 'takes away the files that it packs',
    commands: ['zip', 'tar'],
    given: ({ name, args }) => (name === 'zip' ? has(args, 'm', '--move') : has(args, '', '--remove-files')),
  },
  {
    risk: 'medium',
    says: 'changes who may do what',
    commands: ['chmod', 'chown', 'chgrp', 'chattr', 'setfacl', 'setcap', 'umount', 'mount'],
    given: always,
  },
  {
    risk: 'medium',
    says: 'runs something later or elsewhere',
    commands: ['crontab', 'at', 'batch', 'systemctl', 'service', 'launchctl', 'tmux', 'screen', 'docker', 'podman'],
    given: always,
  },
  {
    risk: 'medium',
    says: 'ends programs',
    commands: ['kill', 'killall', 'pkill', 'xkill', 'shutdown', 'reboot', 'halt', 'poweroff'],
    given: ({ args }) => !has(args, 'lL', '--list', '--table'),
  },
  {
    risk: 'medium',
    says: 'fetches packages and runs their code',
    commands: ['npx', 'npm install', 'npm ci', 'npm exec', 'npm create', 'yarn dlx', 'pnpm dlx', 'bunx', 'pip', 'pip3'],
    given: always,
  },
  {
    risk: 'medium',
    says: 'tells the names of variables, a step to their values',
    commands: ['compgen'],
    given: ({ args }) => has(args, 've') || valuesOf(args, 'A').some((kind) => /variable|export|arrayvar/.test(kind)),
  },
  {
    risk: 'medium',
    says: 'changes what the names of commands mean',
    commands: ['enable', 'hash'],
    given: ({ args }) => has(args, 'fp'),
  },
]

/** Rules by the name of the command. */
export const RULES_OF: ReadonlyMap<string, readonly CommandRule[]> = byCommand()

function byCommand(): Map<string, CommandRule[]> {
  const rules = new Map<string, CommandRule[]>()
  for (const rule of RULES) {
    for (const name of rule.commands) rules.set(name, [...(rules.get(name) ?? []), rule])
  }
  return rules
}

export const COMMAND_RULES: readonly CommandRule[] = RULES

function showsAll({ name, args }: Call): boolean {
  if (name === 'set') return args.length === 0
  if (name === 'declare' || name === 'typeset') return showsDeclared(args)
  return args.every((arg) => /^-[px0]+$/.test(arg) || arg === '--null')
}

function showsDeclared(args: readonly string[]): boolean {
  return !has(args, 'fF') && args.every((arg) => /^[-+][A-Za-z]+$/.test(arg))
}

const DATA_OPTIONS = [
  '--data',
  '--data-ascii',
  '--data-binary',
  '--data-raw',
  '--data-urlencode',
  '--json',
  '--form',
  '--url-query',
]

function sendsByCurl({ name, args, input }: Call): boolean {
  if (args.some(holdsOutput)) return true
  if (name === 'wget')
    return has(args, '', '--post-file', '--body-file') || (input.kind === 'pipe' && has(args, '', '--post-data'))
  if (has(args, 'T', '--upload-file')) return true
  if (valuesOf(args, 'H', '--header').some((line) => line.startsWith('@'))) return true
  const forms = valuesOf(args, 'F', '--form')
  if (forms.some((form) => /=[@<]/.test(form))) return true
  return valuesOf(args, 'dF', ...DATA_OPTIONS).some((data) => /^([\w-]*[=]?)?@/.test(data))
}
