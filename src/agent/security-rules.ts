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
    says: 'shows all variables, secrets among them',
    commands: ['env', 'printenv', 'set', 'declare'],
    given: nothing,
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

/** The highest risk among the rules that any command of the script meets. */
export function riskOf(script: string): number {
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
