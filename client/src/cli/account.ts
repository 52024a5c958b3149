// Commands about this machine and its keys: the configuration, the keys of a service, the runner.

import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { type Command, EXIT, type Flag, none, type Run, requiredArgument, UsageError } from './command.ts'
import { changeConfig, configPath, readConfig } from './config.ts'
import { cleanLine, table } from './terminal.ts'

const SCOPES = ['conversations', 'analysis', 'admin', 'runner'] as const

export const keys: Command = {
  name: 'keys',
  summary: 'list, create and revoke API keys',
  usage: 'list|create|revoke [OWNER|ID]',
  words: ['list', 'create', 'revoke'],
  flags: {
    name: { type: 'string', value: 'NAME', words: 'with create: what the key is called' },
    scopes: {
      type: 'string',
      value: 'LIST',
      words: `with create: ${SCOPES.join(', ')}, separated by commas; conversations,analysis by default`,
    },
    expires: { type: 'string', value: 'TIME', words: 'with create: when it ends, as 2027-01-01T00:00:00Z' },
  },
  examples: [
    'bellwether keys list',
    'bellwether keys create ann --name laptop --scopes conversations,analysis',
    'bellwether keys revoke 0123456789abcdef',
  ],
  more: 'They need the root key or one of the scope admin. A new key is shown this once. In local mode no key is asked for.',
  async run(run) {
    const action = requiredArgument(run.args, 0, 'what to do (list, create or revoke)')
    if (action === 'list') await listKeys(run)
    else if (action === 'create') await createKey(run)
    else if (action === 'revoke') {
      none(run.args, 2)
      const answer = await run.service.call('DELETE /api/keys/{id}', {
        path: { id: requiredArgument(run.args, 1, 'the id of the key') },
      })
      if (run.out.isJson) run.out.json(answer)
      else run.out.line(cleanLine(answer.message))
    } else throw new UsageError(`keys can list, create and revoke, not "${action}"`)
    return EXIT.done
  },
}

async function listKeys(run: Run): Promise<void> {
  none(run.args, 2)
  const rows: string[][] = []
  const owner = run.args[1]
  let page_id: string | null | undefined
  do {
    const page = await run.service.call('GET /api/keys', {
      query: { ...(owner === undefined ? {} : { owner }), ...(page_id ? { page_id } : {}) },
    })
    for (const key of page.keys) {
      if (run.out.isJson) run.out.json(key)
      const { id, owner: whose, name, scopes, expires_at } = key
      const state = expires_at ? `until ${expires_at.slice(0, 10)}` : 'in force'
      rows.push([id, whose, name ?? '', scopes.join(','), state].map(cleanLine))
    }
    page_id = page.next_page_id
  } while (page_id)
  if (!run.out.isJson) run.out.line(table(['id', 'owner', 'name', 'scopes', 'state'], rows, { out: run.out, gives: 2 }))
}

async function createKey(run: Run): Promise<void> {
  none(run.args, 2)
  const scopes = (run.text('scopes') ?? 'conversations,analysis').split(',').map((scope) => {
    const found = SCOPES.find((one) => one === scope.trim())
    if (found === undefined) throw new UsageError(`there is no scope "${scope}"; there are ${SCOPES.join(', ')}`)
    return found
  })
  const expires = run.text('expires')
  const owner = requiredArgument(run.args, 1, 'the owner')
  const made = await run.service.call('POST /api/keys', {
    body: {
      owner,
      name: run.text('name') ?? 'bellwether',
      scopes,
      ...(expires === undefined ? {} : { expires_at: expires }),
    },
  })
  if (run.out.isJson) run.out.json(made)
  else {
    run.out.line(made.key)
    run.out.note(`Key ${cleanLine(made.id)} of ${cleanLine(owner)}. It is shown this once.`, 'dim')
  }
}

const LIMITS = {
  'day-usd': { name: 'day_usd', words: 'US dollars a day' },
  'day-tokens': { name: 'day_tokens', words: 'tokens a day' },
  'month-usd': { name: 'month_usd', words: 'US dollars a month' },
  'month-tokens': { name: 'month_tokens', words: 'tokens a month' },
} as const

const limitFlag = (words: string): Flag => ({
  type: 'string',
  value: 'N',
  words: `with set: ${words}; none takes it away`,
})

export const budget: Command = {
  name: 'budget',
  summary: 'show and set what language models may cost',
  usage: '[set]',
  words: ['set'],
  flags: Object.fromEntries(Object.entries(LIMITS).map(([flag, { words }]) => [flag, limitFlag(words)])),
  examples: ['bellwether budget', 'bellwether budget set --day-usd 5 --month-tokens none'],
  more: 'It holds for all conversations and analyses of the owner. Days and months are those of UTC; nothing is counted while no limit is set.',
  async run(run) {
    const [action] = run.args
    none(run.args, 1)
    if (action !== undefined && action !== 'set') throw new UsageError(`budget can set, not "${action}"`)
    const change = limitsOf(run)
    if ((action === 'set') !== Object.keys(change).length > 0)
      throw new UsageError('budget set takes one of --day-usd, --day-tokens, --month-usd and --month-tokens')
    const { service, out } = run
    const found =
      action === 'set' ? await service.call('PUT /api/budget', { body: change }) : await service.call('GET /api/budget')
    if (out.isJson) out.json(found)
    else out.line(table(['', 'limit', 'used', 'set aside', 'from anew'], standingOf(found), { out }))
    return EXIT.done
  },
}

function limitsOf(run: Run): Record<string, number | null> {
  const change: Record<string, number | null> = {}
  for (const [flag, { name }] of Object.entries(LIMITS)) {
    const text = run.text(flag)
    if (text === undefined) continue
    if (text !== 'none' && !/^\d{1,15}(\.\d+)?$/.test(text))
      throw new UsageError(`--${flag} is a number or none, not "${text}"`)
    change[name] = text === 'none' ? null : Number(text)
  }
  return change
}

type Amount = { limit: number | null; used: number; reserved: number }
type Span = { resets_at: string; usd: Amount; tokens: Amount }

function standingOf({ day, month }: { day: Span; month: Span }): string[][] {
  return Object.entries({ day, month }).flatMap(([name, { resets_at, usd, tokens }]) =>
    Object.entries({ USD: usd, tokens }).map(([unit, { limit, used, reserved }]) => {
      const amount = (value: number) => String(Number(value.toFixed(4)))
      const row = [`${unit} a ${name}`, limit === null ? 'none' : amount(limit), amount(used), amount(reserved)]
      return [...row, cleanLine(resets_at.slice(0, 10))]
    }),
  )
}

export const runner: Command = {
  name: 'runner',
  summary: 'lend this machine to conversations: starts bellwether-runner, or says how to get it',
  usage: '[-- OPTION…]',
  flags: {},
  general: ['url', 'help'],
  examples: ['bellwether runner --key-file runner-key.txt', 'bellwether runner -- --isolation none --capacity 2'],
  more: `Whatever stands behind the name goes to bellwether-runner, with the address of the service. Its key has the scope runner, which opens
nothing else: \`bellwether keys create OWNER --scopes runner\` makes one.`,
  async run(run) {
    const program = found('bellwether-runner')
    if (program === null) {
      run.out.note('bellwether-runner is not installed here. To install and start it:')
      run.out.line('npm install --global bellwether-runner')
      run.out.line(`bellwether-runner --url ${run.url} --key-file key.txt`)
      run.out.note(
        'On Linux it needs bubblewrap and socat. In the repository `npm run runner` does all of it for the local service.',
      )
      return EXIT.failed
    }
    const child = spawn(program, ['--url', run.url, ...run.args], { stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => resolve(code ?? EXIT.failed))
    })
  },
}

function found(program: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, program)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not in this folder.
    }
  }
  return null
}

export const config: Command = {
  name: 'config',
  summary: 'keep the address and the key on this machine',
  usage: '[set url URL | set key | forget]',
  words: ['set', 'forget'],
  flags: {},
  examples: [
    'bellwether config',
    'bellwether config set url https://bellwether.example',
    'bellwether config set key < key.txt',
  ],
  more: 'The key is read from the standard input, so that no list of processes shows it. The file is readable for you alone; one that is not is not used.',
  async run({ args, out }) {
    const [action, name] = args
    if (action === undefined) {
      const { url, key } = readConfig()
      const told = { file: configPath(), url: url ?? null, has_key: key !== undefined }
      if (out.isJson) out.json(told)
      else
        for (const [field, value] of Object.entries(told))
          out.line(`${field.padEnd(8)} ${cleanLine(String(value ?? '–'))}`)
    } else if (action === 'set' && name === 'url') {
      none(args, 3)
      const url = requiredArgument(args, 2, 'the address')
      if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`"${url}" is no http address`)
      changeConfig({ url })
    } else if (action === 'set' && name === 'key') {
      none(args, 2)
      if (process.stdin.isTTY) out.note('Paste the key, then Enter and Ctrl-D:')
      const key = (await textOf(process.stdin)).trim()
      if (!/^[!-~]+$/.test(key)) throw new UsageError('a key has visible ASCII characters only')
      changeConfig({ key })
    } else if (action === 'forget' && name === undefined) changeConfig(null)
    else throw new UsageError('config can set url URL, set key, and forget')
    return EXIT.done
  },
}
