// The list in docs/limits.md: each number is the one of the code, each text stands there, and each status is that of its code.

import { maxHeaderSize } from 'node:http'
import { expect, test } from 'vitest'
import { LIMIT_VARIABLES, QUOTA_VARIABLES, type QuotaConfig, quotaConfig } from '../../src/config/limits.ts'
import { readVariables } from '../../src/lib/variables.ts'
import { textOf } from '../support/source-tree.ts'

const SETTINGS: Readonly<Record<string, unknown>> = readVariables(LIMIT_VARIABLES, {})
const QUOTAS = quotaConfig(readVariables(QUOTA_VARIABLES, {}), 'keys')

type Limit = string | number
/** Where the number is, and the file with the text of the refusal and with its code. */
type Rule = { limit: Limit; file?: string; code?: string; codeIn?: string }

const NAMED_NUMBER = (name: string) => new RegExp(`\\b(?:const ${name} =|${name}:) ([\\d_]+(?: \\* [\\d_]+)*)\\b`)

/** What a constant of a file comes to. */
function constant(file: string, name: string): number {
  const [, product] = NAMED_NUMBER(name).exec(textOf(file)) ?? []
  expect([file, name, product]).not.toContain(undefined)
  return (product ?? '').split(' * ').reduce((all, factor) => all * Number(factor.replaceAll('_', '')), 1)
}

const UNITS = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
] as const

function bytes(count: unknown): string {
  const [size, unit] = UNITS.find(([one]) => Number(count) % one === 0) ?? [1, 'bytes']
  return `${grouped(Number(count) / size)} ${unit}`
}

const grouped = (value: number): string => value.toLocaleString('en-US')
const seconds = (value: unknown): string => `${value} s`

/** `windowMs` as the variable has it. */
function rate(name: string): string {
  const { count, windowMs } = SETTINGS[name] as { count: number; windowMs: number }
  return `${count}/${windowMs / 1000}`
}

const BODY = 'src/http/body.ts'
const VALIDATION = 'src/http/validation.ts'
const TOO_MANY = 'src/http/too-many.ts'
const REFUSALS = 'src/routes/analysis/refusals.ts'
const UPLOADS = 'src/workspace/uploads.ts'
const TRANSFERS = 'durable-objects/conversation/workspace/transfers.ts'
const SOCKET_MESSAGES = 'durable-objects/conversation/sockets/socket-messages.ts'
const BOOK = 'src/portfolio/book.ts'
const BOOK_TEXTS = 'src/routes/analysis/portfolio/texts.ts'
const BROKERS_FILE = 'src/routes/analysis/portfolio/import.ts'
const BROKERS_TEXTS = 'src/routes/analysis/portfolio/import-texts.ts'

const ofRate = (name: string): Rule => ({ limit: rate(name), file: TOO_MANY, code: 'rate_limited' })
const ofQuota = (name: keyof QuotaConfig): Rule => ({
  limit: grouped(QUOTAS[name]),
  file: TOO_MANY,
  code: 'rate_limited',
})
/** A 400 in the caller's language. */
const ofAnalysis = (limit: Limit): Rule => ({ limit, file: REFUSALS, code: 'bad_request' })
const ofBook = (limit: Limit): Rule => ({ limit, file: BOOK_TEXTS, code: 'validation_error' })
const inValidation = (limit: Limit): Rule => ({ limit, file: VALIDATION, code: 'unprocessable' })
const large = (limit: string): Rule => ({ limit, file: BODY, code: 'payload_too_large' })
const late = (limit: string): Rule => ({ limit, file: BODY, code: 'request_timeout' })

const RULES: Readonly<Record<string, Rule>> = {
  'headers of a request, under `npm start`': { limit: bytes(maxHeaderSize), file: 'scripts/start/front-refusals.ts' },
  'body of a request': large(bytes(SETTINGS.MAX_BODY_BYTES)),
  'body of an upload': large(bytes(SETTINGS.MAX_UPLOAD_BYTES)),
  'time without a piece of a large body': late(seconds(constant(BODY, 'BODY_IDLE_MS') / 1000)),
  'time for a small body': late(seconds(constant(BODY, 'SMALL_BODY_MS') / 1000)),
  '`Content-Encoding` of a body': { limit: 'none', file: BODY, code: 'unsupported_media_type' },
  'levels in a JSON body': inValidation(constant(VALIDATION, 'MAX_DEPTH')),
  'values in a JSON body': inValidation(constant(VALIDATION, 'MAX_VALUES')),
  '`Idempotency-Key` of an event': {
    limit: `${constant('src/routes/conversations/events.ts', 'MAX_KEY_LENGTH')} characters`,
    ...{ file: 'src/routes/conversations/events.ts', code: 'unprocessable', codeIn: VALIDATION },
  },
  'events of a page': {
    limit: constant('src/routes/conversations/events.ts', 'MAX_LIMIT'),
    ...{ file: 'src/routes/conversations/events.ts', code: 'bad_request' },
  },
  'requests of a key that read': ofRate('RATE_LIMIT_READS'),
  'requests of a key that change something': ofRate('RATE_LIMIT_WRITES'),
  'making and starting conversations': ofRate('RATE_LIMIT_STARTS'),
  'submitting analyses': ofRate('RATE_LIMIT_ANALYSES'),
  'asking about reports': ofRate('RATE_LIMIT_CHATS'),
  'trying out rules of alerts': ofRate('RATE_LIMIT_ALERT_TESTS'),
  'running screens': ofRate('RATE_LIMIT_SCREENS'),
  uploads: ofRate('RATE_LIMIT_UPLOADS'),
  'wrong keys from an address': ofRate('RATE_LIMIT_WRONG_KEYS'),
  'conversations of an owner': ofQuota('conversations'),
  'bytes that an owner stores': { ...ofQuota('storedBytes'), limit: bytes(QUOTAS.storedBytes) },
  'open sockets of an owner': ofQuota('sockets'),
  'open task streams of an owner': ofQuota('streams'),
  'open task streams of a key': ofQuota('streamsPerKey'),
  'unfinished analyses of an owner': ofQuota('openAnalyses'),
  'analyses of an owner in a day': ofQuota('analysesPerDay'),
  'judgements by an owner': ofQuota('feedback'),
  'judgements of a conversation': {
    limit: constant('src/routes/conversations/feedback.ts', 'MAX_PER_CONVERSATION'),
    ...{ file: 'src/routes/conversations/feedback.ts', code: 'rate_limited' },
  },
  'large bodies of an owner at a time': { limit: bytes(QUOTAS.bytesInFlight), file: BODY, code: 'rate_limited' },
  'large bodies of an owner in a second': {
    ...{ limit: bytes(QUOTAS.largeBodyBytesPerSecond), file: BODY, code: 'rate_limited' },
  },
  'running conversations of an owner': {
    limit: `${SETTINGS.MAX_RUNNING_LOOPS}`,
    file: 'durable-objects/conversation/lifecycle/conversation-object.ts',
  },
  'a conversation that nobody follows': { limit: seconds(SETTINGS.IDLE_CLOSE_SECONDS) },
  'a command of the shell': { limit: seconds(SETTINGS.SHELL_TIMEOUT_SECONDS) },
  'a frame of a socket': {
    limit: bytes(constant('durable-objects/conversation/sockets/plain-socket.ts', 'MAX_FRAME_BYTES')),
    file: 'durable-objects/conversation/sockets/plain-socket.ts',
  },
  'messages of a socket in a second': { limit: `${SETTINGS.SOCKET_MESSAGES_PER_SECOND}`, file: SOCKET_MESSAGES },
  'people at one terminal': { limit: `${SETTINGS.MAX_TERMINAL_VIEWERS}`, file: TOO_MANY, code: 'rate_limited' },
  'a file of a workspace': { limit: bytes(SETTINGS.MAX_FILE_BYTES), file: UPLOADS },
  'all files of a workspace': { limit: bytes(SETTINGS.MAX_WORKSPACE_BYTES), file: UPLOADS },
  'files, folders and links of a workspace': {
    limit: constant('durable-objects/conversation/workspace/opening.ts', 'MAX_FILES'),
    file: UPLOADS,
  },
  'a name in a path': {
    limit: `${constant('src/workspace/file-system.ts', 'MAX_NAME_BYTES')} bytes`,
    ...{ file: 'src/workspace/paths.ts', code: 'unprocessable', codeIn: VALIDATION },
  },
  'a path': {
    limit: `${grouped(constant('src/workspace/file-system.ts', 'MAX_PATH_BYTES'))} bytes`,
    ...{ file: 'src/workspace/paths.ts', code: 'unprocessable', codeIn: VALIDATION },
  },
  'a file that is shown as text': {
    limit: bytes(constant('src/workspace/reading.ts', 'MAX_TEXT_BYTES')),
    ...{ file: 'src/workspace/reading.ts', code: 'declared_failure', codeIn: 'src/routes/conversations/files.ts' },
  },
  'files of an upload': { limit: constant(TRANSFERS, 'MAX_UPLOADED_FILES'), file: UPLOADS },
  "parts of an upload's form": {
    limit: constant('src/workspace/upload-form.ts', 'MAX_PARTS'),
    ...{ file: 'src/routes/conversations/files.ts', code: 'unprocessable', codeIn: VALIDATION },
  },
  'secrets of an owner': {
    limit: constant('src/db/secrets.ts', 'MAX_SECRETS'),
    file: 'src/routes/conversations/secrets.ts',
  },
  'all secrets of an owner, sealed': {
    limit: `${grouped(constant('src/db/secrets.ts', 'MAX_TOTAL_CHARACTERS'))} characters`,
    file: 'src/routes/conversations/secrets.ts',
  },
  '`mcp_config`': {
    limit: `${grouped(constant('src/routes/conversations/settings.ts', 'MAX_MCP_CHARACTERS'))} characters`,
    ...{ file: 'src/routes/conversations/settings.ts', code: 'unprocessable', codeIn: VALIDATION },
  },
  'links to a conversation in force': {
    limit: constant('src/routes/conversations/shares.ts', 'MOST_SHARES'),
    ...{ file: 'src/routes/conversations/shares.ts', code: 'bad_request' },
  },
  'stocks of one analysis': ofAnalysis(constant('src/routes/analysis/analyze.ts', 'MAX_STOCKS')),
  'a picture to read stocks from': ofAnalysis(
    bytes(constant('src/routes/analysis/extract-image.ts', 'MAX_PICTURE_BYTES')),
  ),
  'a list to read stocks from': ofAnalysis(bytes(constant('src/routes/analysis/parse-import.ts', 'MAX_BYTES'))),
  watchlists: ofAnalysis(constant('src/routes/analysis/watchlists.ts', 'MAX_LISTS')),
  'stocks of a watchlist': ofAnalysis(constant('src/routes/analysis/watchlists.ts', 'MAX_STOCKS')),
  schedules: ofAnalysis(constant('src/routes/analysis/schedules.ts', 'MAX_SCHEDULES')),
  'notification channels': ofAnalysis(constant('src/routes/analysis/channels.ts', 'MAX_CHANNELS')),
  'saved screens': {
    limit: constant('src/routes/analysis/saved-screens.ts', 'MOST_SCREENS'),
    ...{ file: 'src/screening/texts/en.ts', code: 'bad_request', codeIn: 'src/routes/analysis/saved-screens.ts' },
  },
  'rules of alerts': {
    limit: constant('src/routes/analysis/page/alert-rules.ts', 'MOST_RULES'),
    ...{ file: 'src/alerts/texts.ts', code: 'bad_request', codeIn: 'src/routes/analysis/page/alert-rules.ts' },
  },
  'accounts of a portfolio': ofBook(constant(BOOK, 'MAX_ACCOUNTS')),
  'entries of an account': ofBook(constant(BOOK, 'MAX_EVENTS')),
  'splits of a stock in an account': ofBook(constant(BOOK, 'MAX_SPLITS')),
  "a broker's file": {
    limit: bytes(constant(BROKERS_FILE, 'MAX_BYTES')),
    ...{ file: BROKERS_TEXTS, code: 'validation_error', codeIn: BROKERS_FILE },
  },
  "rows of a broker's file": {
    limit: constant(BROKERS_FILE, 'MAX_ROWS'),
    ...{ file: BROKERS_TEXTS, code: 'validation_error', codeIn: BROKERS_FILE },
  },
}

type Row = { what: string; limit: string; beyond: string; variable: string }

const [, section = ''] = /\n## The whole list\n([\s\S]*?)\n## /.exec(textOf('docs/limits.md')) ?? []
const rows: Row[] = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (what|---) /.test(line))
  .map((line) => {
    const [, what = '', limit = '', beyond = '', variable = ''] = line.split('|').map((cell) => cell.trim())
    return { what, limit, beyond, variable: variable.replaceAll('`', '') }
  })

/** `…` stands for what differs. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\n]*?'),
  )

const STATUSES = new Map(
  [...textOf('src/http/errors.ts').matchAll(/^ {2}(\w+): (\d{3}),$/gm)].map(([, code = '', status = '']) => [
    code,
    status,
  ]),
)

test('every row of the list is checked here, and its number is the one of the code', () => {
  expect(rows.map(({ what }) => what).toSorted()).toEqual(Object.keys(RULES).toSorted())
  const told = rows.map(({ what, limit }) => [what, limit])
  const known = rows.map(({ what }) => {
    const limit = RULES[what]?.limit
    return [what, typeof limit === 'number' ? grouped(limit) : limit]
  })
  expect(told).toEqual(known)
})

test('what comes back beyond a limit stands in the code, with the status of its error', () => {
  for (const { what, beyond } of rows) {
    const { file, code, codeIn = file } = RULES[what] ?? {}
    const [, status] = /^(\d{3}) /.exec(beyond) ?? []
    if (code !== undefined) {
      expect([what, status]).toEqual([what, STATUSES.get(code)])
      expect([what, textOf(codeIn ?? '').includes(`'${code}'`)]).toEqual([what, true])
    } else if (status !== undefined) {
      expect([what, new RegExp(`\\b${status}\\b`).test(textOf(codeIn ?? ''))]).toEqual([what, true])
    }
    const [, text] = /`([^`]+)`/.exec(beyond) ?? []
    if (text !== undefined && file !== undefined)
      expect([what, file, patternOf(text).test(textOf(file))]).toEqual([what, file, true])
  }
})

test('every variable that limits something is in the list', () => {
  const named = rows.map(({ variable }) => variable).filter((name) => name !== '')
  const known = [...Object.keys(LIMIT_VARIABLES), ...Object.keys(QUOTA_VARIABLES)]
  // Of what is read from elsewhere; its page tells of it.
  expect(known.filter((name) => !named.includes(name))).toEqual(['MAX_GIT_ANSWER_BYTES'])
  expect(named.filter((name) => !known.includes(name))).toEqual([])
  for (const { variable, limit } of rows.filter((row) => row.variable in SETTINGS)) {
    const value = SETTINGS[variable]
    const shown = typeof value === 'number' ? [bytes(value), seconds(value), `${value}`] : [rate(variable)]
    expect([variable, shown]).toEqual([variable, expect.arrayContaining([limit])])
  }
})
