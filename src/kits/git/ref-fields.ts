// Checks the fields of `--format` in lists of refs, and their arguments. Like git, it checks before any output.

import { fatal, GitFailure } from './failure.ts'
import { terminalColor } from './format-colors.ts'

const INTEGER = /^[-+]?\d+$/

/** The argument after the colon of these fields is not checked. */
const FREE: ReadonlySet<string> = new Set(
  'HEAD author authorname committer committername tagger taggername creator numparent object type tag worktreepath if then else end align symref authordate committerdate taggerdate creatordate'.split(
    ' ',
  ),
)
const WITHOUT_ARGUMENT: ReadonlySet<string> = new Set(['objecttype', 'body'])
const NOT_HERE: ReadonlySet<string> = new Set(['trailers', 'deltabase', 'raw', 'flag', 'rest'])

/** Throws for an unknown field or argument. */
export function checkField(written: string): void {
  const isPeeled = written.startsWith('*')
  const field = isPeeled ? written.slice(1) : written
  const [name = '', ...rest] = field.split(':')
  const argument = rest.length === 0 ? null : rest.join(':')
  if (field === '') throw fatal(`malformed field name: ${written}`)
  if (NOT_HERE.has(name)) throw fatal(`the field %(${name}) is not available here`)
  if (field === 'align') throw fatal('expected format: %(align:<width>,<position>)')
  if (FREE.has(name)) return
  if (WITHOUT_ARGUMENT.has(name)) {
    if (argument !== null && argument !== '') throw fatal(`%(${name}) does not take arguments`)
    return
  }
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined
  if (!check) throw fatal(`unknown field name: ${written}`)
  if (argument !== null && argument !== '') check(argument, field)
  else if (name === 'color') throw fatal('expected format: %(color:<color>)')
}

type Check = (argument: string, field: string) => void

const unrecognized = (field: string, argument: string) => fatal(`unrecognized %(${field}) argument: ${argument}`)

const named: Check = (argument, field) => {
  const [, , count] = /^([lr]?strip)=(.*)$/s.exec(argument) ?? []
  if (count !== undefined && !INTEGER.test(count)) {
    const [name = ''] = field.split(':')
    throw fatal(`Integer value expected ${name}:${argument.replace(/^strip/, 'lstrip')}`)
  }
  if (count === undefined && argument !== 'short') throw unrecognized(field, argument)
}

const REMOTE_WORDS: ReadonlySet<string> = new Set(['track', 'trackshort', 'nobracket', 'remotename', 'remoteref'])

const remote: Check = (argument, field) => {
  for (const word of argument.split(',')) if (!REMOTE_WORDS.has(word)) named(word, field)
}

const shortId: Check = (argument, field) => {
  const [, length] = /^short=(.*)$/s.exec(argument) ?? []
  if (length !== undefined && !(Number(length) > 0)) throw fatal(`positive value expected '${length}' in %(${field})`)
  if (length === undefined && argument !== 'short') throw unrecognized(field, argument)
}

const email: Check = (argument) => {
  if (argument !== 'trim' && argument !== 'localpart') throw fatal(`unrecognized email option: ${argument}`)
}

const contents: Check = (argument) => {
  const [, count] = /^lines=(.*)$/s.exec(argument) ?? []
  if (count !== undefined && !/^\d+$/.test(count)) throw fatal(`positive value expected contents:lines=${count}`)
  if (/^(signature|trailers|size)/.test(argument))
    throw fatal(`the field %(contents:${argument}) is not available here`)
  if (count === undefined && argument !== 'body' && argument !== 'subject') throw unrecognized('contents', argument)
}

const CHECKS: Readonly<Record<string, Check>> = {
  refname: named,
  upstream: remote,
  push: remote,
  objectname: shortId,
  tree: shortId,
  parent: shortId,
  objectsize: (argument) => {
    if (argument === 'disk') throw fatal('the field %(objectsize:disk) is not available here')
    throw unrecognized('objectsize', argument)
  },
  authoremail: email,
  committeremail: email,
  taggeremail: email,
  contents,
  subject: (argument) => {
    if (argument !== 'sanitize') throw unrecognized('subject', argument)
  },
  color: (argument, field) => {
    if (terminalColor(argument) !== null) return
    throw new GitFailure(`error: invalid color value: ${argument}\nfatal: unrecognized color: %(${field})`, 128)
  },
}
