import { expect, test } from 'vitest'
import { gitCommand } from '../../../../src/kits/git/index.ts'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { hostUrl, LOOPBACK_REMOTES } from '../../../helpers/git-host.ts'
import { heldTimers } from '../../../helpers/timers.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

/** Called when git has asked its host something. */
let onAsk = () => {}
const asking: typeof fetch = (input, init) => {
  const answer = fetch(input, init)
  onAsk()
  return answer
}
const commands = [gitCommand({ ...LOOPBACK_REMOTES, fetch: asking })]

function openShell() {
  const fs = new MemoryFileSystem()
  const run = (script: string, more: { signal?: AbortSignal; limits?: { timeoutMs: number } } = {}) =>
    runScript({ fs, script, cwd: '/workspace', env: {}, commands, ...more })
  return { fs, run, out: async (script: string) => (await run(script)).output }
}

test('git is a command like any other: pipes, redirections, variables, conditions and substitutions', async () => {
  const { out, fs } = openShell()
  expect(await out('git status || echo "exit $?"')).toBe(
    'fatal: not a git repository (or any of the parent directories): .git\nexit 128\n',
  )
  expect(
    await out(
      'git init -q r && cd r && printf "a\\nb\\n" > f && git add f && GIT_AUTHOR_NAME=Kim GIT_AUTHOR_EMAIL=kim@example.com git commit -qm "two words" && git log --format="%an <%ae> %s"',
    ),
  ).toBe('Kim <kim@example.com> two words\n')
  expect(
    await out(
      'cd r; export GIT_COMMITTER_DATE="1700000000 +0000"; printf "from a pipe\\n\\nbody\\n" | git commit -q --allow-empty -F -; git log -1 --format="%s|%b|%ct"',
    ),
  ).toBe('from a pipe|body\n|1700000000\n')
  expect(
    await out(
      'cd r; n=$(git rev-list --count HEAD); if git diff --quiet; then echo "$n clean"; fi; git log --oneline | wc -l | tr -d " "; git log > /tmp/log 2>&1; grep -c commit /tmp/log',
    ),
  ).toBe('2 clean\n2\n2\n')
  expect(
    await out(
      'cd r; for f in 1 2 3; do echo $f > $f; done; git add -A; git status --porcelain | cut -c4- | sort -r | xargs echo; git ls-files | while read -r f; do echo "<$f>"; done',
    ),
  ).toBe('3 2 1\n<1>\n<2>\n<3>\n<f>\n')
  await fs.write(
    '/workspace/r/bin',
    Uint8Array.from({ length: 256 }, (_, i) => i),
  )
  expect(
    await out(
      'cd r; git add bin; git commit -qm bin; git show HEAD:bin > copy; git cat-file -p HEAD:bin | sha1sum; sha1sum < bin; sha1sum < copy',
    ),
  ).toMatch(/^(\w+) +-\n\1 +-\n\1 +-\n$/)
  expect(await out('git frobnicate; echo $?; git commit --interactive; echo $?; type git; git --version')).toMatch(
    /^git: 'frobnicate' is not available here\n1\ngit commit: option '--interactive' is not available here\n129\ngit is .*\ngit version 2\.\d+/,
  )
})

test('a script that is stopped in the middle of a transfer ends soon and leaves nothing of it', async () => {
  const { run, out } = openShell()
  const limit = heldTimers(77_000)
  onAsk = limit.goOff
  const outcome = await run(`git clone ${hostUrl()}/never w; echo not reached`, { limits: { timeoutMs: 77_000 } })
  expect([outcome.timedOut, outcome.output]).toEqual([true, expect.not.stringContaining('not reached')])
  const controller = new AbortController()
  onAsk = () => controller.abort()
  expect(await run(`git clone ${hostUrl()}/never w`, { signal: controller.signal })).toMatchObject({
    aborted: true,
    exitCode: 130,
    output: '',
  })
  expect(await out('ls -A')).toBe('')
})

test('daily commands over 2,000 files end and say what they did', async () => {
  const { run, out } = openShell()
  await run(
    'git init -q; for i in $(seq 0 39); do mkdir d$i; for j in $(seq 1 50); do echo "$i $j" > d$i/f$j; done; done',
  )
  expect(await out('git add -A; git status --porcelain | wc -l | tr -d " "')).toBe('2000\n')
  expect(await out('git commit -qm all; git ls-files | wc -l | tr -d " "; git status')).toBe(
    '2000\nOn branch main\nnothing to commit, working tree clean\n',
  )
  expect(await out('echo x > d1/f1; rm d2/f2; echo n > n; git status --porcelain; git diff --shortstat')).toBe(
    ' M d1/f1\n D d2/f2\n?? n\n 2 files changed, 1 insertion(+), 2 deletions(-)\n',
  )
})

test('an alias that leads back to itself ends, and one that means another command of git is run', async () => {
  const { out } = openShell()
  expect(
    await out(
      `git init -q r; cd r; git config alias.a b; git config alias.b a; git a; echo $?; git config alias.c 'commit -q --allow-empty -m "two words"'; git c; git log --format=%s; git nothing`,
    ),
  ).toBe(
    "fatal: alias loop detected: expansion of 'a' does not terminate\n128\ntwo words\ngit: 'nothing' is not available here\n",
  )
})

test('a merge keeps the side that is asked for where both changed, and a fixup leaves no word of its own', async () => {
  const { out } = openShell()
  await out(
    `git init -q; printf '1\\n2\\n' > f; git add f; git commit -qm base; git checkout -qb side; printf '1\\ntheirs\\n' > f
     git commit -qam side; git checkout -q main; printf '1\\nours\\n' > f; git commit -qam ours`,
  )
  expect(await out('git merge -q -X ours side -m m; cat f; git reset -q --hard HEAD~1')).toBe(
    'Auto-merging f\n1\nours\n',
  )
  expect(await out('git merge -q -X theirs side -m m; cat f; git merge -X other side')).toBe(
    "Auto-merging f\n1\ntheirs\nfatal: the strategy option 'other' is not available here\n",
  )
  expect(
    await out(
      `git checkout -q side; echo 3 >> f; git commit -qam 'fixup! side'; GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash main~2
       git log --format=%B; cat f`,
    ),
  ).toBe('side\n\nbase\n\n1\ntheirs\n3\n')
})
