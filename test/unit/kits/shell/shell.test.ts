// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { expect, onTestFinished, test, vi } from 'vitest'
import { runScript, type ScriptOutcome, type ScriptRun } from '../../../../src/kits/shell/index.ts'
import type { FileSystem } from '../../../../src/workspace/file-system.ts'
import { heldTimers } from '../../../helpers/timers.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { bytes, openStore, pattern, text } from '../../workspace/open-store.ts'

type Extra = Partial<Pick<ScriptRun, 'signal' | 'limits' | 'onProgress'>>

/** A terminal: what one script leaves is where the next begins. */
function session(fs: FileSystem) {
  let left = { cwd: '/workspace', env: {} as Record<string, string>, variables: {} as Record<string, string> }
  return async (script: string, extra: Extra = {}): Promise<ScriptOutcome> => {
    const outcome = await runScript({ fs, script, ...left, ...extra })
    left = { cwd: outcome.cwd, env: outcome.env, variables: outcome.variables }
    return outcome
  }
}

const memory = () => session(new MemoryFileSystem())
const shown = async (outcome: Promise<ScriptOutcome>) => (await outcome).output

/** For a script that is to be stopped when it has shown this. */
function stopAt(shown: string): Required<Pick<Extra, 'signal' | 'onProgress'>> {
  const controller = new AbortController()
  return { signal: controller.signal, onProgress: (text) => text === shown && controller.abort() }
}

/** As a limit of time, it falls where the test has it fall. */
const LIMIT_MS = 77_000

test('a day at the shell: the tools work together over the durable files, and what they leave is there after an eviction', async () => {
  const { use, evict } = openStore('shell')
  await use(async (store) => {
    const run = session(store)
    await store.write(
      '/workspace/app.log',
      bytes('10:01 INFO start\n10:02 ERROR disk full\n10:03 INFO retry\n10:04 ERROR disk full\n10:05 ERROR net down\n'),
    )
    expect(
      await shown(
        run('grep -c ERROR app.log; grep ERROR app.log | cut -d" " -f3- | sort | uniq -c | sort -rn | sed "s/^ *//"'),
      ),
    ).toBe('3\n2 disk full\n1 net down\n')
    expect(
      await shown(
        run("awk '/ERROR/ { n++; last = $1 } END { print n, last }' app.log; sed -n 's/INFO/info/p' app.log | tail -1"),
      ),
    ).toBe('3 10:05\n10:03 info retry\n')
    await run(`mkdir -p src/lib && cat > src/main.py <<'EOF'
def main():
    print("$HOME stays")
EOF
for n in one two three; do printf '%s\\n' "$n" > "src/lib/$n.txt"; done; chmod +x src/main.py; ln -s src/lib lib`)
    expect(
      await shown(
        run("find . -type f -name '*.txt' | sort; cat src/main.py; cat lib/two.txt; wc -l < app.log; ls src"),
      ),
    ).toBe(
      './src/lib/one.txt\n./src/lib/three.txt\n./src/lib/two.txt\ndef main():\n    print("$HOME stays")\ntwo\n5\nlib\nmain.py\n',
    )
    expect(
      await shown(
        run(
          'find . -name "*.txt" | xargs grep -l t | sort | tr "\\n" " "; echo "{\\"a\\":[1,2]}" | jq -c .a; echo 中文 | wc -m',
        ),
      ),
    ).toBe('./src/lib/three.txt ./src/lib/two.txt [1,2]\n3\n')
    await run('mv src/lib src/words; echo four >> src/words/one.txt; cp -r src copy; rm -r lib src/words/two.txt')
  })
  await evict()
  await use(async (store) => {
    const run = session(store)
    expect(await shown(run('cat src/words/one.txt; ls copy/words src/words; sha256sum copy/main.py | cut -c1-8'))).toBe(
      'one\nfour\ncopy/words:\none.txt\nthree.txt\ntwo.txt\n\nsrc/words:\none.txt\nthree.txt\n151e7785\n',
    )
    expect(store.stat('/workspace/src/main.py').mode).toBe(0o755)
    await store.write('/workspace/large.bin', pattern(2_500_000))
    expect(
      await shown(
        run(
          'wc -c large.bin; cp large.bin twice; cat large.bin >> twice; wc -c < twice; cmp large.bin twice || tail -c 3 twice | od -An -tx1',
        ),
      ),
    ).toContain('5000000')
  })
})

test('folder and variables last from script to script, through exit, stop and failure; options and functions do not', async () => {
  const run = memory()
  expect(await run('mkdir -p a/b; cd a/b; export NAME="two words"; plain=5; set -u; f() { :; }')).toMatchObject({
    cwd: '/workspace/a/b',
    env: expect.objectContaining({ NAME: 'two words' }),
    variables: expect.objectContaining({ plain: '5' }),
  })
  expect(
    await shown(
      run('pwd; echo "$NAME $plain [$unset]"; env | grep -c plain; bash -c \'echo "$NAME[$plain]"\'; cd -; f'),
    ),
  ).toBe('/workspace/a/b\ntwo words 5 []\n0\ntwo words[]\n/workspace\nbash: f: command not found\n')
  expect(await run('cd /tmp; export NAME=changed; unset plain; exit 3')).toMatchObject({ exitCode: 3, cwd: '/tmp' })
  expect(await shown(run('echo "$NAME [$plain]"'))).toBe('changed []\n')
  expect(await run('cd /workspace\nset -e\nfalse\ncd /tmp')).toMatchObject({ exitCode: 1, cwd: '/workspace' })
  const { signal, onProgress } = stopAt('begun\n')
  expect(
    await run('cd /home; (cd /tmp; export NAME=inner); echo begun; while true; do :; done', { signal, onProgress }),
  ).toMatchObject({
    aborted: true,
    cwd: '/home',
    env: expect.objectContaining({ NAME: 'changed' }),
  })
  await run('mkdir gone; cd gone')
  await run('rm -r /home/gone')
  expect(await run('pwd')).toMatchObject({
    cwd: '/workspace',
    output: 'bash: /home/gone: no longer a folder; going on in /workspace\n/workspace\n',
  })
  const hoarder = await run('export BIG=$(seq 1 30000); export SMALL=1')
  expect(hoarder.env).toMatchObject({ SMALL: '1' })
  expect(hoarder.env).not.toHaveProperty('BIG')
  expect(hoarder.output).toContain('too large to be kept for the next command: BIG')
})

test('a secret is there for every script, however long, and is not among what a script leaves', async () => {
  const secrets = { TOKEN: 'tok-12345', KEY: 'k'.repeat(65_536), FLAG: '1' }
  const fs = new MemoryFileSystem()
  const script = 'echo ${#KEY} $TOKEN; export COPY="Bearer $TOKEN" n=1 m=12 SEEN=yes; TOKEN_FILE=x'
  const { output, env, variables } = await runScript({ fs, script, cwd: '/workspace', env: {}, secrets })
  expect(output).toBe('65536 tok-12345\n')
  expect(env).toMatchObject({ m: '12', SEEN: 'yes' })
  expect(variables).toMatchObject({ TOKEN_FILE: 'x' })
  expect(Object.keys({ ...env, ...variables })).not.toEqual(expect.arrayContaining(['COPY']))
  expect(JSON.stringify({ env, variables })).not.toMatch(/tok-12345|kkkk|FLAG/)
  const again = { fs, cwd: '/workspace', env: { ...env, TOKEN: 'mine' }, variables, secrets }
  expect(await shown(runScript({ ...again, script: 'echo $TOKEN $FLAG $m' }))).toBe('mine 1 12\n')
})

test('that scripts are watched shows nowhere: status, last word, pipe status, traces and errors are those of bash', async () => {
  const run = memory()
  expect(await shown(run('false\necho $?\nfalse | true\necho "${PIPESTATUS[@]}"\nmkdir made\ncd $_\npwd'))).toBe(
    '1\n1 0\n/workspace/made\n',
  )
  expect(await shown(run('until [ "${n:-0}" -ge 2 ]; do echo "status $?"; n=$(( ${n:-0} + 1 )); done'))).toBe(
    'status 1\nstatus 1\n',
  )
  expect(
    await shown(
      run('g() { :; }; f() { echo "from caller $?"; g; }; (exit 4)\nf; set -e; f || true; ! false; echo reached'),
    ),
  ).toBe('from caller 4\nfrom caller 0\nreached\n')
  expect(await shown(run('set -x; for i in 1; do echo $i; done; cd /tmp'))).toBe(
    '+ for i in 1\n+ echo 1\n1\n+ cd /tmp\n',
  )
  expect(await shown(run('env; set | grep -c __ || true'))).not.toMatch(/__|\?=/)
  expect(
    await shown(
      run(
        'echo one; ls /none; echo two; f() { ls /none; echo three; }; f; x=$(echo caught); echo "[$x]"; { echo four; ls /none; } 2>&1 | wc -l',
      ),
    ),
  ).toBe(
    "one\nls: cannot access '/none': No such file or directory\ntwo\nls: cannot access '/none': No such file or directory\nthree\n[caught]\n2\n",
  )
  expect(
    await shown(
      run(
        'echo quiet >/dev/null; ls /none 2>/dev/null; echo err >&2; echo tty >/dev/tty; { echo a; echo b >&2; } >file 2>&1; cat file',
      ),
    ),
  ).toBe('err\ntty\na\nb\n')
})

test('a command that cannot open a file fails as in bash, and the script goes on', async () => {
  const run = memory()
  const outcome = await run(
    'echo x > none/f || echo "failed $?"; f=none/g; cat /dev/null > $f; echo $?; echo x > /usr/bin/ls; echo x > /tmp; echo end',
  )
  expect(outcome.output).toBe(
    'bash: none/f: No such file or directory\nfailed 1\nbash: none/g: No such file or directory\n1\n' +
      'bash: /usr/bin/ls: Read-only file system\nbash: /tmp: Is a directory\nend\n',
  )
  expect(
    await shown(
      run(
        'printf "echo \\$# \\$1; cat; exit 3\\n" > s.sh; ./s.sh; chmod +x s.sh; echo in | ./s.sh "a b" c; echo $?; ./none.sh',
      ),
    ),
  ).toBe('bash: ./s.sh: Permission denied\n2 a b\nin\n3\nbash: ./none.sh: No such file or directory\n')
  expect(
    await shown(
      run(
        'ln -s nowhere l; mkdir d; touch d/f; ln -s d k; rm l k d; rm -d d; rm -rf d none; rm none; ls; rm -rf /workspace',
      ),
    ),
  ).toBe(
    "rm: cannot remove 'd': Is a directory\nrm: cannot remove 'd': Directory not empty\nrm: cannot remove 'none': No such file or directory\n" +
      "s.sh\nrm: cannot remove '/workspace': Device or resource busy\n",
  )
})

test('there is nothing here but the workspace: no processes, no network, nothing of the service', async () => {
  const run = memory()
  const outcome = await run('node -e 1; curl http://localhost; tar --help; js-exec')
  expect(outcome.output).toBe(
    ['node', 'curl', 'tar', 'js-exec'].map((name) => `bash: ${name}: command not found\n`).join(''),
  )
  expect(outcome.exitCode).toBe(127)
  const { output } = await run('env; export -p; set; cat /proc/self/environ /proc/1/environ; ls -a / /home/user')
  expect(output).not.toMatch(/root-key-for-tests|SECRETS_KEY|ROOT_API_KEY|miniflare|wrangler/)
  expect(output).toContain('HOME=/home/user')
})

test.each([
  ['an unclosed quote', 'echo "abc', 2, 'unexpected EOF'],
  ['an unfinished if', 'if true; then', 2, 'syntax error'],
  ['a stray parenthesis', 'echo a)', 2, 'syntax error'],
  ['a NUL byte', 'echo a\0b', 2, 'NUL'],
  ['a lone surrogate', 'echo "\ud800"', 0, '\ufffd\n'],
  ['endless recursion', 'f() { f; }; f', 126, 'recursion depth'],
  ['a fork bomb', ':(){ :|:& };:', 126, 'recursion depth'],
  [
    'an array of a name that objects have',
    '__proto__=1; constructor=2; declare -A m; m[__proto__]=3; echo "$__proto__$constructor${m[__proto__]}"',
    0,
    '123\n',
  ],
  ['a string without end', 'x=a; while true; do x=$x$x; done', 126, 'limit'],
  ['deep nesting', `${'('.repeat(20_000)}:${')'.repeat(20_000)}`, expect.any(Number), ''],
  ['a division by zero', 'echo $((1/0))\necho next', 0, 'next\n'],
  ['a pattern that takes for ever', `echo ${'a'.repeat(40)} | grep -E '(a+)+b'; echo done`, 0, 'done\n'],
])('%s is answered, not thrown', async (_what, script, exitCode, contains) => {
  const outcome = await memory()(script, { limits: { timeoutMs: LIMIT_MS } })
  expect(outcome).toMatchObject({ exitCode, aborted: false, timedOut: false })
  expect(outcome.output).toContain(contains)
  expect(Object.getPrototypeOf(outcome.env)).toBe(Object.prototype)
})

test('tools take files of many lines', async () => {
  // How long a step of theirs may keep everything else waiting is not what this is about.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const run = memory()
  const outcome = await run(
    'seq 1 300000 > n; awk "{ s += \\$1 } END { print s }" n; wc -l < n; grep -c 9 n; sort -rn n | head -1; sed -n "299999p" n',
  )
  expect(outcome).toMatchObject({ output: '45000150000\n300000\n122853\n300000\n299999\n', exitCode: 0 })
})

test('a script of nearly a megabyte runs, and a longer one is refused', async () => {
  const outcome = await memory()(
    `cat <<'EOF' | wc -c\n${'x'.repeat(79).concat('\n').repeat(12_000)}EOF\n${': a comment line\n'.repeat(1000)}echo end`,
  )
  expect(outcome).toMatchObject({ output: '960000\nend\n', exitCode: 0 })
  expect(await memory()(': '.repeat(1_000_000))).toMatchObject({
    exitCode: 2,
    output: expect.stringContaining('too large'),
  })
})

test.each([
  ['a loop of nothing', 'echo begun; while true; do :; done'],
  ['a loop in a function', 'main() { echo begun; while :; do ((i++)); done; }; main'],
  ['a loop in a substitution', 'echo begun; x=$(while :; do echo x > /dev/null; done)'],
  ['a loop in a pipeline', 'echo begun; for ((;;)); do [[ a == a ]]; done | cat'],
  ['a loop in a script that is run', 'printf "until false; do :; done" > l.sh; chmod +x l.sh; echo begun; ./l.sh'],
  ['calls that branch', 'f() { (( $1 == 0 )) || { f $(($1 - 1)); f $(($1 - 1)); }; }; echo begun; f 60'],
  ['a loop in eval', 'echo begun; eval "while :; do :; done"'],
  ['a loop in a sourced file', 'echo "while :; do :; done" > l.sh; echo begun; . ./l.sh'],
  ['a loop in a trap', 'echo begun; trap "while :; do :; done" EXIT'],
  ['a loop in a child shell', 'echo begun; bash -c "while :; do :; done"'],
  ['a sleep', 'echo begun; sleep 1000; echo never'],
])('a stop reaches %s, other work goes on meanwhile, and what was shown is kept', async (_what, script) => {
  const controller = new AbortController()
  const fs = new MemoryFileSystem()
  const running = session(fs)(script.replace('echo begun', 'echo begun; echo > file'), { signal: controller.signal })
  // The other work.
  await expect.poll(() => fs.list('/workspace').map(({ name }) => name)).toContain('file')
  controller.abort()
  const outcome = await running
  expect(outcome).toMatchObject({ aborted: true, timedOut: false, exitCode: 130, output: 'begun\n' })
})

test('the time limit ends a script with what it has shown, also inside awk, which cannot be paused', async () => {
  const run = memory()
  const limit = heldTimers(LIMIT_MS)
  expect(
    await run('echo begun; cd /tmp; for i in 1 2 3; do echo $i; done; while true; do :; done; echo never', {
      limits: { timeoutMs: LIMIT_MS },
      onProgress: (text) => text === '3\n' && limit.goOff(),
    }),
  ).toMatchObject({
    exitCode: 124,
    timedOut: true,
    aborted: false,
    cwd: '/tmp',
    output: 'begun\n1\n2\n3\nbash: stopped after 77 s, the time limit\n',
  })
  const awk = await run(
    'echo begun; awk "BEGIN { for (i = 0; i < 1e6; i++) for (j = 0; j < 1e6; j++) k++ }"; echo never',
    { limits: { timeoutMs: 300 } },
  )
  expect(awk).toMatchObject({
    exitCode: 124,
    timedOut: true,
    output: 'begun\nbash: stopped after 0.3 s, the time limit\n',
  })
  const stopped = new AbortController()
  stopped.abort()
  expect(await run('echo never', { signal: stopped.signal })).toMatchObject({
    aborted: true,
    exitCode: 130,
    output: '',
  })
})

test('a long output keeps its beginning and its end, and progress is told as it comes', async () => {
  const run = memory()
  const outcome = await run('seq 1 100000')
  expect(outcome.truncated).toBe(true)
  expect(outcome.output.length).toBeLessThanOrEqual(30_000)
  expect(outcome.output).toMatch(/^1\n2\n[\s\S]*\n\[\.\.\. \d+ characters left out \.\.\.\]\n[\s\S]*\n99999\n100000\n$/)
  const exact = await run("printf '%30000s' x")
  expect([exact.truncated, exact.output.length]).toEqual([false, 30_000])
  const parts: string[] = []
  const slow = await run('echo one; sleep 0.05; echo two; yes=1; for i in 1 2 3; do echo $i; done', {
    onProgress: (part) => parts.push(part),
  })
  expect(parts).toEqual(['one\n', 'two\n', '1\n', '2\n', '3\n'])
  expect(parts.join('')).toBe(slow.output)
  const small = await run('seq 1 1000', { limits: { maxOutputChars: 200 } })
  expect(small.output.length).toBeLessThanOrEqual(200)
  expect(small.output.endsWith('999\n1000\n')).toBe(true)
})

test('a full workspace fails the command with the reason, and leaves no half a file', async () => {
  const fs = new MemoryFileSystem({ maxFileBytes: 5000, maxTotalBytes: 8000, maxFiles: 50 })
  const run = session(fs)
  await run('echo keep > f')
  const outcome = await run('echo begun; seq 1 10000 > f || echo "failed $?"')
  expect(outcome).toMatchObject({ exitCode: 0, output: 'begun\nbash: f: No space left on device\nfailed 1\n' })
  expect(['', 'keep\n']).toContain(text(await fs.read('/workspace/f')))
})

test('two scripts at a time in one workspace do not see each other’s variables or output', async () => {
  const fs = new MemoryFileSystem()
  const scripts = ['a', 'b', 'c'].map((name) =>
    session(fs)(`v=${name}; for i in 1 2 3 4 5; do echo "$v$i"; sleep 0.01; done; echo $v > ${name}`),
  )
  const outputs = (await Promise.all(scripts)).map(({ output }) => output)
  expect(outputs).toEqual(['a', 'b', 'c'].map((name) => [1, 2, 3, 4, 5].map((i) => `${name}${i}\n`).join('')))
  expect(fs.list('/workspace').map(({ name }) => name)).toEqual(['a', 'b', 'c'])
})
