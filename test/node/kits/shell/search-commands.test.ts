// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

// The commands that search and look around, beside the machine's own: the same words on the same files must give the same
// output and exit code. Patterns and texts are generated as well, with a seed that a failure names.

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FILE_TYPES } from '../../../../src/kits/shell/commands/rg/types.ts'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { needPrograms } from '../../../support/programs.ts'

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'a.txt': 'apple\nApple pie\nbanana\n\ncherry fig\nfigs\nünïcode é\n',
  'b.md': '# Title\n- [x] done\nfoo_bar foo bar-foo\nabc abcabc\na.b\na*b\n1.2.3.4 10.0.0.1\n',
  'no-end': 'one\ntwo\nthree',
  empty: '',
  'src/main.ts':
    "import { x } from './x.ts'\nexport const port = 80 // TODO: later\nfunction f() {\n  return port\n}\n",
  'src/deep/x.ts': 'export const x = 1\n\n\n// FIXME\n// TODO\n',
  'src/deep/.hidden': 'TODO hidden\n',
  'with space/c.js': 'console.log("port")\n',
  'bin.dat': Uint8Array.from([97, 0, 98, 10, 116, 97, 105, 108, 10, 255, 10]),
  'latin.txt': Uint8Array.from([102, 111, 111, 10, 120, 255, 102, 111, 111, 10, 102, 111, 111, 50, 10]),
  'run.sh': '#!/bin/sh\necho hi\n',
}
const LINKS: Readonly<Record<string, string>> = { link: 'a.txt', 'src/up': '../with space', broken: 'nowhere' }
const TIME = new Date('2024-01-10T12:47:00Z')

interface Shells {
  ours: (script: string) => Promise<string>
  real: (script: string) => string
}

async function shells(files: Readonly<Record<string, string | Uint8Array>> = FILES): Promise<Shells> {
  const folder = mkdtempSync(join(tmpdir(), 'search-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const fs = new MemoryFileSystem()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
    utimesSync(join(folder, name), TIME, TIME)
    fs.makeDirectory(dirname(`/workspace/${name}`), { recursive: true })
    await fs.write(`/workspace/${name}`, typeof content === 'string' ? new TextEncoder().encode(content) : content)
    fs.utimes(`/workspace/${name}`, TIME.getTime())
  }
  if (files === FILES) {
    chmodSync(join(folder, 'run.sh'), 0o755)
    fs.chmod('/workspace/run.sh', 0o755)
    for (const [name, target] of Object.entries(LINKS)) {
      symlinkSync(target, join(folder, name))
      fs.symlink(target, `/workspace/${name}`)
    }
  }
  return {
    ours: async (script) => {
      const limits = { maxOutputChars: 4_000_000 }
      return (await runScript({ fs, script, cwd: '/workspace', env: {}, limits })).output
    },
    real: (script) =>
      execFileSync('bash', ['--norc', '-c', script], {
        cwd: folder,
        env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
  }
}

/** Without the order in which a folder's files come, which only a real disk knows. */
async function expectSame({ ours, real }: Shells, commands: readonly string[]): Promise<void> {
  const script = commands.map((command, i) => `( ${command}; echo "exit $?" ) 2> /dev/null; echo "@@@ ${i}"`).join('\n')
  const answersOf = (output: string) => output.split(/@@@ \d+\n/).map((text) => text.split('\n').sort().join('\n'))
  const [expected, got] = [answersOf(real(script)), answersOf(await ours(script))]
  expect(expected).toHaveLength(commands.length + 1)
  const differing = commands.flatMap((command, i) =>
    expected[i] === got[i] ? [] : [{ command, expected: expected[i], got: got[i] }],
  )
  expect(differing).toEqual([])
}

test('grep finds, counts, names and surrounds as the real one', { timeout: 120_000 }, async ({ skip }) => {
  needPrograms(skip, 'bash', 'grep')
  const both = await shells()
  const greps = [
    ...[
      '-n',
      '-c',
      '-v',
      '-vn',
      '-o',
      '-on',
      '-ob',
      '-b',
      '-w',
      '-x',
      '-i',
      '-l',
      '-L',
      '-h',
      '-H',
      '-m1',
      '-T',
      '-z',
      '-nA1',
      '-B1',
      '-C1',
    ],
    ...[
      '-A1 -m1',
      '-vA1',
      '-oA1',
      '-c -v',
      '-lv',
      '-q',
      '-s',
      '-a',
      '-I',
      '--color=always',
      '--color=always -on',
      '--color=always -vC1',
      '-nT',
    ],
  ].flatMap((flags) =>
    ["'foo'", "'a'", "-E 'ap|fig|apple'", "-e one -e three -e 'b[ac]'", "''"].map(
      (pattern) => `grep ${flags} ${pattern} a.txt b.md no-end${/[ABCa]/.test(flags) ? '' : ' latin.txt'}`,
    ),
  )
  await expectSame(both, greps)
  await expectSame(both, [
    ...['-r', '-rn', '-R', '-rl', '-rL', '-rc', '-rh', '-ri', '-rno', '-rnA1'].map((flags) => `grep ${flags} TODO .`),
    ...['-r', '-rH'].flatMap((flags) => [
      `grep ${flags} port`,
      `grep ${flags} port src`,
      `grep ${flags} port src/`,
      `grep ${flags} port src/main.ts`,
    ]),
    ...["'@*'", "'x*'", "'[0-9]*'", "'[.]*'", "-E '(foo)?=?'", "''", "-E '@*|y'", "'=*'", "-v '@*'"].map(
      (pattern) => `printf '@x\\n@ x\\nab12 12\\n\\n..b\\n.. b\\nfoo=\\nx=\\n  \\n' | grep -nw ${pattern}`,
    ),
    "grep -rn port . --include='*.ts' --exclude-dir=deep",
    "grep -rn port --exclude='*.js' .",
    'grep TODO src',
    'grep x nowhere a.txt',
    'grep tail bin.dat',
    'grep -c tail bin.dat',
    'grep -a tail bin.dat',
    'grep -l tail bin.dat',
    'grep foo latin.txt',
    'grep -c foo latin.txt',
    'grep -n x - < b.md',
    'grep -H --label=in foo < b.md',
    'grep -f no-end a.txt no-end',
    'grep -3 cherry a.txt',
    'grep -E "(" a.txt',
    'grep -Fx a.b b.md',
    'grep -oP "foo(?=_)" b.md',
    'grep -oP "from \\K.*" src/main.ts',
    'grep -P "(?<!_)bar" b.md',
    'grep -oP "a.*?b" b.md',
    'grep -P "a++b|^\\d" b.md',
    'grep -E "(abc)\\1" b.md',
    'grep "\\(a\\).*\\1" a.txt',
    'grep -o "[[:upper:]]\\w*" a.txt b.md',
    'grep -c "[^[:alnum:][:space:]]" b.md',
    'egrep "a+|b" a.txt',
    'fgrep . b.md',
    'grep -d skip TODO src a.txt',
    'grep -nZ foo b.md',
    'grep -rlZ TODO src',
    'grep --group-separator=XX -A0 a a.txt',
    'grep -Q x a.txt',
    'grep -A x a a.txt',
    'grep -E -P a a.txt',
  ])
})

const SEED = 20_240_110
const ROUNDS = 150

/** The same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Without places such as `\b` inside, of which the real one loses some in texts beyond ASCII, and deep groups, which it takes forever for. */
function pattern(next: (below: number) => number, depth: number): string {
  const atoms = ['a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', 'é']
  const atom = () => (depth > 0 && next(4) === 0 ? `(${pattern(next, depth - 1)})` : (atoms[next(atoms.length)] ?? 'a'))
  const sequence = () =>
    Array.from({ length: 1 + next(3) }, () => atom() + (['', '', '*', '+', '?', '{1,2}'][next(6)] ?? '')).join('')
  return Array.from({ length: 1 + next(2) }, sequence).join('|')
}

test('grep takes generated patterns as the real one, the longest match at each place included', {
  timeout: 240_000,
}, async ({ skip }) => {
  needPrograms(skip, 'bash', 'grep')
  const next = numbers(SEED)
  const letters = ['a', 'b', 'c', 'é', ' ', '_']
  const lines = Array.from({ length: 40 }, () =>
    Array.from({ length: next(9) }, () => letters[next(letters.length)]).join(''),
  )
  const both = await shells({ text: `${lines.join('\n')}\n` })
  const commands = Array.from({ length: ROUNDS }, () => {
    const flags = ['-n', '-on', '-c', '-nx', '-ni', '-ob', '-v'][next(7)]
    return `grep -E ${flags} '${pattern(next, 1)}' text`
  })
  await expectSame(both, commands)
})

test('find tests, orders and prints as the real one', { timeout: 120_000 }, async ({ skip }) => {
  needPrograms(skip, 'bash', 'find')
  await expectSame(await shells(), [
    'find',
    'find .',
    'find src -type f',
    'find . -name "*.ts" -o -type l',
    'find . -iname "A*"',
    'find . -not -path "*/.*"',
    "find . -path '*/deep/*'",
    'find -L src',
    'find -H link -type f',
    'find . -maxdepth 1 -mindepth 1',
    'find . -empty',
    'find . -size -1k',
    'find . -size +0',
    'find . -size 18c',
    'find . -type f -perm 755',
    'find . -perm -u+x -type f',
    'find . -perm /111 -type f',
    'find . -type f -executable',
    "find . -regex '.*/[ab]\\.\\(txt\\|md\\)'",
    "find . -regextype posix-extended -regex '.*\\.(ts|js)'",
    "find . -regextype sed -regex '.*/.\\{1,5\\}'",
    'find . -newer a.txt -type f',
    'find . -newermt 2024-01-10 -type f',
    'find . -newermt "2024-01-11 00:00:00" -type f',
    'find . -mtime +30 -type f',
    'find . -mtime -1 -type f',
    'find . -xtype l',
    'find . -type f,l',
    'find . -lname "*txt"',
    'find . -name src -prune -o -print',
    'find . \\( -name deep -o -name "with*" \\) -prune -o -type f -print0 | xargs -0 -n 1',
    "find . -type f -printf '%p|%f|%h|%P|%d|%s|%m|%M|%y|%TY-%Tm-%Td %TH:%TM|%T@\\n'",
    "find . -type l -printf '%p %l %y %Y\\n'",
    "find src -printf '%-12f|%5d|%H\\n'",
    'find . -name "*.ts" -exec echo "<{}>" \\;',
    'find . -type f -name "*.ts" -exec cat {} +',
    'find src -name x.ts -execdir pwd \\; | xargs basename',
    'find . -type f -name a.txt -quit',
    'find . -name a.txt -print -quit',
    'find . ! -type d -a ! -name "*.*"',
    'find . -samefile a.txt',
    'find nowhere',
    'find . -foo',
    'find . -name',
    'find . -type x',
    'find src -depth',
    'find . -type f -links 1 -name "*.md"',
    'find . , -false',
    'find . -name b.md -exec false \\; -print',
    'find a.txt b.md -newer no-end',
    'find with\\ space src/ -name "*.*"',
  ])
})

test('stat, du, ls, tree, realpath, readlink, basename and dirname answer as the real ones', {
  timeout: 120_000,
}, async ({ skip }) => {
  needPrograms(skip, 'bash', 'stat', 'du', 'ls', 'realpath')
  await expectSame(await shells(), [
    "stat -c '%n|%s|%a|%A|%F|%f|%N' a.txt link run.sh empty broken; stat -c '%y|%Y|%.3Y' a.txt",
    "stat -Lc '%F %s' link",
    "stat --printf='%n\\t%s\\n' a.txt",
    "stat -c '%10s|%-8a|%04a' a.txt",
    'stat nowhere',
    "stat -c '%F' src",
    'du -b a.txt b.md',
    'du -ab with\\ space | cut -f2',
    'du -k a.txt',
    'du -h a.txt',
    'du -sc a.txt b.md',
    'du nowhere',
    'ls',
    'ls -a',
    'ls -A src/deep',
    'ls -1F',
    'ls -p',
    'ls -m',
    'ls -Q',
    'ls -d .*',
    'ls -R src',
    'ls -X',
    'ls -S',
    'ls -r',
    'ls -I "*.md"',
    'ls --hide="*.txt"',
    'ls -B',
    'ls -v',
    'ls --group-directories-first',
    'ls nowhere a.txt',
    'ls -l --time-style=+%Y-%m-%d a.txt | cut -d" " -f1,5-',
    'ls -lS --time-style=long-iso src/main.ts | cut -d" " -f5-',
    'ls -C',
    'ls -x',
    'ls -w 40 -C',
    'ls -sh a.txt',
    'ls a.txt/',
    'ls --sort=size -1',
    'ls -LF link',
    'echo */*.js',
    '[ -s src ] && echo filled',
    'realpath --relative-to=src a.txt',
    'realpath --relative-to=. src/deep',
    'realpath -e nowhere',
    'realpath a/b/c',
    'realpath --relative-base=/nowhere --relative-to=/nowhere /',
    'readlink link',
    'readlink a.txt',
    'readlink -n link',
    'readlink -f src/up/c.js | xargs -d "\\n" basename',
    'realpath -m --relative-to=. x/../y',
    'basename /a/b.txt .txt',
    'basename -a x/y z/',
    'basename -s .ts a.ts b.ts',
    'basename /',
    'basename .txt .txt',
    'dirname /a/b c ./x/y/ / //a',
    'basename',
    'dirname',
  ])
})

test('tree draws as the real one', { timeout: 60_000 }, async ({ skip }) => {
  needPrograms(skip, 'bash', 'tree')
  const flags = [
    '',
    '-a',
    '-d',
    '-L 1',
    '-f',
    '-fi',
    '-F',
    '-s src',
    '-h src',
    "-P '*.ts'",
    "-P '*.ts' --prune",
    "-I 'src|*.md'",
    '--dirsfirst',
    '--filesfirst -r',
    '-p src',
    '-l src',
    '--noreport src',
    'src nowhere',
    'a.txt',
    '-L 0',
    '-Z',
    '--sort=size',
    '-v',
  ]
  await expectSame(
    await shells(),
    flags.map((one) => `tree ${one}`),
  )
})

test('rg means the same files by the name of a type as the real one', async ({ skip }) => {
  needPrograms(skip, 'rg')
  const real = new Map<string, string[]>()
  for (const line of execFileSync('rg', ['--type-list'], { encoding: 'utf8' }).trim().split('\n')) {
    const [name = '', patterns = ''] = line.split(': ')
    real.set(name, patterns.split(', ').sort())
  }
  expect(real.size).toBeGreaterThan(100)
  for (const [name, patterns] of Object.entries(FILE_TYPES)) {
    expect([name, patterns.split(' ').sort()]).toEqual([name, real.get(name)])
  }
})
