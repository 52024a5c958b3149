// `npm run deploy` looks first: at wrangler.toml, and at the account by a stand-in for wrangler that answers as the real one does
// (wrangler 4.124.0: what it prints and how it ends was copied from there).

import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text as textFrom } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { Wrangler } from '../../scripts/deploy/ask-wrangler.ts'
import { BINDINGS, type Finding, looksAtConfig, readDeployment } from '../../scripts/deploy/checks.ts'
import { deploy, readDeployArguments } from '../../scripts/deploy/main.ts'
import { TEMPLATE_ADDRESS, templateButton } from '../../scripts/deploy/template-button.ts'
import { ROOT, textOf } from '../support/source-tree.ts'

const ID = '5d9e7a30-2c1f-4b6a-9d0e-1f2a3b4c5d6e'

/** What the stand-in prints for the words of a command that begin so, and how it ends. */
type Answer = { readonly out?: string; readonly err?: string; readonly code?: number; readonly hangs?: boolean }
type Account = Readonly<Record<string, Answer>>

const json = (value: unknown): Answer => ({ out: `${JSON.stringify(value, null, 2)}\n` })
const SIGNED_IN = json({
  loggedIn: true,
  authType: 'OAuth Token',
  email: 'ann@example.com',
  accounts: [],
  tokenPermissions: [],
})
const WHOLE: Account = {
  whoami: SIGNED_IN,
  'secret list': json([
    { name: 'ROOT_API_KEY', type: 'secret_text' },
    { name: 'SECRETS_KEY', type: 'secret_text' },
  ]),
  'd1 list': json([{ uuid: ID, name: 'bellwether', version: 'production', created_at: '2026-01-01T00:00:00.000Z' }]),
  'd1 migrations list': {
    out: '\n ⛅️ wrangler 4.124.0\n────────────────────\nResource location: remote \n\n✅ No migrations to apply!\n',
  },
  'r2 bucket list': {
    out: '\n ⛅️ wrangler 4.124.0\n────────────────────\nListing buckets...\nname:           bellwether-files\ncreation_date:  2026-01-01T00:00:00.000Z\n',
  },
  'd1 migrations apply': { out: 'applied\n' },
  deploy: { out: 'deployed\n' },
}

/** A place with a configuration of its own and a `wrangler` that is found first. */
function rig(account: Account, change: (toml: string) => string = (toml) => toml) {
  const place = mkdtempSync(join(tmpdir(), 'bellwether-deploy-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const [config, log, bin] = [join(place, 'wrangler.toml'), join(place, 'asked'), join(place, 'bin')]
  writeFileSync(
    config,
    change(
      withId(
        textOf('wrangler.toml').replaceAll(
          'migrations_dir = "migrations"',
          `migrations_dir = ${JSON.stringify(join(ROOT, 'migrations'))}`,
        ),
      ),
    ),
  )
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'wrangler'),
    `#!${process.execPath}
const { appendFileSync } = require('node:fs')
const account = ${JSON.stringify(account)}
const words = process.argv.slice(2).join(' ')
appendFileSync(${JSON.stringify(log)}, words + '\\n')
const known = Object.keys(account).filter((name) => words.startsWith(name)).sort((a, b) => b.length - a.length)[0]
const { out = '', err = '', code = 0, hangs = false } = account[known] ?? { err: 'no such command: ' + words, code: 1 }
process.stdout.write(out)
process.stderr.write(err)
if (hangs) setInterval(() => {}, 1000)
else process.exitCode = code
`,
  )
  chmodSync(join(bin, 'wrangler'), 0o755)
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
  const asked = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  return { config, env, asked }
}

const withId = (toml: string) => toml.replaceAll('00000000-0000-0000-0000-000000000000', ID)

/** As the command does it, in this process: loading wrangler's code takes seconds. */
async function deployed({ config, env }: Pick<ReturnType<typeof rig>, 'config' | 'env'>, ...args: string[]) {
  const lines: string[] = []
  const wishes = readDeployArguments(['--config', config, ...args])
  const code = await deploy(wishes, { env, print: (line) => void lines.push(line) })
  return { code, out: `${lines.join('\n')}\n` }
}

test('with nothing missing the migrations are applied and the Worker is deployed, and a check deploys nothing', async () => {
  const place = rig(WHOLE)
  const checked = await deployed(place, '--check')
  expect(checked.code).toBe(0)
  expect(checked.out).toContain('Nothing is known to be missing.\n')
  expect(checked.out).toMatch(/ok {6}All \d+ migrations of the database are applied/)
  expect(checked.out).toMatch(/note {4}The plan that this needs, which wrangler cannot be asked about: Workers Paid/)
  expect(place.asked().some((words) => /^(deploy|d1 migrations apply)/.test(words))).toBe(false)
  // The command itself.
  const child = spawn(process.execPath, [join(ROOT, 'scripts/deploy.mjs'), '--config', place.config], {
    env: place.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const out = await textFrom(child.stdout)
  expect([await ended, out]).toEqual([0, expect.stringMatching(/applied\ndeployed\n$/)])
  expect(place.asked().slice(-2)).toEqual([
    `d1 migrations apply DB --remote --config ${place.config} --env=`,
    `deploy --config ${place.config} --env=`,
  ])
})

test('what is missing is named with the command that mends it, and nothing is deployed', async () => {
  const place = rig(
    {
      ...WHOLE,
      'secret list': {
        err: '\n✘ [ERROR] Worker "bellwether" not found.\n\nIf this is a new Worker, run `wrangler deploy` first to create it.\n',
        code: 1,
      },
      'd1 migrations list': {
        out: 'Migrations to be applied:\n┌──────────────┐\n│ Name         │\n├──────────────┤\n│ 0030_reference_rates.sql │\n│ 0031_screening.sql │\n└──────────────┘\n',
      },
      'r2 bucket list': { out: 'Listing buckets...\nname:           other\n' },
    },
    (toml) =>
      toml
        .replace('crons = ["*/5 * * * *"]', 'crons = []')
        .replace('[observability]', '[vars]\nSECRETS_KEY = "x"\nMAX_ATTEMPTS = "many"\n\n[observability]'),
  )
  const { code, out } = await deployed(place)
  expect(code).toBe(1)
  const missing = out.split('\n').filter((line) => line.startsWith('MISSING'))
  expect(missing).toEqual([
    'MISSING A cron trigger: no schedule and no upkeep would run',
    `MISSING SECRETS_KEY stands in ${place.config} for everyone to read`,
    'MISSING Variables that the service does not take',
    'MISSING The secret ROOT_API_KEY',
    'MISSING The secret SECRETS_KEY',
    'MISSING The bucket bellwether-files',
  ])
  expect(out).toContain('openssl rand -hex 32 | npx wrangler secret put ROOT_API_KEY\n')
  expect(out).toContain('openssl rand -base64 32 | npx wrangler secret put SECRETS_KEY\n')
  expect(out).toContain('npx wrangler r2 bucket create bellwether-files\n')
  expect(out).toMatch(/MAX_ATTEMPTS: found "many", allowed is/)
  expect(out).toMatch(/note {4}2 of \d+ migrations of the database are open/)
  expect(out).toContain('6 things are missing; nothing was deployed.')
  expect(place.asked().some((words) => /^(deploy|d1 migrations apply)/.test(words))).toBe(false)
})

test('of a fresh copy of the repository the id of the database and the sign-in are missing', async () => {
  const fresh = rig({ whoami: { out: '{\n  "loggedIn": false\n}\n', code: 1 } }, (toml) =>
    toml.replaceAll(ID, '00000000-0000-0000-0000-000000000000'),
  )
  const { code, out } = await deployed(fresh, '--check')
  expect(code).toBe(1)
  expect(out.split('\n').filter((line) => line.startsWith('MISSING'))).toEqual([
    'MISSING The id of the database is not set: database_id is the placeholder of zeros',
    'MISSING wrangler is not signed in, so the account could not be looked at',
  ])
  expect(out).toContain('npx wrangler d1 create bellwether\n')
  expect(out).toContain('npx wrangler login\n')
  expect(fresh.asked()).toEqual(['whoami --json'])
})

test('what could not be asked is told as that, and is neither a yes nor a no', async () => {
  const place = rig({
    ...WHOLE,
    'secret list': { err: '✘ [ERROR] A request to the Cloudflare API failed.\n', code: 1 },
    'd1 list': { out: 'something else\n' },
    'r2 bucket list': { hangs: true },
  })
  const wrangler = new Wrangler({ config: place.config, environment: undefined, env: place.env, answerMs: 3_000 })
  expect(await wrangler.isSignedIn()).toEqual({ ok: true, value: true })
  expect(await wrangler.secrets()).toEqual({ ok: false, why: 'A request to the Cloudflare API failed.' })
  expect(await wrangler.databases()).toEqual({ ok: false, why: 'something else' })
  expect(await wrangler.buckets()).toEqual({ ok: false, why: 'no answer within 3 s' })
  const nowhere = new Wrangler({ config: place.config, environment: undefined, env: { PATH: '/nowhere' } })
  expect(await nowhere.isSignedIn()).toEqual({ ok: false, why: expect.stringMatching(/ENOENT/) })
  const off = await deployed({ config: place.config, env: { PATH: '/nowhere' } }, '--check')
  expect([off.code, off.out]).toEqual([
    0,
    expect.stringMatching(/UNKNOWN The account could not be looked at: .*ENOENT/),
  ])
  expect(off.out).toContain('Nothing is known to be missing. 1 could not be looked at: wrangler will tell.')
})

const missingIn = (findings: readonly Finding[]) =>
  findings.flatMap(({ kind, what }) => (kind === 'missing' ? [what] : []))

test('the file is read as wrangler reads it: comments, environments and bindings that are not there', async () => {
  const missing = async (change: (toml: string) => string, environment?: string) => {
    const { config } = rig({}, change)
    return missingIn(looksAtConfig(await readDeployment(config, environment)))
  }
  expect(await missing((toml) => toml)).toEqual([])
  expect(
    await missing((toml) => toml.replace(`database_id = "${ID}"`, '# database_id = "x"\ndatabase_id = "mine"')),
  ).toEqual(['The id of the database is no id: "mine"'])
  expect(
    await missing((toml) =>
      toml.replace('name = "OWNER"', 'name = "OWNERS"').replace('binding = "LOADER"', 'binding = "L"'),
    ),
  ).toEqual(['Bindings: OWNER, LOADER'])
  expect(await missing((toml) => toml.replace('name = "bellwether"', 'name = "mine"'))).toEqual([
    'ANALYSIS_RUNNER leads to the Worker bellwether, and this one is called mine',
  ])
  expect(await missing((toml) => toml.replace('new_sqlite_classes = ["Owner"]', 'new_sqlite_classes = []'))).toEqual([
    'A migration that makes the classes Owner',
  ])
  // The environment with containers inherits no triggers, and its address is an example.
  expect(await missing((toml) => toml, 'containers')).toEqual([
    'The address under which the runners in containers find this service',
  ])
  await expect(missing((toml) => `${toml}\n[[broken`)).rejects.toThrow(/wrangler\.toml cannot be read/)
  await expect(missing((toml) => toml, 'nowhere')).rejects.toThrow(/No environment found.*nowhere/)
})

test('a database and a bucket of the account’s own, bound beside those of the service, are not taken for them', async () => {
  const own = `[[d1_databases]]
binding = "OTHER"
database_name = "other"
database_id = "11111111-2222-3333-4444-555555555555"
[[r2_buckets]]
binding = "PICTURES"
bucket_name = "pictures"

`
  const place = rig(WHOLE, (toml) => toml.replace('[[d1_databases]]', `${own}[[d1_databases]]`))
  expect(await deployed(place, '--check')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/bucket bellwether-files is there/),
  })
  const unset = rig(WHOLE, (toml) =>
    toml.replace('[[d1_databases]]', `${own}[[d1_databases]]`).replaceAll(ID, '0'.repeat(8)),
  )
  expect((await deployed(unset, '--check')).out).toMatch(/MISSING The id of the database is not set/)
})

test('the bindings that are looked for are those that the code knows', () => {
  const [, types = ''] = /interface __BaseEnv_Env \{([^}]*)\}/.exec(textOf('src/env.d.ts')) ?? []
  const known = [...types.matchAll(/^\s*([A-Z_]+):/gm)].map(([, name = '']) => name)
  expect(Object.values(BINDINGS).flat().toSorted()).toEqual(known.toSorted())
})

test('an option that is none is refused by its name', () => {
  expect(() => readDeployArguments(['--chek'])).toThrow("Unknown option '--chek'")
  expect(readDeployArguments(['--check', '--env', 'containers'])).toMatchObject({ check: true, env: 'containers' })
})

test('the documents show the button for a copy exactly when there is an address for it', () => {
  expect(templateButton('https://github.com/a/b')).toBe(
    '[![Deploy to Cloudflare](https://deploy.workers.cloudflare.com/button)](https://deploy.workers.cloudflare.com/?url=https://github.com/a/b)',
  )
  const button = templateButton()
  for (const page of ['README.md', 'README.zh.md']) {
    const shown = textOf(page).includes('deploy.workers.cloudflare.com')
    expect([page, shown]).toEqual([page, TEMPLATE_ADDRESS !== null])
    if (button !== null) expect(textOf(page)).toContain(button)
  }
})
