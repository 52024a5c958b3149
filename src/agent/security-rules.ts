// The rules by which the risk of a shell command is judged. They are data: the text that users read is made from the rows
// that are applied, so it cannot say anything else. Quotes are not understood: what looks like a command inside a quoted
// text counts as one, which errs on the side of asking.

export const RISK = { unknown: -1, low: 0, medium: 1, high: 2 } as const

/** Actions below this level need no confirmation, unless the owner chose another level. */
export const DEFAULT_RISK_SEVERITY = RISK.medium

type Rule = {
  risk: 'medium' | 'high'
  says: string
  /** The commands that it is about; null for all. */
  commands: readonly string[] | null
  /** What else must hold for the words after the command's name. */
  given: (args: readonly string[]) => boolean
}

const always = () => true
const nothing = (args: readonly string[]) => args.length === 0
/** One of the letters among the short options, or one of the words. */
const has =
  (letters: RegExp, ...words: string[]) =>
  (args: readonly string[]) =>
    args.some((arg) => words.includes(arg) || (/^-[A-Za-z]+$/.test(arg) && letters.test(arg)))
const NO_LETTER = /(?!)/
const sub = (names: readonly string[], given: Rule['given']) => (args: readonly string[]) =>
  names.some((name) => args.includes(name)) && given(args)

const NETWORK = ['clone', 'fetch', 'pull', 'push', 'ls-remote']
const matching = (pattern: RegExp) => (args: readonly string[]) => args.some((arg) => pattern.test(arg))
/** Files that hold keys and passwords by their names. A sample of variables without values is none. */
const SECRET_FILE =
  /(^|[/@'"=<])(\.env(\.(?!example\b|sample\b|template\b)[\w-]+)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.dev\.vars|id_(rsa|dsa|ecdsa|ed25519)|credentials(\.json)?|[\w.-]+\.(pem|p12|pfx|key))['"]?$/i

const RULES: readonly Rule[] = [
  {
    risk: 'high',
    says: 'deletes a folder with all that is in it',
    commands: ['rm'],
    given: has(/[rR]/, '--recursive'),
  },
  {
    risk: 'high',
    says: 'deletes, or runs something on, whatever a search finds',
    commands: ['find'],
    given: has(NO_LETTER, '-delete', '-exec', '-execdir'),
  },
  {
    risk: 'high',
    says: 'discards uncommitted work: `git reset --hard`',
    commands: ['git'],
    given: sub(['reset'], has(NO_LETTER, '--hard')),
  },
  {
    risk: 'high',
    says: 'discards uncommitted work: `git clean -f`',
    commands: ['git'],
    given: sub(['clean'], has(/f/, '--force')),
  },
  {
    risk: 'high',
    says: 'discards uncommitted work: `git restore`, `git checkout --`',
    commands: ['git'],
    given: (args) => args.includes('restore') || sub(['checkout'], has(/f/, '--', '.', '--force'))(args),
  },
  { risk: 'high', says: 'deletes a branch that is not merged', commands: ['git'], given: sub(['branch'], has(/D/)) },
  {
    risk: 'high',
    says: 'rewrites or removes what was pushed',
    commands: ['git'],
    given: sub(
      ['push'],
      (args) =>
        has(/[fd]/, '--force', '--force-with-lease', '--delete', '--mirror')(args) ||
        args.some((arg) => /^[+:]./.test(arg)),
    ),
  },
  {
    risk: 'high',
    says: 'throws away stashed or unreachable commits, or rewrites the whole history',
    commands: ['git'],
    given: (args) =>
      sub(['stash'], matching(/^(drop|clear)$/))(args) ||
      sub(['reflog'], matching(/^(expire|delete)$/))(args) ||
      sub(['gc', 'prune'], matching(/^(--prune(=.*)?|prune)$/))(args) ||
      sub(['update-ref'], has(/d/, '--delete'))(args) ||
      args.some((arg) => arg === 'filter-branch' || arg === 'filter-repo'),
  },
  {
    risk: 'high',
    says: 'changes how git behaves: its hooks, or files inside `.git`',
    commands: null,
    given: matching(/(^|[/'"=>])\.git\/|core\.(hookspath|sshcommand|fsmonitor|pager|editor)|^(credential|url)\./i),
  },
  {
    risk: 'high',
    says: 'reads or sends a file that is named like one with secrets',
    commands: null,
    given: matching(SECRET_FILE),
  },
  {
    risk: 'high',
    says: 'sends a file or the output of another command to the network',
    commands: ['curl', 'wget'],
    given: (args) =>
      has(/[TF]/, '--upload-file', '--form', '--post-file', '--body-file', '--data-binary')(args) ||
      matching(/^(-d|--data[\w-]*=?|--json=?)?['"]?@/)(args),
  },
  {
    risk: 'high',
    says: 'shows all variables, secrets among them',
    commands: ['env', 'printenv', 'set', 'declare', 'export', 'typeset'],
    given: (args) => args.every((arg) => /^-[px]+$/.test(arg)),
  },
  {
    risk: 'high',
    says: 'shows a variable that is named like a secret',
    commands: ['printenv', 'declare', 'compgen'],
    given: matching(/(TOKEN|SECRET|PASSWORD|API_?KEY)/i),
  },
  {
    risk: 'high',
    says: 'uses a variable that is named like a secret',
    commands: null,
    given: (args) => args.some((arg) => /\$\w*(TOKEN|SECRET|PASSWORD|API_?KEY)/i.test(arg)),
  },
  {
    risk: 'high',
    says: 'runs a text that was fetched or made on the way: `… | sh`',
    commands: ['sh', 'bash'],
    given: nothing,
  },
  { risk: 'high', says: 'runs a text that was made on the way', commands: ['eval'], given: always },
  { risk: 'medium', says: 'talks to the network', commands: ['curl', 'wget'], given: always },
  { risk: 'medium', says: 'talks to a git remote', commands: ['git'], given: sub(NETWORK, always) },
  {
    risk: 'medium',
    says: 'rewrites commits, or removes a branch or a tag',
    commands: ['git'],
    given: (args) =>
      args.includes('rebase') ||
      sub(['commit'], has(NO_LETTER, '--amend'))(args) ||
      sub(['branch', 'tag'], has(/d/, '--delete'))(args),
  },
  {
    risk: 'medium',
    says: 'changes where git sends and fetches',
    commands: ['git'],
    given: sub(['remote'], matching(/^(add|set-url|rename|rm|remove)$/)),
  },
  { risk: 'medium', says: 'deletes or empties files', commands: ['rm', 'rmdir', 'unlink', 'truncate'], given: always },
  { risk: 'medium', says: 'changes who may do what', commands: ['chmod'], given: always },
  { risk: 'medium', says: 'changes the settings of git', commands: ['git'], given: sub(['config'], always) },
]

/** Words before a command that only say how it is to be run. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'sudo',
  'exec',
  'command',
  'builtin',
  'xargs',
  'time',
  'then',
  'do',
  'else',
  '!',
])

/**
 * The highest risk among the rules that any command of the script meets. To use one of the variables named is as risky as
 * to use one that is named like a secret.
 */
export function riskOf(script: string, secretNames: readonly string[] = []): number {
  if (secretNames.some((name) => namesVariable(script, name))) return RISK.high
  const commands = script
    .replaceAll('${', '$')
    .split(/[\n;&|(){}`]+/)
    .map(wordsOf)
  const met = RULES.filter(({ commands: names, given }) =>
    commands.some(([name = '', ...args]) =>
      names === null ? given([name, ...args]) : names.includes(name) && given(args),
    ),
  )
  return Math.max(RISK.low, ...met.map(({ risk }) => RISK[risk]))
}

function namesVariable(script: string, name: string): boolean {
  for (let at = script.indexOf(name); at >= 0; at = script.indexOf(name, at + 1)) {
    const before = script.slice(Math.max(0, at - 3), at)
    const after = script[at + name.length] ?? ''
    if (/(\$|\$\{[#!]?|\benv\.|printenv )$/.test(before) && !/\w/.test(after)) return true
  }
  return false
}

function wordsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const start = words.findIndex((word) => !WRAPPERS.has(word) && !/^(-|\w+=)/.test(word))
  const [name = '', ...args] = words.slice(Math.max(start, 0))
  return [name.slice(name.lastIndexOf('/') + 1), ...args]
}

/** The rules as users read them. */
export function builtinPolicy(): string {
  const list = (wanted: Rule['risk']) =>
    RULES.filter(({ risk }) => risk === wanted).map(
      ({ says, commands }) => `- ${commands?.join(', ') ?? 'any command'}: ${says}`,
    )
  return [
    '# Built-in security rules',
    '',
    'The risk of a shell command is the highest among the rules that it meets, and low when it meets none. In confirmation',
    'mode an action at or above the chosen risk severity waits for your confirmation; one below it runs at once.',
    '',
    '## High',
    '',
    ...list('high'),
    '',
    '## Medium',
    '',
    ...list('medium'),
    '',
  ].join('\n')
}
