// The tarball, installed in an empty folder without the repository around it: it runs, it has its types, and they refuse what the
// service would refuse.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERSION } from '../src/cli/version.ts'
import { temporaryFolder } from './support/run.ts'

const CLIENT = join(import.meta.dirname, '..')
const COMPILER = join(CLIENT, '../node_modules/typescript/bin/tsc')

const RIGHT = `import { Bellwether } from '@bellwether/client'
const service = new Bellwether({ url: 'http://127.0.0.1:8787' })
export const work = async () => {
  const { report } = await service.analyses.run('AAPL', { report_language: 'en' })
  const score: number | null | undefined = report.summary.sentiment_score
  const talk = await service.conversations.create({ initial_user_msg: 'echo hi' })
  for await (const event of talk.events()) if (event.id > 3) break
  await service.call('GET /api/conversations/{conversation_id}', { path: { conversation_id: talk.id } })
  return score
}
`
/** Each is a line that must not compile. */
const WRONG = [
  `service.call('POST /api/nothing')`,
  `service.call('GET /api/conversations/{conversation_id}')`,
  `service.call('GET /api/conversations/{conversation_id}', { path: { id: 'x' } })`,
  `service.call('POST /api/v1/analysis/analyze', { body: { stock_code: 7 } })`,
  `service.call('POST /api/v1/analysis/analyze', { body: { stock: 'AAPL' } })`,
  `service.call('POST /api/keys', {})`,
  `service.conversations.create({ initial_message: 'x' })`,
  `service.analyses.run('AAPL', { report_language: 'fr' })`,
]

const PAGE = readFileSync(join(CLIENT, '../docs/client.md'), 'utf8')
const blocks = (language: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text)

/** What the page shows of the command line. */
const commands = blocks('').flatMap((text) => [...text.matchAll(/bellwether (\w+)(.*)$/gm)])

test('the packed program runs in an empty folder with nothing beside it, its types refuse what is wrong, and the page tells the truth', () => {
  expect(commands.length).toBeGreaterThan(10)
  const folder = temporaryFolder()
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: CLIENT,
    encoding: 'utf8',
  })
  const [{ filename, files }] = JSON.parse(packed.slice(packed.search(/^\[/m)))
  const paths = files.map(({ path }: { path: string }) => path)
  expect(paths.filter((path: string) => !/^dist\/.*\.(js|d\.ts)$/.test(path)).sort()).toEqual([
    'README.md',
    'package.json',
  ])
  const place = join(folder, 'node_modules/@bellwether/client')
  mkdirSync(place, { recursive: true })
  execFileSync('tar', ['xzf', join(folder, filename), '-C', place, '--strip-components=1'])
  const own = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
  expect([own.version, own.dependencies]).toEqual([VERSION, undefined])
  const help = spawnSync(process.execPath, [join(place, own.bin.bellwether), '--help'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect([help.status, help.stdout]).toEqual([0, expect.stringContaining('Usage: bellwether COMMAND')])

  for (const [line, command = '', rest = ''] of commands) {
    const told = spawnSync(process.execPath, [join(place, own.bin.bellwether), command, '--help'], { encoding: 'utf8' })
    expect([line, told.status]).toEqual([line, 0])
    // What stands behind `runner` is the runner's.
    const flags = command === 'runner' ? [] : (rest.match(/(?<= )--?[a-z][a-z-]*/g) ?? [])
    const unknown = flags.filter((flag) => !told.stdout.includes(`${flag},`) && !told.stdout.includes(` ${flag} `))
    expect([line, unknown]).toEqual([line, []])
  }

  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'right.ts'), RIGHT)
  // The page's own, whose `process` and `console` are Node's.
  const node = 'declare const process: { env: Record<string, string>; stdout: { write(text: string): void } }\n'
  expect(blocks('ts').length).toBe(1)
  writeFileSync(join(folder, 'page.ts'), blocks('ts').join('') + node)
  const head = `import { Bellwether } from '@bellwether/client'\nconst service = new Bellwether({ url: 'x' })\n`
  writeFileSync(join(folder, 'wrong.ts'), `${head}${WRONG.map((line) => `void ${line}`).join('\n')}\n`)
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom',
    '--types',
    '',
  ]
  const compiled = spawnSync(process.execPath, [COMPILER, ...options, 'right.ts', 'page.ts', 'wrong.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const lines = [...compiled.stdout.matchAll(/^(\S+)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`)
  // Two lines stand before the first.
  expect([...new Set(lines)], compiled.stdout).toEqual(WRONG.map((_, i) => `wrong.ts:${i + 3}`))
})
