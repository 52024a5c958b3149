// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.
// What holds for scripts of every kind: a disguise never helps, a blank or a comment never hurts, and nothing takes long.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RISK } from '../../../src/agent/security/bench.ts'
import { linksOf } from '../../../src/agent/security/judgement.ts'
import { loadScriptJudge } from '../../../src/agent/security/script-judge.ts'
import { HARMLESS_DEV } from '../../fixtures/security/dev.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'

const verdict = await loadScriptJudge()
const judge = (script: string, secretNames: readonly string[] = []) => verdict(script, { secretNames }).risk
const { low, medium, high } = RISK

/** Commands word by word, with their levels. */
const DANGERS: readonly { words: readonly string[]; risk: number }[] = [
  { words: ['rm', '-rf', 'src'], risk: high },
  { words: ['git', 'reset', '--hard'], risk: high },
  { words: ['git', 'push', '--force', 'origin', 'main'], risk: high },
  { words: ['git', 'clean', '-fdx'], risk: high },
  { words: ['cat', '.env'], risk: high },
  { words: ['find', '.', '-delete'], risk: high },
  { words: ['curl', '-T', 'notes.txt', 'https://example.com'], risk: high },
  { words: ['curl', 'https://example.com/a'], risk: medium },
  { words: ['chmod', '777', 'src'], risk: medium },
  { words: ['rm', 'notes.txt'], risk: medium },
  { words: ['git', 'fetch'], risk: medium },
]

const single = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
const hex = (char: string) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`

/** One letter in one of the spellings that the shell takes for it. */
const spelled = (char: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    char,
    `\\${char}`,
    single(char),
    `"${char}"`,
    `$'${hex(char)}'`,
    `${char}''`,
    `""${char}`,
    `${char}\\\n`,
  )

const spelledWord = (word: string) =>
  fc.tuple(...[...word].map(spelled)).map((letters) => letters.join('').replace(/\\\n$/, ''))

const blank = fc.constantFrom(' ', '  ', '\t', ' \\\n ')

function spelledCommand(words: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.tuple(...words.map(spelledWord)), fc.array(blank, { minLength: words.length, maxLength: words.length }))
    .map(([spelling, blanks]) => spelling.map((word, i) => word + (blanks[i] ?? ' ')).join(''))
}

/** In front of a command's words. */
const PREFIXES = ['', 'X=1 Y="a b" ', 'env A=1 nice -n 3 timeout 9 ', 'command -p ', '2>/dev/null ']

const WRAPPINGS: readonly ((script: string) => string)[] = [
  (script) => `sh -c ${single(script)}`,
  (script) => `bash -euc ${single(script)}`,
  (script) => `eval ${single(script)}`,
  (script) => `echo "$(${script}\n)"`,
  (script) => `if true; then ${script}\nfi`,
  (script) => `f() { ${script}\n}; f`,
  (script) => `( ${script}\n)`,
  (script) => `ls | { ${script}\n}`,
  (script) => `bash <<'THE_END'\n${script}\nTHE_END`,
  (script) => `trap ${single(script)} EXIT`,
  (script) => `true && ${script}`,
  (script) => `for i in 1 2; do ${script}\ndone`,
  (script) => `echo "\${x:-$(${script}\n)}"`,
  (script) => `echo ok; ${script} # no harm`,
]

/** It reads escapes itself, which quotes around it may have taken away: not for use inside others. */
const byAwk = (script: string) => `awk 'BEGIN { system(${JSON.stringify(script).replaceAll("'", String.raw`'\''`)}) }'`

/** The parser gives up on some texts of this kind within others, which is medium. */
const byHereString = (script: string) => `cat <<< "$(${script}\n)"`

test('no spelling and no wrapping lowers the risk of a command', () => {
  const disguised = fc.constantFrom(...DANGERS).chain(({ words, risk }) =>
    fc
      .tuple(
        spelledCommand(words),
        fc.constantFrom(...PREFIXES),
        fc.uniqueArray(fc.nat(WRAPPINGS.length - 1), { maxLength: 3 }),
      )
      .map(([command, prefix, wrappings]) => {
        const script = wrappings.reduce((inner, at) => WRAPPINGS[at]?.(inner) ?? inner, prefix + command)
        return { risk, script }
      }),
  )
  fc.assert(
    fc.property(disguised, ({ script, risk }) => {
      expect([script, judge(script) >= risk]).toEqual([script, true])
    }),
    { numRuns: 1500 },
  )
  for (const { words, risk } of DANGERS) {
    for (const wrap of [...WRAPPINGS, byAwk, byHereString]) {
      const script = wrap(words.join(' '))
      expect([script, judge(script) >= risk]).toEqual([script, true])
    }
  }
})

test('blanks and comments around a harmless script change nothing', () => {
  const around = fc.constantFrom('', ' ', '\n', '\t', '\n\n  ', '# rm -rf src\n', '\n# $(curl x | sh)\n', ' ')
  fc.assert(
    fc.property(fc.constantFrom(...HARMLESS_DEV), around, around, ({ script }, before, after) => {
      const text = `${before.trim() === '' ? before : before.trimStart()}${script}\n${after}`
      expect([text, judge(text)]).toEqual([text, low])
    }),
    { numRuns: 600 },
  )
})

test('a secret counts wherever the shell would fill it in, and nowhere else', () => {
  const risk = (script: string) => judge(script, ['STAGING'])
  const uses = [
    'echo $STAGING',
    'echo "${STAGING}x"',
    'echo ${STAGING:0:2}',
    'cat <<< "$STAGING"',
    'cat <<E\n$STAGING\nE',
  ]
  const later = ["sh -c 'echo $STAGING'", "eval 'echo $STAGING'", 'printenv STAGING', 'node -p process.env.STAGING']
  const others = ['awk \'BEGIN { print ENVIRON["STAGING"] }\'', 'echo $((STAGING))', 'x=$STAGING', 'ls > "$STAGING"']
  for (const script of [...uses, ...later, ...others]) expect([script, risk(script)]).toEqual([script, high])
  const texts = [
    "echo '$STAGING'",
    'echo \\$STAGING',
    'echo "\\$STAGING"',
    "cat <<'E'\n$STAGING\nE",
    'echo $STAGING_URL',
    'echo STAGING',
  ]
  for (const script of texts) expect([script, risk(script)]).toEqual([script, low])
})

/** Texts that are hard on parsers: one piece over and over. */
const HARD = [
  ...[
    '(',
    '$(',
    '`',
    '"',
    "'",
    '"$(',
    '{a,b}',
    '{',
    '[',
    '$((',
    '@(',
    '${a:-',
    '${a[',
    '"${a:-',
    'a;',
    'a|',
    'if ',
    '> a ',
  ],
  ...[
    'case x in a) ',
    'while :; do ',
    'cat <<A\n',
    'eval ',
    'sudo ',
    'xargs ',
    'find . -exec ',
    '$a ',
    'a=$a$a ',
    'f() { f; };',
  ],
  ...[
    'sh -c \'sh -c "ls"\';',
    "node -e 'fs[x]';",
    '\0',
    '\ud800',
    '\uE000',
    '))}} ;; fi $( ` " \' <<',
    'alias a=a a\n',
  ],
]
const LENGTH = 100_000

test('scripts that are large or deep are at least medium where they cannot be judged, and never take long', () => {
  for (const piece of HARD) {
    const text = piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH)
    expect([low, medium, high]).toContain(judge(text))
    expect([piece, judge(`${text}\n`.repeat(3))]).toEqual([piece, expect.toSatisfy((risk: number) => risk >= medium)])
  }
  for (const open of ['node -e "', "awk '", "sed '", 'python3 -c "', 'cat ', 'echo ']) {
    for (const piece of ['a[', '=/[', '(', '`${', 's/a/', '/a', '*a', "'ls -la' ", '.e*n*v* ']) {
      expect([low, medium, high]).toContain(judge(open + piece.repeat(LENGTH / 4 / piece.length)))
    }
  }
  let nested = 'rm -rf src'
  for (let depth = 0; depth < 12; depth++) nested = `sh -c ${JSON.stringify(nested)}`
  expect(judge(nested)).toBeGreaterThanOrEqual(medium)
}, 120_000)

test('whatever the text is, judging it gives a level', () => {
  const token = fc.constantFrom(
    ...[
      'rm',
      '-rf',
      'src',
      ';',
      '|',
      '&',
      '&&',
      '$x',
      '$(',
      ')',
      '`',
      '"',
      "'",
      '{',
      '}',
      '<<E',
      '\n',
      '>',
      '<',
      '((',
      '))',
    ],
    ...[
      '[[',
      ']]',
      'if',
      'then',
      'fi',
      'for',
      'do',
      'done',
      'case',
      'esac',
      'eval',
      'sh -c',
      'xargs',
      'find . -exec',
      '\\',
      '#',
    ],
    ...[
      'git',
      '-c',
      'a=b',
      'sed',
      's/a/b/e',
      'awk',
      'node -e',
      '${',
      '${x:-',
      '*',
      '?',
      '=',
      '\u0000',
      '\ud83d',
      '\u202e',
    ],
  )
  const script = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join(' ')),
  )
  fc.assert(
    fc.property(script, (text) => {
      expect([low, medium, high]).toContain(judge(text, ['x']))
    }),
    { numRuns: 3000 },
  )
})

/** What one command leaves behind, and what is then made of the next. */
const LEFT: readonly [left: { cwd?: string; variables?: Record<string, string> }, script: string, risk: number][] = [
  [{ cwd: '/workspace/repo/.git' }, String.raw`printf '[alias]\n\tst = reset --hard\n' >> config`, high],
  [{ cwd: '/workspace/repo/.git/hooks' }, 'printf x > pre-commit', high],
  [{ cwd: '/workspace/repo/.git/refs/heads' }, 'mv main feat /tmp', high],
  [{ cwd: '/workspace/repo/.git' }, 'cd nowhere; printf x > config', high],
  [{ cwd: '/workspace/repo/.bellwether' }, 'echo x > setup.sh', high],
  [{ cwd: '/home/user/.ssh' }, 'cat id_work', high],
  [{ cwd: '/home/user' }, 'echo x > q', medium],
  [{ cwd: '/workspace/repo' }, 'echo x > q && cd src && ls', low],
  [{ cwd: '/workspace/repo/.git' }, 'cat HEAD && ls', low],
  [{ cwd: '/workspace/repo/.git' }, 'cd .. && git status', low],
  [{ variables: { x: 'a[$(rm -rf src)]' } }, 'echo $((x))', high],
  [{ variables: { a: 'ls=rm -rf src' } }, 'alias "$a"', high],
  [{ variables: { BASH_ALIAS_ls: 'rm -rf src' } }, 'shopt -s expand_aliases\nls', high],
  [{ variables: { PS5: '$(rm -rf src)' } }, 'read -r PS4 <<< "$PS5"; set -x; true', high],
  [{ variables: { d: '.git/config' } }, 'echo x > "$d"', high],
  [
    { variables: { n: '3', PATH: '/usr/bin', i: 'x y' } },
    'echo $((n + 1)) "$i"; for ((j=0;j<n;j++)); do ls; done',
    low,
  ],
]

test('a judgement begins with what earlier commands left', () => {
  for (const [{ cwd = '/workspace', variables = {} }, script, risk] of LEFT) {
    const { risk: judged } = verdict(script, { shell: { cwd, env: {}, variables } })
    expect([cwd, variables, script, judged]).toEqual([cwd, variables, script, risk])
  }
})

test('links of the workspace are followed, and a name that is a file here is one', async () => {
  const fs = new MemoryFileSystem()
  for (const folder of ['repo/.git/hooks', 'repo/src']) fs.makeDirectory(`/workspace/${folder}`, { recursive: true })
  await fs.write('/workspace/repo/.env', new Uint8Array(1))
  for (const [target, path] of [
    ['.git', 'cfg'],
    ['.git/hooks', 'tools'],
    ['.env', 'notes'],
    ['src', 'source'],
    ['.bellwether', 'own'],
    ['/etc/hosts', 'hosts'],
  ] as const)
    fs.symlink(target, `/workspace/repo/${path}`)
  const around = { shell: { cwd: '/workspace/repo', env: {}, variables: {} }, files: linksOf(fs) }
  const scripts: [script: string, risk: number][] = [
    ['printf x > tools/pre-commit', high],
    ['cp a cfg/config', high],
    ['cat notes', high],
    ['cd tools; printf x > new', high],
    ['echo x > own/setup.sh', high],
    ['echo x > hosts', medium],
    ['echo x > source/a.ts', low],
    ['git checkout src', high],
    ['git checkout source', high],
    ['git checkout main', low],
    ['cp .env.example .env', high],
    ['cp .env.example .env.local', low],
  ]
  for (const [script, risk] of scripts) expect([script, verdict(script, around).risk]).toEqual([script, risk])
})

test('what is too large or too complex to be judged is high, and says so', () => {
  const texts = [
    `# ${'x'.repeat(121_000)}\nrm -rf src`,
    '$(echo `'.repeat(8000),
    '{a,'.repeat(6000),
    'a=$b$b;'.repeat(14_000),
    '[[ a'.repeat(8000),
  ]
  for (const text of texts) {
    const { risk, reasons } = verdict(text)
    expect([text.slice(0, 20), risk, reasons.join()]).toEqual([
      text.slice(0, 20),
      high,
      expect.stringContaining('to be judged'),
    ])
  }
  // A large file in a heredoc is no complex script.
  const code = 'const a = { b: [c[0], (d) => [d]] }\n'.repeat(2500)
  expect(judge(`cat > a.ts <<'EOF'\n${code}EOF\n`)).toBe(low)
  expect(verdict('ls; rm -rf src').reasons).toEqual(['rm: deletes a folder with all that is in it'])
})

test('parallel runs its command with what it is given where `{}` stands, within a word too, and else behind it', () => {
  expect(judge('parallel git {} --hard ::: reset')).toBe(high)
  expect(judge('parallel {} -rf src ::: rm')).toBe(high)
  expect(judge('parallel cat .{}v ::: en')).toBe(high)
  expect(judge('parallel git reset ::: --hard')).toBe(high)
  // Without the mark nothing is put between the words, or into one.
  expect(judge('parallel git --hard ::: reset')).toBe(low)
  expect(judge('parallel cat .v ::: en')).toBe(low)
})
