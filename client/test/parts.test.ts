// What needs no service of ours: another try, the shapes of errors, the terminal, the configuration, the completion.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../scripts/start/port.ts'
import { needPrograms } from '../../test/support/programs.ts'
import { clean, cleanCommand, jsonLine, painter, table, widthOf } from '../src/cli/terminal.ts'
import { retryAfterOf } from '../src/errors.ts'
import { Bellwether, ServiceError, TimedOut, Unreachable } from '../src/index.ts'
import { cli, temporaryFolder } from './support/run.ts'

type ReceivedRequest = { method: string | undefined; key: string | undefined }
type Answer = { status: number; body: unknown; headers?: Record<string, string> } | 'cut' | 'silence'

/** A service that gives the answers one after the other, and tells what it was asked. */
async function standIn(answers: readonly Answer[]) {
  const asked: ReceivedRequest[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const answer = answers[asked.length] ?? { status: 500, body: 'no more answers' }
    asked.push({ method: request.method, key: request.headers['idempotency-key']?.toString() })
    if (answer === 'cut') request.socket.destroy()
    else if (answer !== 'silence') {
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, url, client: new Bellwether({ url, timeoutMs: 20_000 }) }
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )
const busy = { status: 429, body: { message: 'Too many requests' }, headers: { 'retry-after': '0' } } as const

test('what was refused with Retry-After, and a keyed request whose answer was lost, is sent again under the same key', async () => {
  const task = { task_id: 't', trace_id: 't', status: 'pending', message: '', analysis_phase: 'auto' }
  const { asked, client } = await standIn([busy, 'cut', { status: 202, body: task }])
  expect((await client.analyses.submit('AAPL')).task_id).toBe('t')
  expect(asked.length).toBe(3)
  expect([...new Set(asked.map(({ key }) => key))]).toEqual([expect.stringMatching(/^[\w-]{36}$/)])
})

test('a request without a key is not repeated when its answer was lost, nor when the service asks for a long pause', async () => {
  const lost = await standIn(['cut', { status: 200, body: {} }])
  expect(await refusal(lost.client.conversations.create())).toBeInstanceOf(Unreachable)
  expect(lost.asked.length).toBe(1)
  const long = await standIn([
    { ...busy, headers: { 'retry-after': '3600' } },
    { status: 200, body: {} },
  ])
  expect(await refusal(long.client.call('GET /api/usage'))).toMatchObject({ status: 429, retryAfterMs: 3_600_000 })
  expect(long.asked.length).toBe(1)
  const silent = await standIn(['silence'])
  const impatient = new Bellwether({ url: silent.url, timeoutMs: 50, retries: 0 })
  expect(await refusal(impatient.call('GET /api/usage'))).toBeInstanceOf(TimedOut)
})

test('every shape of an error body gives a code and words', async () => {
  const item = { type: 'string_too_short', loc: ['body', 'title'], msg: 'too short', input: '' }
  const shapes: [status: number, body: unknown, code: string, message: string][] = [
    [401, { detail: 'Unauthorized' }, 'unauthorized', 'Unauthorized'],
    [400, { status: 'error', message: 'No', msg_id: 'CONVERSATION$NOT_FOUND' }, 'CONVERSATION$NOT_FOUND', 'No'],
    [500, { error: 'Not a git repository' }, 'service_failed', 'Not a git repository'],
    [409, { error: 'duplicate_task', message: 'Twice', stock_code: 'X' }, 'duplicate_task', 'Twice'],
    [429, { message: 'Enough', limit: 'conversations', used: 1, allowed: 1 }, 'quota_reached', 'Enough'],
    [422, { detail: [item] }, 'validation_error', 'title: too short'],
    [422, { error: 'validation_error', message: 'Bad', detail: [item] }, 'validation_error', 'title: too short'],
    [502, 'provider gone', 'service_failed', 'provider gone'],
    [404, '<html>proxy</html>', 'not_found', '<html>proxy</html>'],
  ]
  for (const [status, body, code, message] of shapes) {
    const error = new ServiceError(status, body, new Headers({ 'x-request-id': 'r' }))
    expect([error.status, error.code, error.message, error.requestId]).toEqual([status, code, message, 'r'])
  }
  expect([retryAfterOf('2'), retryAfterOf('soon'), retryAfterOf(null)]).toEqual([2000, null, null])
  expect(retryAfterOf(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50_000)
})

test('texts from elsewhere lose what a terminal obeys, and columns stand under each other', () => {
  const hostile =
    'a\u001b[2Jb\u001b]0;title\u0007c\u009b31md\u0000e\rf\u202eg\u001bcg\u007f\u001b]8;;http://x\u001b\\h\ti\nj'
  const shown = clean(hostile)
  expect(shown).toBe('abc31mdefgghi\nj'.replace('ghi', 'gh\ti'))
  // A sequence that is not whole.
  expect(clean('\u001b[31')).not.toContain('\u001b')
  expect(jsonLine({ a: '\u001b\u009b\u202e' })).toBe('{"a":"\\u001b\\u009b\\u202e"}')
  expect([widthOf('贵州茅台'), widthOf('e\u0301')]).toEqual([8, 1])
  const lines = table(
    ['name', 'n'],
    [
      ['贵州', '1'],
      ['ab', '23'],
    ],
    { out: { color: painter(false), columns: null }, right: [1] },
  ).split('\n')
  expect(lines).toEqual(['name   n', '贵州   1', 'ab    23'])
})

test('a table fits the terminal: one column gives way, and where that is not enough each field has a line', () => {
  const shown = (columns: number | null, gives?: number) =>
    table(
      ['id', 'title'],
      [
        ['0123456789', '贵州茅台的报告和它的图表'],
        ['x', ''],
      ],
      { out: { color: painter(false), columns }, ...(gives === undefined ? {} : { gives }) },
    ).split('\n')
  expect(shown(null)[1]).toBe('0123456789  贵州茅台的报告和它的图表')
  expect(shown(36, 1)[1]).toBe('0123456789  贵州茅台的报告和它的图表')
  const cut = shown(25, 1)
  expect(cut.map(widthOf).every((width) => width <= 25)).toBe(true)
  expect(cut[1]).toBe('0123456789  贵州茅台的报…')
  const fields = ['id     0123456789', 'title  贵州茅台的报告和它的图表', '', 'id     x', 'title  ']
  expect([shown(18, 1), shown(25)]).toEqual([fields, fields])
})

test('progress is taken away before what comes next, and each stream has colours where it is a terminal itself', ({
  skip,
}) => {
  needPrograms(skip, 'script', 'bash')
  const terminal = join(import.meta.dirname, '../src/cli/terminal.ts')
  const program = `import { outputFor } from ${JSON.stringify(terminal)}
    const out = outputFor({ json: false, noColor: false })
    out.progress('1/2 done')
    outputFor({ json: false, noColor: false }).note('it failed', 'red')
    out.line(out.color.green('a result'))`
  const on = (redirection: string, env: Record<string, string> = {}) => {
    const folder = temporaryFolder()
    const command = `${process.execPath} --input-type=module -e "$PROGRAM" ${redirection}`
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '', TERM: 'xterm', PROGRAM: program, ...env },
      encoding: 'utf8',
    })
    const file = join(folder, 'file')
    return { shown: stdout, file: existsSync(file) ? readFileSync(file, 'utf8') : null }
  }
  const red = '\u001b[31mit failed\u001b[0m'
  const green = '\u001b[32ma result\u001b[0m'
  expect(on('').shown).toBe(`\r\u001b[K1/2 done\r\u001b[K${red}\r\n${green}\r\n`)
  expect(on('2> file')).toEqual({ shown: `${green}\r\n`, file: 'it failed\n' })
  expect(on('> file')).toEqual({ shown: `\r\u001b[K1/2 done\r\u001b[K${red}\r\n`, file: 'a result\n' })
  expect(on('', { NO_COLOR: '1' }).shown).not.toContain('\u001b[3')
})

test('the configuration is for its owner alone, and the key of one service goes to no other', async () => {
  const file = join(temporaryFolder(), 'deep/config.json')
  const { url, asked } = await standIn([{ status: 401, body: { detail: 'Unauthorized' } }])
  const env = { BELLWETHER_CONFIG: file }
  expect((await cli(['config', 'set', 'url', url], { env })).code).toBe(0)
  expect((await cli(['config', 'set', 'key'], { env, input: 'secret-key\n' })).code).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const told = await cli(['config', '--json'], { env })
  expect(JSON.parse(told.stdout)).toEqual({ file, url, has_key: true })
  expect((await cli(['list'], { env })).code).toBe(3)
  expect(asked.length).toBe(1)
  chmodSync(file, 0o644)
  const open = await cli(['list'], { env })
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('chmod 600')])
})

test('a wrong command line is a 2 that says what is wrong, and no service is a 4 that says what to do', async () => {
  const wrong: [string[], RegExp][] = [
    [['nope'], /no command "nope"/],
    [['chat', '--agent', 'X', 'hi'], /--agent is one of/],
    [['files', 'rm', 'x'], /not "rm"/],
    [['chat'], /there is no message/],
    [['list', '--wrong'], /--wrong/],
    [['list', '--url', 'nonsense'], /Not an address/],
  ]
  const ended = await Promise.all(wrong.map(([args]) => cli(args)))
  for (const [i, { code, stderr, stdout }] of ended.entries()) {
    expect([wrong[i]?.[0], code, stdout]).toEqual([wrong[i]?.[0], 2, ''])
    expect(stderr).toMatch(wrong[i]?.[1] ?? /$^/)
  }
  const runner = (await cli(['runner', '--help'])).stdout
  expect([runner.includes('--url URL'), runner.includes('--key ')]).toEqual([true, false])
  const gone = await cli(['--url', `http://127.0.0.1:${await freePort()}`, 'list'])
  expect([gone.code, gone.stderr]).toEqual([4, expect.stringMatching(/connection refused[\s\S]*npm start/)])
})

test('a result that cannot be written is a failure that says so', ({ skip }) => {
  if (!existsSync('/dev/full')) skip('this machine lacks /dev/full')
  const main = join(import.meta.dirname, '../src/cli/main.ts')
  const full = openSync('/dev/full', 'w')
  const ended = spawnSync(process.execPath, [main, '--help'], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' })
  closeSync(full)
  expect([ended.status, ended.stderr]).toEqual([1, expect.stringMatching(/the result cannot be written: .*ENOSPC/)])
})

test('the completion of a shell is a script that the shell takes', async () => {
  const bash = (await cli(['completion', 'bash'])).stdout
  const asked = 'COMP_WORDS=(bellwether files c); COMP_CWORD=2; _bellwether; echo "$COMPREPLY"'
  expect(spawnSync('bash', ['-c', `${bash}\n${asked}`], { encoding: 'utf8' }).stdout).toBe('cat\n')
  const zsh = (await cli(['completion', 'zsh'])).stdout
  expect(zsh).toMatch(/^ {4}files\) compadd -- ls cat put get zip .*--at .*--json/m)
  const fish = (await cli(['completion', 'fish'])).stdout.split('\n')
  expect(fish).toContain(
    "complete -c bellwether -n '__fish_seen_subcommand_from files' -l at -r -d 'as it was at this event'",
  )
  expect(fish).toContain("complete -c bellwether -l json -d 'one JSON value a line, for programs'")
})

test('in a command that somebody may be asked about, what cannot be seen stands as its number', () => {
  expect(cleanCommand('rm -rf /tmp/a \u202e# etelpmoc tset\u202c \u200b\r\n\tls')).toBe(
    'rm -rf /tmp/a <U+202E># etelpmoc tset<U+202C> <U+200B>\n\tls',
  )
  expect(cleanCommand('echo \u001b[2Khidden')).toBe('echo <U+001B>[2Khidden')
  expect(cleanCommand('echo 文件 é שלום 🎉')).toBe('echo 文件 é שלום 🎉')
})
